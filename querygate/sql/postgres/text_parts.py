"""The parts of a text that hide semicolons and dollar signs, and those signs that are not hidden.

One pass, whatever the text: a quote or a comment that is not closed hides the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """What a part is."""

    COMMENT = auto()
    QUOTED = auto()
    END = auto()
    PARAMETER = auto()


@dataclass(frozen=True, slots=True)
class Part:
    """Characters from `start` to `end`."""

    kind: Kind
    start: int
    end: int


_BEGINNING = re.compile(
    r"""(?P<escaped>(?<!\w)[eE]') | ['";] | -- | /\* | \$(?:[^\W\d]\w*)?\$ | (?P<number>\$[0-9]{1,9}(?!\w))""",
    re.VERBOSE,
)
_ESCAPED_TEXT = re.compile(r"(?:[^'\\]|\\.|'')*+'?", re.DOTALL)
_COMMENT_SIGN = re.compile(r"/\*|\*/")


def parts_of(text: str) -> Iterator[Part]:
    """
    >>> [(part.kind.name, text[part.start : part.end]) for text in ["a = $1 -- $2"] for part in parts_of(text)]
    [('PARAMETER', '$1'), ('COMMENT', '-- $2')]
    """
    at = 0
    while found := _BEGINNING.search(text, at):
        kind, at = _part(text, found)
        yield Part(kind, found.start(), at)


def _part(text: str, found: re.Match[str]) -> tuple[Kind, int]:
    """What begins there, and where it ends. Of `'it''s'` the halves are parts of their own, which hides the same."""
    sign, at = found[0], found.end()
    if sign == ";":
        return Kind.END, at
    if found["number"]:
        return Kind.PARAMETER, at
    if sign == "--":
        return Kind.COMMENT, _after(text, "\n", at)
    if sign == "/*":
        return Kind.COMMENT, _after_comment(text, at)
    if found["escaped"]:
        escaped = _ESCAPED_TEXT.match(text, at)
        return Kind.QUOTED, escaped.end() if escaped else at
    return Kind.QUOTED, _after(text, sign, at)


def _after(text: str, sign: str, at: int) -> int:
    end = text.find(sign, at)
    return len(text) if end < 0 else end + len(sign)


def _after_comment(text: str, at: int) -> int:
    """Comments may stand in comments."""
    depth = 1
    for sign in _COMMENT_SIGN.finditer(text, at):
        depth += 1 if sign[0] == "/*" else -1
        if not depth:
            return sign.end()
    return len(text)


def first_words(text: str) -> str:
    """A text from its first word on, without the comments and spaces around it.

    >>> first_words("/* tool /* 2 */ */ -- note\\n begin -- now ")
    'begin -- now'
    """
    at = 0
    for part in parts_of(text):
        if part.kind is not Kind.COMMENT or text[at : part.start].strip():
            break
        at = part.end
    return text[at:].strip()
