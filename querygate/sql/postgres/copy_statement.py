"""`COPY (SELECT ...) TO STDOUT`, as psql's \\copy and people who write files send it: the query in it, and the form.

>>> made = read_copy("COPY ( SELECT COUNT(*) FROM t ) TO STDOUT WITH (FORMAT csv, HEADER, NULL 'NA')")
>>> made.query, made.form.is_csv, made.form.delimiter, made.form.null, made.form.header
('SELECT COUNT(*) FROM t', True, ',', 'NA', True)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from querygate.core.errors import UnsupportedSQL
from querygate.sql.postgres.text_parts import parts_of

_BEGIN = re.compile(r"\s*COPY\s*\(", re.IGNORECASE)
_TO = re.compile(r"\)\s*TO\s+STDOUT\b(?P<options>.*)", re.IGNORECASE | re.DOTALL)
_WORD = re.compile(r"[eE]?'(?:[^']|'')*'|\w+|[^\s(),;]")
_FORMATS = ("csv", "text", "binary")
_VALUED = ("format", "delimiter", "null", "quote", "escape", "encoding")
_TRUE, _FALSE = ("true", "on", "1"), ("false", "off", "0")


@dataclass(frozen=True, slots=True)
class CopyForm:
    """How rows are written."""

    is_csv: bool
    delimiter: str
    null: str
    header: bool
    quote: str


@dataclass(frozen=True, slots=True)
class CopyStatement:
    """A query whose rows are wanted as lines. `begin` is where it stands in the statement."""

    query: str
    begin: int
    form: CopyForm


def read_copy(text: str) -> CopyStatement | None:
    """None for whatever else a statement is, also other kinds of COPY; QG206 for a form that is not written here."""
    opened = _BEGIN.match(text)
    closed = _closing(text, opened.end()) if opened else None
    ended = None if closed is None else _TO.fullmatch(text, closed)
    if opened is None or ended is None:
        return None
    query = text[opened.end() : closed]
    begin = opened.end() + len(query) - len(query.lstrip())
    return CopyStatement(query.strip(), begin, _form(_options(ended["options"])))


def _closing(text: str, at: int) -> int | None:
    """Where the bracket closes that was opened before `at`."""
    shown, depth = list(text), 1
    for part in parts_of(text):
        shown[part.start : part.end] = " " * (part.end - part.start)
    for place in range(at, len(shown)):
        depth += {"(": 1, ")": -1}.get(shown[place], 0)
        if not depth:
            return place
    return None


def _options(text: str) -> dict[str, str]:
    """By name, from either way of writing them: `(FORMAT csv, HEADER)` and `CSV HEADER`."""
    words, found = iter([*_WORD.findall(text), ""]), {}
    word = next(words).lower()
    while word:
        value = ""
        if word in _VALUED:
            value = next(words)
            value = _unquoted(next(words) if value.lower() == "as" else value)
        following = next(words, "")
        if word == "header" and following.lower() in (*_TRUE, *_FALSE):
            value, following = following.lower(), next(words, "")
        if word in _FORMATS:
            word, value = "format", word
        if word != "with":
            found[word] = value
        word = following.lower()
    return found


def _unquoted(text: str) -> str:
    if text[:2].lower() == "e'":
        return text[2:-1].replace("\\t", "\t").replace("''", "'")
    return text[1:-1].replace("''", "'") if text[:1] == "'" else text.lower()


def _form(options: Mapping[str, str]) -> CopyForm:
    kind, header, quote = options.get("format", "text"), options.get("header", "false"), options.get("quote", '"')
    delimiter = options.get("delimiter", "," if kind == "csv" else "\t")
    is_read = (
        set(options) <= {"header", *_VALUED}
        and kind in ("csv", "text")
        and header in ("", *_TRUE, *_FALSE)
        and len(delimiter) == len(quote) == 1
        and not {delimiter, quote} & set("\r\n\\.")
        and options.get("escape", quote) == quote
        and options.get("encoding", "utf8").lower().replace("-", "") == "utf8"
    )
    if not is_read:
        raise UnsupportedSQL(
            "QG206",
            "This form of COPY is not written here.",
            "Write TO STDOUT WITH (FORMAT csv, HEADER).",
        )
    null = options.get("null", "" if kind == "csv" else "\\N")
    return CopyForm(kind == "csv", delimiter, null, header in ("", *_TRUE), quote)
