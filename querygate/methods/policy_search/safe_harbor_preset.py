"""Safe Harbor as a preset: what becomes of values, and which point of a lattice it is.

45 CFR 164.514(b)(2). ZIP codes keep three digits, and 000 where all ZIP codes with those digits hold 20,000 people or
fewer by current data of the Census Bureau; dates keep the year; ages of 90 and over, and birth years that tell them,
are one group; the other identifiers go (see `IDENTIFIERS`).

*Which ZIP codes.* Give people by ZIP code, or by three digits, of the latest census if you can: the rule asks for
current data. Otherwise `RESTRICTED` counts: the 17 prefixes that the guidance of the Department of Health and Human
Services on de-identification (26 November 2012) lists by the 2000 census; it says itself not to rely on the list once
newer data are out. Whatever is no ZIP code, and with a table whatever is not in it, becomes 000; with the list a prefix
that the United States do not use passes.

>>> zip3(["37212", "03601", "82190-0168", None, "n/a"])
['372', '000', '000', None, '000']
>>> zip3(["37212", "37011"], people={"37212": 18_000, "37011": 500, "37013": 90_000})
['000', '370']
>>> ages([42, 89, 90, 103]), years(["2019-05-01", None])
(['42', '89', '90+', '90+'], [2019, None])
>>> birth_years(["1920-03-01", "1929-12-31", "1975-01-01"], at=2019)
['1929 or before', '1929 or before', '1975']
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from querygate.core.safe_harbor import FEW, OLD
from querygate.methods.policy_search.policy_lattice import LatticeAttribute, LatticePolicy, PolicyLattice
from querygate.methods.policy_search.safe_harbor_identifiers import Treatment

RawValue: TypeAlias = Any
"""A value as a file or a library has it: a text, a number, a date."""

RESTRICTED = frozenset(
    f"{area:03d}" for area in (36, 59, 63, 102, 203, 556, 692, 790, 821, 823, 830, 831, 878, 879, 884, 890, 893)
)
"""Three digits of ZIP codes with 20,000 people or fewer by the 2000 census (HHS guidance, 2012)."""


def zip3(codes: Sequence[RawValue], people: Mapping[str, int] | None = None) -> list[str | None]:
    """Three digits of each ZIP code, 000 where too few people live; missing ones stay missing.

    A whole number is taken for a ZIP code that has lost its leading zeros.
    """
    many = None if people is None else _populous(people)
    return [None if _missing(code) else _area(code, many) for code in codes]


def _area(code: RawValue, many: frozenset[str] | None) -> str:
    text = f"{code:05d}" if isinstance(code, int | np.integer) else str(code).strip()
    if not re.fullmatch(r"\d{5}(-?\d{4})?", text):
        return "000"
    return text[:3] if (text[:3] not in RESTRICTED if many is None else text[:3] in many) else "000"


def _populous(people: Mapping[str, int]) -> frozenset[str]:
    """The three digits that hold more than 20,000 people; keys are ZIP codes or three digits, not both."""
    if len({len(code) for code in people}) > 1 or any(not re.fullmatch(r"\d{3}|\d{5}", code) for code in people):
        raise ValueError("people must be given by ZIP codes of five digits, or by three digits")
    held: dict[str, int] = {}
    for code, count in people.items():
        held[code[:3]] = held.get(code[:3], 0) + count
    return frozenset(area for area, count in held.items() if count > FEW)


def years(dates: Sequence[RawValue]) -> list[int | None]:
    """The year of each date: a date, a time, a `numpy.datetime64`, or a text that begins with the year."""
    return [_year(day) for day in dates]


def birth_years(dates: Sequence[RawValue], at: int) -> list[str | None]:
    """The year of birth, with one group for all who are, or will be, 90 or older in the year `at`."""
    last = at - OLD
    return [None if year is None else f"{last} or before" if year <= last else str(year) for year in years(dates)]


def ages(values: Sequence[RawValue]) -> list[str | None]:
    """Ages in whole years, 90 and over in one group."""
    return [
        None if _missing(age) else f"{OLD}+" if float(age) >= OLD else str(math.floor(float(age))) for age in values
    ]


def treated(
    values: Sequence[RawValue], treatment: Treatment, *, people: Mapping[str, int] | None = None, at: int | None = None
) -> list[str | None] | list[int | None] | None:
    """A column as the preset leaves it; None if it is dropped."""
    match treatment:
        case "drop":
            return None
        case "zip3":
            return zip3(values, people)
        case "year":
            return years(values)
        case "age":
            return ages(values)
        case "birth year":
            if at is None:
                raise ValueError("birth years need the year of the release")
            return birth_years(values, at)


def zip_codes(name: str, codes: Sequence[str], people: Mapping[str, int] | None = None) -> LatticeAttribute:
    """ZIP codes as an attribute, ordered so that Safe Harbor is a policy: those of areas with few people first.

    Give all ZIP codes of the population and not those of the file alone: the people of an area are those of all its ZIP
    codes, and an area of one ZIP code is given by its three digits.

    >>> attribute = zip_codes("zip", ["37212", "37011", "03601", "37205"])
    >>> attribute.values, attribute.areas
    (('03601', '37011', '37205', '37212'), ('000', '370', '372', '372'))
    """
    many = None if people is None else _populous(people)
    ordered = sorted((_area(code, many), code) for code in set(codes))
    return LatticeAttribute(name, tuple(code for _, code in ordered), "zip", areas=tuple(area for area, _ in ordered))


def safe_harbor(lattice: PolicyLattice, age: str | None = "age") -> LatticePolicy:
    """Safe Harbor as a policy: 90 and over together, ZIP codes of one area together, all else as it is.

    Cells that reach over 90 are one group with those above, so a cell of 85 to 95 makes it 85+.

    >>> from querygate.methods.policy_search.policy_lattice import whole_numbers
    >>> safe_harbor(PolicyLattice((whole_numbers("age", 87, 93, open_top=True),))).labels("age")
    ('87', '88', '89', '90+')
    """
    kept = np.ones(lattice.length, dtype=np.bool_)
    for attribute, place in zip(lattice.attributes, lattice.places, strict=True):
        if attribute.kind == "zip":
            areas = attribute.areas
            kept[place] = [left != right for left, right in pairwise(areas)]
        elif attribute.name == age:
            if attribute.kind == "category":
                raise ValueError(f"{age} must be numbers, so that 90 and over can be told")
            kept[place] = attribute.highs[:-1] <= OLD
    if age is not None:
        lattice.place(age)
    return lattice.policy(kept)


def _missing(value: RawValue) -> bool:
    return value is None or value == "" or value != value


def _year(day: RawValue) -> int | None:
    if _missing(day):
        return None
    if isinstance(day, date):
        return day.year
    if isinstance(day, int | np.integer):
        return int(day)
    found = re.match(r"\s*(\d{4})(?=-|$)", str(day))
    if found is None:
        raise ValueError("a date must begin with its year, as in 2019-05-01")
    return int(found[1])
