"""The kinds of identifier, and where in a text one was found.

The kinds are those of the Safe Harbor rule, 45 CFR 164.514(b)(2)(i)(A) to (R). Ages over 89 stand beside dates in the
rule and are a kind of their own here, because they are replaced differently. Biometric identifiers and photographs are
not found in text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class IdentifierKind(StrEnum):
    """What somebody could be found by."""

    NAME = "NAME"
    PLACE = "PLACE"
    DATE = "DATE"
    AGE = "AGE"
    PHONE = "PHONE"
    FAX = "FAX"
    EMAIL = "EMAIL"
    SSN = "SSN"
    RECORD = "RECORD"
    PLAN = "PLAN"
    ACCOUNT = "ACCOUNT"
    LICENCE = "LICENCE"
    VEHICLE = "VEHICLE"
    DEVICE = "DEVICE"
    URL = "URL"
    IP = "IP"
    BIOMETRIC = "BIOMETRIC"
    PHOTO = "PHOTO"
    OTHER = "OTHER"


SAFE_HARBOR: dict[IdentifierKind, str] = {
    IdentifierKind.NAME: "A: names",
    IdentifierKind.PLACE: "B: geographic units smaller than a state",
    IdentifierKind.DATE: "C: dates, except the year",
    IdentifierKind.AGE: "C: ages over 89",
    IdentifierKind.PHONE: "D: telephone numbers",
    IdentifierKind.FAX: "E: fax numbers",
    IdentifierKind.EMAIL: "F: electronic mail addresses",
    IdentifierKind.SSN: "G: social security numbers",
    IdentifierKind.RECORD: "H: medical record numbers",
    IdentifierKind.PLAN: "I: health plan beneficiary numbers",
    IdentifierKind.ACCOUNT: "J: account numbers",
    IdentifierKind.LICENCE: "K: certificate and licence numbers",
    IdentifierKind.VEHICLE: "L: vehicle identifiers and licence plates",
    IdentifierKind.DEVICE: "M: device identifiers and serial numbers",
    IdentifierKind.URL: "N: web addresses",
    IdentifierKind.IP: "O: internet protocol addresses",
    IdentifierKind.BIOMETRIC: "P: biometric identifiers",
    IdentifierKind.PHOTO: "Q: full-face photographs",
    IdentifierKind.OTHER: "R: any other unique number, characteristic or code",
}
"""The letter and the words of the rule for each kind."""


@dataclass(frozen=True, slots=True, order=True)
class TextSpan:
    """Characters `start` to `end` (exclusive) of a text, what they are and which rule said so.

    `value` is what the replacement depends on, where that is not the text itself: all forms of one patient's name have
    the same. It is never shown.
    """

    start: int
    end: int
    kind: IdentifierKind
    rule: str
    value: str = ""

    def __repr__(self) -> str:  # a span may end in a log; the value never does
        return f"TextSpan({self.start}, {self.end}, {self.kind}, {self.rule!r})"


def resolve(text: str, spans: Iterable[TextSpan], strength: Mapping[str, int]) -> list[TextSpan]:
    """Spans that do not overlap and cover every letter and digit that was covered.

    Where spans overlap, the strongest rule gives the kind, then the longer span; what sticks out of it is covered by
    the remainder of the weaker one, so that nothing found is ever left standing.

    >>> phone, ssn = TextSpan(0, 6, IdentifierKind.PHONE, "phone"), TextSpan(4, 11, IdentifierKind.SSN, "ssn")
    >>> resolve("555-12-9876", [phone, ssn], {"ssn": 2})
    [TextSpan(0, 4, PHONE, 'phone'), TextSpan(4, 11, SSN, 'ssn')]
    """
    kept: list[TextSpan] = []
    group: list[TextSpan] = []
    end = -1
    for span in sorted(set(spans)):
        if span.start >= end and group:
            kept += _settled(text, group, strength)
            group = []
        group.append(span)
        end = max(end, span.end)
    return sorted(kept + _settled(text, group, strength))


def _settled(text: str, group: list[TextSpan], strength: Mapping[str, int]) -> list[TextSpan]:
    """One cluster of overlapping spans: each, strongest first, takes what is still free."""
    if len(group) == 1:
        return group
    kept: list[TextSpan] = []
    covered: list[tuple[int, int]] = []
    for span in sorted(group, key=lambda s: (-strength.get(s.rule, 0), s.start - s.end, s.start, s.kind)):
        for start, end in _free(span.start, span.end, covered):
            if (start, end) == (span.start, span.end):
                kept.append(span)
            elif any(map(str.isalnum, text[start:end])):
                kept.append(TextSpan(start, end, span.kind, span.rule))
        covered = _merged([*covered, (span.start, span.end)])
    return kept


def _free(start: int, end: int, covered: list[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    for low, high in covered:
        if high <= start or low >= end:
            continue
        if low > start:
            yield start, low
        start = max(start, high)
    if start < end:
        yield start, end


def _merged(parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
