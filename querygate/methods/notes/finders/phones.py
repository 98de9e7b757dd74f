"""Telephone and fax numbers: North American, international, and groups of digits as other countries write them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from querygate.methods.notes.finders.pattern import preceded_by
from querygate.methods.notes.spans import IdentifierKind, TextSpan

_EXTENSION = r"(?:[ ,]{0,2}(?:x|ext\.?|extension) ?\d{1,6})?"
_INTERNATIONAL = re.compile(rf"(?<![\w+])(?:\+|00)\d(?:[ .\-/()]{{0,3}}\d){{6,14}}(?![\w]){_EXTENSION}", re.I)
_NORTH_AMERICAN = re.compile(
    rf"(?<![\w.\-])(?:1[ .\-]?)?(?:\(\d{{3}}\) ?|\d{{3}}[ .\-/])\d{{3}}[ .\-]\d{{4}}(?!\d){_EXTENSION}", re.I
)
_LOCAL = re.compile(rf"(?<![\w.\-/])\d{{3}}-\d{{4}}(?![\w\-/]){_EXTENSION}", re.I)
_GROUPS = re.compile(
    rf"(?<![\w.\-/+])(?<!\d,)(?:\(0?\d{{1,4}}\) ?\d{{2,4}}(?:[ \-]\d{{2,4}}){{1,4}}|0\d{{1,4}}(?:([ .\-/])\d{{2,4}})"
    rf"(?:\1\d{{2,4}}){{0,4}}|"
    rf"\d{{2,4}}([ .\-])\d{{2,4}}(?:\2\d{{2,4}}){{1,4}}|\d{{3,4}} \d{{4}}|\d{{2,3}}[ \-]\d{{5,7}}|"
    rf"0\d{{4}} \d{{6}})(?!\w|[.,\-/]\d|%){_EXTENSION}",
    re.I,
)
_CUED = re.compile(
    r"\b(?:phone|telephone|tel|cell|mobile|pager|beeper|fax|extension|ext|call(?: (?:me|us|him|her))?(?: (?:at|on))?|"
    r"contact(?: number)?)(?: ?(?:no|number|#|is))?[.:#]?\s{0,4}(?P<number>\(?\d(?:[ .\-/()]{0,2}\d){3,14})(?!\w)"
    rf"(?P<extension>{_EXTENSION})",
    re.I,
)
_FAX = re.compile(r"\b(?:fax|facsimile)[^\n\d]{0,15}$", re.I)
_SPOKEN_OF = re.compile(
    r"\b(?:phone|tel|call|number|reach|answering|dial|text|fax|mobile|cell|contact)\b[^\d\n]{0,25}\s{0,4}$", re.I
)
_MEASURED = re.compile(r"\s?(?:mg|mcg|ml|cm|mm|kg|units?|bpm|beats|cells|year)\b", re.I)
_FEWEST, _MOST = 7, 15


def find_phones(text: str) -> Iterator[TextSpan]:
    for pattern, rule in ((_INTERNATIONAL, "international phone"), (_NORTH_AMERICAN, "phone"), (_LOCAL, "local phone")):
        for match in pattern.finditer(text):
            yield _span(text, match.start(), match.end(), rule)
    for match in _GROUPS.finditer(text):
        digits = sum(map(str.isdigit, match.group()))
        least = _FEWEST - preceded_by(_SPOKEN_OF, text, match.start())
        if least <= digits <= _MOST and not _MEASURED.match(text, match.end()):
            yield _span(text, match.start(), match.end(), "phone in groups")
    for match in _CUED.finditer(text):
        yield _span(text, match.start("number"), match.end("extension"), "labelled phone")


def _span(text: str, start: int, end: int, rule: str) -> TextSpan:
    return TextSpan(
        start, end, IdentifierKind.FAX if preceded_by(_FAX, text, start, 25) else IdentifierKind.PHONE, rule
    )
