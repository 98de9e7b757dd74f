"""Names that need double quotes: words of SQL, and names with signs in them, written as if they were plain."""

from __future__ import annotations

import re
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class NamedText:
    """A text that is SQL in part, as it was written and as SQL reads it. `places` tells of each sign that SQL reads
    where it was written."""

    written: str
    sql: str
    places: tuple[int, ...]

    def between(self, start: int, end: int) -> str:
        """What was written for a part of what SQL reads, both ends in it."""
        return self.written[self.places[start] : self.places[end] + 1]


def as_written(text: str) -> NamedText:
    return NamedText(text, text, tuple(range(len(text))))


_NAME_OR_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`([^`"]+)`|([\w.$]++)(?!\s*\()""")
_OF_CONDITIONS = frozenset({"and", "or", "not", "is", "in", "null", "true", "false", "between", "like", "ilike"})


def with_names(text: str, catalog: Catalog) -> NamedText:
    """A formula for SQL: what is a column of the dataset is its name, whatever else SQL takes the word for, and so is
    what stands in backticks, as in R. Words that join conditions are names only in quotes.

    >>> from querygate.core.types import Column
    >>> columns = (Column("Alter", 0, "quasi-identifier", "integer", False, 0, 99),)
    >>> with_names("ill ~ bands(Alter, 65) + `a b`", Catalog("study", 1, "", 5, 50, columns)).sql
    'ill ~ bands("Alter", 65) + "a b"'
    """
    odd = {column.name.lower() for column in catalog.columns if needs_quotes(column.name)} - _OF_CONDITIONS
    parts: list[str] = []
    places: list[int] = []
    done = 0
    for match in _NAME_OR_QUOTED.finditer(text):
        begin, end = match.span()
        parts.append(text[done:begin])
        places += range(done, begin)
        if match[1] is not None:
            parts.append(in_quotes(match[1]))
            places += range(begin, end)
        elif match[2] is not None and match[2].lower() in odd:
            parts.append(in_quotes(match[2]))
            places += [begin, *range(begin, end), end - 1]
        else:
            parts.append(match[0])
            places += range(begin, end)
        done = end
    return NamedText(text, "".join([*parts, text[done:]]), (*places, *range(done, len(text))))
