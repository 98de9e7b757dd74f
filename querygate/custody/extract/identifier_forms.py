"""What an identifier column holds, so that notes are searched for the forms in which such values are written.

The policy may say it. Where it does not, the column's name does, and where that is silent, what its values look like.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from querygate.custody.policy import ColumnPolicy
from querygate.custody.policy import column_names as said
from querygate.custody.policy.identifier_signs import DETECTORS, MOSTLY, PATTERNS, words_of
from querygate.methods.notes import Kind

SAMPLE = 1000
"""Values that are looked at."""

_KINDS: Mapping[str, Kind] = {
    "name of a person": Kind.NAME,
    "social security or other national number": Kind.SSN,
    "telephone or fax number": Kind.PHONE,
    "e-mail address": Kind.EMAIL,
    "internet address": Kind.IP,
    "web address": Kind.URL,
    "street address or place on the map": Kind.PLACE,
    "account, card or policy number": Kind.ACCOUNT,
    "licence, certificate or vehicle number": Kind.LICENCE,
    "device number": Kind.DEVICE,
    "picture or biometric feature": Kind.OTHER,
    "record number": Kind.RECORD,
}
_NARROWER = (
    (Kind.PHONE, r"\bfax\b", Kind.FAX),
    (Kind.ACCOUNT, r"\b(policy|insurance|member|beneficiary|subscriber)\b", Kind.PLAN),
    (Kind.LICENCE, r"\b(plate|vin)\b", Kind.VEHICLE),
)
_PLACE = r"\b(city|town|village|place|county|district|zip|postcode|postal|residence)\b"
_DATE = r"\b(date|dob|birthday|born)\b"
_WRITTEN_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{4}")
_DAY = re.compile(r"\d{4}-?\d\d-?\d\d(?:[ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{4}")


def kind_of(column: ColumnPolicy, values: Sequence[str | None]) -> Kind:
    """What the column is.

    >>> kind_of(ColumnPolicy("patientLastName", "identifier"), []), kind_of(ColumnPolicy("x", "identifier"), ["Ann Li"])
    (<Kind.NAME: 'NAME'>, <Kind.NAME: 'NAME'>)
    >>> kind_of(ColumnPolicy("x", "identifier"), ["1980-05-03"]), kind_of(ColumnPolicy("x", "identifier"), ["0042"])
    (<Kind.DATE: 'DATE'>, <Kind.RECORD: 'RECORD'>)
    """
    if column.kind:
        return Kind(column.kind.upper())
    words = words_of(column.name)
    sample = [value for value in values[:SAMPLE] if value]
    dated = said.says(said.BIRTH, column.name) or re.search(_DATE, words)
    if column.type in ("date", "timestamp") or (dated and (not sample or _share(sample, _DAY) >= MOSTLY)):
        return Kind.DATE
    for detector in DETECTORS:
        if re.search(detector.names, words):
            return _narrowed(_KINDS[detector.kind], words)
    return Kind.PLACE if re.search(_PLACE, words) else _by_values(sample)


def _narrowed(kind: Kind, words: str) -> Kind:
    return next((narrow for wide, pattern, narrow in _NARROWER if kind is wide and re.search(pattern, words)), kind)


def _by_values(sample: Sequence[str]) -> Kind:
    """By what most look like: a pattern, a day, letters alone (a name), or else a number."""
    if not sample:
        return Kind.OTHER
    if _share(sample, _WRITTEN_DAY) >= MOSTLY:
        return Kind.DATE
    for kind, pattern in PATTERNS.items():
        if kind in _KINDS and _share(sample, re.compile(pattern)) >= MOSTLY:
            return _KINDS[kind]
    wordy = sum(1 for value in sample if not any(map(str.isdigit, value))) / len(sample)
    return Kind.NAME if wordy >= MOSTLY else Kind.RECORD


def _share(sample: Sequence[str], pattern: re.Pattern[str]) -> float:
    return sum(1 for value in sample if pattern.fullmatch(value.strip())) / len(sample)
