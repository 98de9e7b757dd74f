"""Names that need double quotes: words of SQL, and names with signs in them, written as if they were plain."""

from __future__ import annotations

import re

from querygate.core.types import Catalog
from querygate.sql.name_text import in_quotes, needs_quotes

_QUOTED, _WORD = r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""", r"[\w.$]+"
_FROM = re.compile(r"""\b(FROM|JOIN)\s+([\w.$]+)""", re.IGNORECASE)


def with_quotes(sql: str, catalog: Catalog) -> tuple[str, list[str]]:
    """The statement with its odd names in quotes, and these names. Text that is quoted already stays as it is."""
    names = {column.name.lower(): column.name for column in catalog.columns}
    odd = {key: name for key, name in names.items() if needs_quotes(name)}
    found: dict[str, None] = {}

    def column(match: re.Match[str]) -> str:
        name = odd.get(match[0].lower())
        if name is None:
            return match[0]
        found[name] = None
        return in_quotes(name)

    def dataset(match: re.Match[str]) -> str:
        if match[2].lower() != catalog.dataset.lower():
            return match[0]
        found[catalog.dataset] = None
        return f"{match[1]} {in_quotes(catalog.dataset)}"

    written = (
        re.escape(name) for name in sorted(odd.values(), key=len, reverse=True)
    )  # "HbA1c (%)" before words in it
    names_in = "|".join(rf"(?<![\w.$]){name}(?![\w.$])" for name in written)
    parts = "|".join(filter(None, (_QUOTED, names_in, _WORD)))
    edited = re.sub(parts, column, sql, flags=re.IGNORECASE)
    if needs_quotes(catalog.dataset):
        edited = _FROM.sub(dataset, edited)
    return edited, list(found)
