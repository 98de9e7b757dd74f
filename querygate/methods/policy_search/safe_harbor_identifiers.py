"""The 18 kinds of identifiers of Safe Harbor, and which of them a column looks like.

45 CFR 164.514(b)(2)(i)(A) to (R): identifiers of the individual, and of relatives, employers and household members.
A suggestion reads names and a sample of values and is often wrong; the custodian decides, and Safe Harbor also asks
that nobody knows of another way to find somebody in what is left (164.514(b)(2)(ii)).

>>> suggest("ZipCode"), suggest("contact", ["ann@example.org", "bob@example.org"])
(Suggestion(column='ZipCode', letter='B', treatment='zip3', why='its name'), \
Suggestion(column='contact', letter='F', treatment='drop', why='its values'))
>>> suggest("systolic") is None
True
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Literal

Treatment = Literal["drop", "zip3", "year", "birth year", "age"]


@dataclass(frozen=True, slots=True)
class Identifier:
    """A kind of identifier: its letter in the rule, what it covers, and what the preset does."""

    letter: str
    kind: str
    covers: str
    does: str


IDENTIFIERS = (
    Identifier("A", "names", "names of people", "dropped"),
    Identifier(
        "B",
        "places",
        "subdivisions smaller than a state: street, city, county, precinct, ZIP code and equivalent geocodes",
        "ZIP codes to 3 digits, 000 where those hold 20,000 people or fewer; the rest dropped",
    ),
    Identifier(
        "C",
        "dates and ages over 89",
        "birth, admission, discharge, death and other dates of a person; ages over 89 and years that tell them",
        "dates to the year; ages, and birth years, of 90 and over in one group",
    ),
    Identifier("D", "telephone numbers", "telephone numbers", "dropped"),
    Identifier("E", "fax numbers", "fax numbers", "dropped"),
    Identifier("F", "email addresses", "electronic mail addresses", "dropped"),
    Identifier("G", "social security numbers", "social security numbers", "dropped"),
    Identifier("H", "medical record numbers", "numbers of patients and of their records", "dropped"),
    Identifier("I", "health plan numbers", "numbers of beneficiaries of a health plan", "dropped"),
    Identifier("J", "account numbers", "bank, card and other account numbers", "dropped"),
    Identifier("K", "certificate and licence numbers", "numbers of certificates and licences", "dropped"),
    Identifier("L", "vehicle identifiers", "identifiers and serial numbers of vehicles, licence plates", "dropped"),
    Identifier("M", "device identifiers", "identifiers and serial numbers of devices", "dropped"),
    Identifier("N", "web addresses", "Web Universal Resource Locators (URLs)", "dropped"),
    Identifier("O", "internet addresses", "Internet Protocol (IP) addresses", "dropped"),
    Identifier("P", "biometric identifiers", "biometric identifiers, finger and voice prints among them", "dropped"),
    Identifier("Q", "photographs of the face", "full-face photographs and any comparable images", "dropped"),
    Identifier("R", "other unique codes", "any other unique identifying number, characteristic or code", "dropped"),
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a column may be, what the preset would do to it, and what says so."""

    column: str
    letter: str
    treatment: Treatment
    why: str


# Read on the words of a name, small and joined by _. The first that matches counts: a fax number before a telephone
# number, an internet address before an address, a birth year before a date.
NAMES: tuple[tuple[str, Treatment, str], ...] = (
    ("E", "drop", r"fax"),
    ("F", "drop", r"e_?mail"),
    ("D", "drop", r"[a-z]*phone|mobile|tel(_no)?"),
    ("G", "drop", r"ssn|social_security"),
    ("L", "drop", r"vin|(licen[cs]e_)?plate|vehicle"),
    ("O", "drop", r"ip|ip_?addr\w*|ipv[46]"),
    ("B", "zip3", r"zip(_?code)?5?|postal(_?code)?|post_?code"),
    ("B", "drop", r"street|address|city|town|county|precinct|lat|lon|lng|latitude|longitude|geocode|census_tract|fips"),
    ("C", "birth year", r"dob|birth|birth_?da(y|te)|date_of_birth|birth_?year|year_of_birth|born"),
    ("C", "age", r"age|age_(at|in)_\w+|age_years|ageyr"),
    ("C", "year", r"date|time_?stamp|dod|death_?time|(admit|admission|discharge)_?(time|dt)|\w+_dt"),
    ("I", "drop", r"health_plan|beneficiary|member_(id|no|number)|insurance_(id|no|number)|medicare|medicaid"),
    ("H", "drop", r"mrn|medical_record|(patient|subject|chart|record)_?(id|no|nr|number)"),
    ("J", "drop", r"account|acct|iban|bank|credit_card|card_(no|number)"),
    ("K", "drop", r"licen[cs]e|certificate|npi|dea"),
    ("M", "drop", r"device|serial|udi|implant_id"),
    ("N", "drop", r"url|web_?site|homepage"),
    ("P", "drop", r"finger_?print|voice_?print|retina|iris_scan|biometric\w*"),
    ("Q", "drop", r"photo\w*|portrait|face_?image|picture"),
    ("A", "drop", r"(first|last|middle|given|family|maiden|full|patient|mother|father|employer)_?name|name|surname"),
    ("R", "drop", r"id|uuid|guid|barcode"),
)
VALUES: tuple[tuple[str, Treatment, str], ...] = (
    ("G", "drop", r"\d{3}-\d{2}-\d{4}"),
    ("F", "drop", r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}"),
    ("N", "drop", r"(https?|ftp)://\S+|www\.\S+"),
    (
        "O",
        "drop",
        r"((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)|([0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{0,4}",
    ),
    ("D", "drop", r"(\+?1[-. ]?)?(\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}|[2-9]\d{2}[2-9]\d{6})"),
    ("B", "zip3", r"\d{5}(-\d{4})?"),
    ("C", "year", r"\d{4}-\d{2}-\d{2}([T ].*)?|\d{1,2}/\d{1,2}/\d{2,4}"),
    ("L", "drop", r"(?=.*\d)(?=.*[A-Z])[A-HJ-NPR-Z0-9]{17}"),
)
SAMPLE, SHARE, SEVERAL = 1000, 0.8, 20


def suggest(column: str, values: Sequence[object] = ()) -> Suggestion | None:
    """The kind that a column looks like, by its name, else by most of its first values; None if by neither."""
    words = "_".join(re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column).lower()))
    for letter, treatment, pattern in NAMES:
        if re.fullmatch(rf"(\w+_)?({pattern})(_\w+)?" if letter not in "AR" else rf"(\w+_)?({pattern})", words):
            return Suggestion(column, letter, treatment, "its name")
    sample = list(islice((value for value in values if value is not None and value == value), SAMPLE))
    if not sample:
        return None
    if all(isinstance(value, date) for value in sample):
        return Suggestion(column, "C", "year", "its values")
    texts = [value.strip() for value in sample if isinstance(value, str)]
    for letter, treatment, pattern in VALUES:
        if sum(re.fullmatch(pattern, text) is not None for text in texts) >= SHARE * len(sample):
            return Suggestion(column, letter, treatment, "its values")
    if len(sample) >= SEVERAL and len(texts) == len(sample) and len(set(texts)) == len(texts):
        return Suggestion(column, "R", "drop", "no two of its texts are the same")
    return None
