"""What an identifier column contains, so that notes are searched for the ways in which such values are written.

The policy may say it; otherwise the column's name decides, or else its values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from querygate.custody.policy import ColumnPolicy
from querygate.custody.policy import column_names as said
from querygate.custody.policy.identifier_signs import DETECTORS, MOSTLY, PATTERNS, words_of
from querygate.methods.notes import IdentifierKind

SAMPLE = 1000
"""The most values that are examined."""

_KINDS: Mapping[str, IdentifierKind] = {
    "name of a person": IdentifierKind.NAME,
    "social security or other national number": IdentifierKind.SSN,
    "telephone or fax number": IdentifierKind.PHONE,
    "e-mail address": IdentifierKind.EMAIL,
    "internet address": IdentifierKind.IP,
    "web address": IdentifierKind.URL,
    "street address or place on the map": IdentifierKind.PLACE,
    "account, card or policy number": IdentifierKind.ACCOUNT,
    "licence, certificate or vehicle number": IdentifierKind.LICENCE,
    "device number": IdentifierKind.DEVICE,
    "picture or biometric feature": IdentifierKind.OTHER,
    "record number": IdentifierKind.RECORD,
}
_NARROWER = (
    (IdentifierKind.PHONE, r"\bfax\b", IdentifierKind.FAX),
    (IdentifierKind.ACCOUNT, r"\b(policy|insurance|member|beneficiary|subscriber)\b", IdentifierKind.PLAN),
    (IdentifierKind.LICENCE, r"\b(plate|vin)\b", IdentifierKind.VEHICLE),
)
_PLACE = r"\b(city|town|village|place|county|district|zip|postcode|postal|residence)\b"
_DATE = r"\b(date|dob|birthday|born)\b"
_WRITTEN_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{4}")
_DAY = re.compile(r"\d{4}-?\d\d-?\d\d(?:[ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{4}")


def kind_of(column: ColumnPolicy, values: Sequence[str | None]) -> IdentifierKind:
    """The kind of identifier.

    >>> kind_of(ColumnPolicy("patientLastName", "identifier"), []), kind_of(ColumnPolicy("x", "identifier"), ["Ann Li"])
    (<IdentifierKind.NAME: 'NAME'>, <IdentifierKind.NAME: 'NAME'>)
    >>> kind_of(ColumnPolicy("x", "identifier"), ["1980-05-03"]), kind_of(ColumnPolicy("x", "identifier"), ["0042"])
    (<IdentifierKind.DATE: 'DATE'>, <IdentifierKind.RECORD: 'RECORD'>)
    """
    if column.kind:
        return IdentifierKind(column.kind.upper())
    words = words_of(column.name)
    sample = [value for value in values[:SAMPLE] if value]
    dated = said.is_birth(column.name) or re.search(_DATE, words)
    if column.type in ("date", "timestamp") or (dated and (not sample or _share(sample, _DAY) >= MOSTLY)):
        return IdentifierKind.DATE
    for detector in DETECTORS:
        if re.search(detector.names, words):
            return _narrowed(_KINDS[detector.kind], words)
    return IdentifierKind.PLACE if re.search(_PLACE, words) else _by_values(sample)


def _narrowed(kind: IdentifierKind, words: str) -> IdentifierKind:
    return next((narrow for wide, pattern, narrow in _NARROWER if kind is wide and re.search(pattern, words)), kind)


def _by_values(sample: Sequence[str]) -> IdentifierKind:
    """By the form of most values: a pattern, a day, letters alone (a name), or else a number."""
    if not sample:
        return IdentifierKind.OTHER
    if _share(sample, _WRITTEN_DAY) >= MOSTLY:
        return IdentifierKind.DATE
    for kind, pattern in PATTERNS.items():
        if kind in _KINDS and _share(sample, re.compile(pattern)) >= MOSTLY:
            return _KINDS[kind]
    wordy = sum(1 for value in sample if not any(map(str.isdigit, value))) / len(sample)
    return IdentifierKind.NAME if wordy >= MOSTLY else IdentifierKind.RECORD


def _share(sample: Sequence[str], pattern: re.Pattern[str]) -> float:
    return sum(1 for value in sample if pattern.fullmatch(value.strip())) / len(sample)
