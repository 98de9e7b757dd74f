"""Names that need double quotes: words of SQL, and names with signs in them, written as if they were plain."""

from __future__ import annotations

import re

from querygate.core.types import Catalog

_QUOTED_OR_WORD = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[\w.$]+""")
_FROM = re.compile(r"""\b(FROM|JOIN)\s+([\w.$]+)""", re.IGNORECASE)


def with_quotes(sql: str, catalog: Catalog) -> tuple[str, list[str]]:
    """The statement with its odd names in quotes, and these names. Text that is quoted already stays as it is."""
    names = {column.name.lower(): column.name for column in catalog.columns}
    odd = {key: name for key, name in names.items() if not name.isidentifier() or key in _RESERVED}
    found: dict[str, None] = {}

    def column(match: re.Match[str]) -> str:
        name = odd.get(match[0].lower())
        if name is None:
            return match[0]
        found[name] = None
        return _quoted(name)

    def dataset(match: re.Match[str]) -> str:
        if match[2].lower() != catalog.dataset.lower():
            return match[0]
        found[catalog.dataset] = None
        return f"{match[1]} {_quoted(catalog.dataset)}"

    edited = _QUOTED_OR_WORD.sub(column, sql)
    if not catalog.dataset.isidentifier() or catalog.dataset.lower() in _RESERVED:
        edited = _FROM.sub(dataset, edited)
    return edited, list(found)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_RESERVED = frozenset(
    {
        "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "both", "case", "cast",
        "check", "collate", "column", "constraint", "create", "default", "deferrable", "desc", "describe", "distinct",
        "do", "else", "end", "except", "false", "fetch", "for", "foreign", "from", "group", "having", "in",
        "initially", "intersect", "into", "lambda", "lateral", "leading", "limit", "not", "null", "offset", "on",
        "only", "or", "order", "pivot", "pivot_longer", "pivot_wider", "placing", "primary", "qualify", "references",
        "returning", "select", "show", "some", "summarize", "symmetric", "table", "then", "to", "trailing", "true",
        "union", "unique", "unpivot", "using", "variadic", "when", "where", "window", "with",
    }
)  # fmt: skip
"""Words that the database keeps for itself."""
