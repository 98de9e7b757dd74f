"""Ages over 89, in figures and in words. Younger ones may stay."""

from __future__ import annotations

import re
from collections.abc import Iterator

from querygate.methods.notes.spans import IdentifierKind, TextSpan

_NUMBER = r"(?P<age>9\d|1[0-2]\d)"
_TENS = (
    r"(?P<age>ninety(?:[ \-](?:one|two|three|four|five|six|seven|eight|nine))?|(?:one |"
    r"a )?hundred(?: and (?:one|two|three|four|five|six|seven|eight|nine|ten))?)"
)
_UNIT = r"(?:[ \-]?(?:years?|yrs?)(?:[ \-](?:old|of age))?|[ \-]?y\.? ?/? ?o\.?|[ \-]?yo)\b"
_PATTERNS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"(?<![\w./]){_NUMBER}(?:[\- ]?(?:years?|yrs?)[\- ](?:old|of age)|[ \-]?y\.? ?/? ?o\b\.?|"
        rf"[ \-]?yo[mfw]?\b|[ \-]?yrs?\b|-year|[ \-]?y(?=[ ,./]?[mf]\b))",
        rf"\b(?:aged?|age of|age is|age was|turned|turning|turns)[: ]{{1,3}}{_NUMBER}(?![\w/%]|\.\d)",
        rf"(?<![\w./]){_NUMBER}(?= ?(?:m|f|male|female|man|woman|gentleman|lady)\b)",
        rf"\b(?:he|she|who|they|patient|pt) (?:is|was|are|turned) {_NUMBER}(?![\w/%]|\.\d| ?(?:kg|"
        rf"cm|mm|lb|bpm|%|pounds|in ))",
        rf"\b{_TENS}{_UNIT}",
        rf"\baged? {_TENS}\b",
        r"\bin (?:his|her|their) (?P<age>(?:9|10|11)0'?s|(?:early |mid |late |mid-)?nineties|hundreds)\b",
        r"\b(?P<age>(?:non|cent)agenarian|centenarian|supercentenarian)\b",
    )
)


_ANY = re.compile(r"(?<!\d)(?:9\d|1[0-2]\d)(?!\d)|ninet|hundred|genarian|centenarian", re.I)


def find_ages(text: str) -> Iterator[TextSpan]:
    """Only the number is the span: `aged [94]`, `a [ninety-one]-year-old`."""
    if not _ANY.search(text):
        return
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            yield TextSpan(match.start("age"), match.end("age"), IdentifierKind.AGE, "age over 89")
