"""Hospitals, clinics, schools and counties: capitalised words that end in what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from querygate.methods.notes.finders.pattern import spans_of
from querygate.methods.notes.spans import IdentifierKind, TextSpan

_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w'\-]{0,30}"
_JOIN = r"(?: (?:of|the|and|for|de|del|la|&) (?:the )?| )"
_ENDING = (
    r"(?:Hospitals?|Clinics?|Infirmary|Medical(?: Cent(?:er|re)| Group)?|Hospice|Sanatorium|"
    r"Nursing Home|Care Cent(?:er|re)|"
    r"Health(?: System| Cent(?:er|re)|care)?|Cancer Cent(?:er|re)|Rehab(?:ilitation)?(?: Cent(?:er|"
    r"re))?|Surgery Cent(?:er|re)|"
    r"Universit(?:y|é|ät)|College|(?:High |Middle |Elementary )?School|Academy|Church|Pharmacy|Prison|Jail|"
    r"County|Parish|Township|Country Club|Airport|Shelter)"
)
_FACILITY = re.compile(
    rf"(?<![\w'])(?P<name>{_CAPITAL}(?:{_JOIN}{_CAPITAL}){{0,4}}?) {_ENDING}\b(?! (?:of )?[a-z]*(?:course|stay)\b)"
)
_OF = re.compile(
    rf"\b(?:University|County|City|Town|Village|Borough|Hospital|Church|College) of (?:the )?{_CAPITAL}(?: "
    rf"{_CAPITAL}){{0,2}}"
)
_ARTICLES = re.compile(
    r"(?:The|At|In|To|From|A|An|Our|This|That|Local|Outside|Another|Seen|General|Community|"
    r"Home|Mental|Public|Primary|Women's|Children's|Discharge|Admitted|Transferred) "
)


def find_facilities(text: str) -> Iterator[TextSpan]:
    for match in _FACILITY.finditer(text):
        start = match.start()
        lead = _ARTICLES.match(text, start)
        if lead is not None and lead.end() < match.end("name") + 1:
            if lead.end() > match.end("name"):
                continue
            start = lead.end()
        yield TextSpan(start, match.end(), IdentifierKind.PLACE, "facility")
    yield from spans_of(_OF, text, IdentifierKind.PLACE, "facility")
