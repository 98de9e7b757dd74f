"""The limited data set of HIPAA as a preset: which columns must go, and which may stay as they are.

45 CFR 164.514(e)(2) lists 16 direct identifiers of the individual, and of relatives, employers and household members.
Compared with the 18 kinds of Safe Harbor, all dates, ages of 90 and over, and places coarser than a street (town,
county, state, ZIP code) may stay; "any other unique code" is not on the list. What is left is still protected health
information: it may leave for research, public health or health care operations, under a data use agreement.

>>> find_direct("ZipCode") is None, find_direct("home_street").place, find_direct("email").place
(True, 'ii', 'v')
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from querygate.methods.policy_search.safe_harbor_identifiers import suggest


@dataclass(frozen=True, slots=True)
class DirectIdentifier:
    """One of the sixteen: its place in the rule, its letter among those of Safe Harbor, and what it covers."""

    place: str
    letter: str
    kind: str


DIRECT = (
    DirectIdentifier("i", "A", "names"),
    DirectIdentifier("ii", "B", "postal addresses other than town, state and ZIP code"),
    DirectIdentifier("iii", "D", "telephone numbers"),
    DirectIdentifier("iv", "E", "fax numbers"),
    DirectIdentifier("v", "F", "email addresses"),
    DirectIdentifier("vi", "G", "social security numbers"),
    DirectIdentifier("vii", "H", "medical record numbers"),
    DirectIdentifier("viii", "I", "health plan beneficiary numbers"),
    DirectIdentifier("ix", "J", "account numbers"),
    DirectIdentifier("x", "K", "certificate and licence numbers"),
    DirectIdentifier("xi", "L", "vehicle identifiers and licence plates"),
    DirectIdentifier("xii", "M", "device identifiers and serial numbers"),
    DirectIdentifier("xiii", "N", "web addresses"),
    DirectIdentifier("xiv", "O", "internet addresses"),
    DirectIdentifier("xv", "P", "biometric identifiers"),
    DirectIdentifier("xvi", "Q", "photographs of the face"),
)
BY_LETTER = {one.letter: one for one in DIRECT}

_STREET = re.compile(r"(\w+_)?(street|address|lat|lon|lng|latitude|longitude)(_\w+)?")
"""Of the places that Safe Harbor drops, those finer than a town: coordinates are a street in other words."""


def find_direct(column: str, values: Sequence[object] = ()) -> DirectIdentifier | None:
    """Which of the sixteen a column looks like, by its name, else by most of its first values; None if none."""
    found = suggest(column, values)
    if found is None or found.letter not in BY_LETTER:
        return None
    if found.letter == "B":
        words = "_".join(re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column).lower()))
        return BY_LETTER["B"] if _STREET.fullmatch(words) else None
    return BY_LETTER[found.letter]
