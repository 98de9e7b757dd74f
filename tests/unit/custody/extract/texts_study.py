"""Patients with notes that name them in other spellings than their columns, and with aligned sequences."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

from tests.policies import IDENTIFIER, ROUGH_AGE, SBP, make_policy

POLICY = make_policy(
    "trial",
    {
        **dict.fromkeys(("first_name", "last_name", "mrn", "phone", "born"), IDENTIFIER),
        "age": ROUGH_AGE,
        "sbp": SBP,
        "note": {"role": "note", "title": "Discharge letter"},
        "dna": {"role": "sequence"},
    },
    person="mrn",
)

FIRST = ("Zofia", "Björn", "Will", "Mary-Ann", "Ngozi", "Søren", "Rosalind", "Tom")
LAST = ("O'Quackenbush", "García", "Wojciechowska", "Müller-Thurgau", "Okonkwo", "Lindqvist")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August")
SITES = 40


@cache
def people(rows: int = 120, seed: int = 3) -> pa.Table:
    """Every eighth has no note, every fourteenth no sequence. Blood pressures tell records apart."""
    rng = np.random.default_rng(seed)
    first, last = rng.choice(FIRST, rows), rng.choice(LAST, rows)
    mrn = rng.integers(10_000_000, 99_999_999, rows)
    phone = rng.integers(2_000_000, 9_999_999, rows)
    year, month, day = rng.integers(1940, 2000, rows), rng.integers(1, 9, rows), rng.integers(10, 28, rows)
    notes = [
        None
        if i % 8 == 7
        else _note(i, str(first[i]), str(last[i]), str(mrn[i]), str(phone[i]), year[i], month[i], day[i])
        + f" Her neighbour {first[i - 1]} {last[i - 1]} (mrn {mrn[i - 1]}) has the same."
        for i in range(rows)
    ]
    return pa.table(
        {
            "first_name": first,
            "last_name": last,
            "mrn": [str(number) for number in mrn],
            "phone": [f"(615) {str(number)[:3]}-{str(number)[3:]}" for number in phone],
            "born": [f"{y}-{m:02}-{d}" for y, m, d in zip(year, month, day, strict=True)],
            "age": 2020 - year,
            "sbp": np.arange(rows) + 60,
            "note": notes,
            "dna": sequences(rows, rng),
        }
    )


def _note(i: int, first: str, last: str, mrn: str, phone: str, year: int, month: int, day: int) -> str:
    """The same facts in four spellings; the disease stands in each."""
    return (
        f"{last.upper()}, {first}, MRN {mrn[:4]}-{mrn[4:]}, b. {day} {MONTHS[month - 1]} {year}. Diabetes is stable.",
        f"Saw {first[0]}. {last} today (615.{phone[:3]}.{phone[3:]}). Diabetes. DOB {month}/{day}/{year}.",
        f"{_plain(first)} {_plain(last)} was born {MONTHS[month - 1]} {day}, {year}; diabetes. chart#{mrn}.",
        f"Mrs. {last} called from 615 {phone[:3]} {phone[3:]} about diabetes; MRN:{mrn}; {year}{month:02}{day}.",
    )[i % 4]


def _plain(name: str) -> str:
    return name.translate(str.maketrans("öüíø", "ouio"))


def sequences(rows: int, rng: np.random.Generator) -> list[str | None]:
    """Descendants of four ancestors with a few changes each."""
    ancestors = rng.choice(list("ACGT"), (4, SITES))
    made: list[str | None] = []
    for i in range(rows):
        letters = ancestors[i % 4].copy()
        for site in rng.integers(0, SITES, rng.integers(0, 3)):
            letters[site] = rng.choice(list("ACGT-"))
        made.append(None if i % 14 == 13 else "".join(letters))
    return made
