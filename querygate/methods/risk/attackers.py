"""Who might find somebody in an extract, and how likely: prosecutor, journalist, marketer, k-map.

After El Emam and Dankar ("Protecting privacy using k-anonymity", JAMIA 2008) and El Emam ("Guide to the
De-Identification of Personal Health Information", 2013). The *prosecutor* knows that somebody is in the extract and
guesses among the f records of the class: 1/f. The *journalist* does not, and guesses among the F people of a register
who match the class: 1/F. The *marketer* matches everybody and counts what is right. Shares are of records, because it
is people who are at risk.

An incomplete register may list fewer people than the class has records. A guess then goes astray among the records
instead, so a journalist's chance is 1/max(f, F); a class that nobody in the register matches finds nobody. Records of
both kinds are counted, since a register that leaves people out makes the journalist look weaker or stronger than he is.

>>> import numpy as np
>>> found = attack(np.array([5, 5, 10]), people=np.array([10, 50, 100]), left_out=3)
>>> found.prosecutor.greatest, found.prosecutor.average, found.prosecutor.expected
(0.2, 0.15, 3.0)
>>> found.journalist.greatest, round(found.marketer.expected, 3), found.k_map
(0.1, 0.7, 10)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.json_body import JsonValue, to_json
from querygate.core.types import Floats, Ints

THRESHOLDS = (1 / 20, 1 / 11, 1 / 5, 1 / 3)
"""Risks at which rules for health data draw a line; 1/11 is the 0.09 of the European Medicines Agency (Policy 0070)."""


@dataclass(frozen=True, slots=True)
class Above:
    """How many records have a risk above a limit."""

    limit: float
    records: int
    share: float


@dataclass(frozen=True, slots=True)
class Attack:
    """The greatest chance of being found, the average over records, and how many of all guesses are right."""

    greatest: float
    average: float
    expected: float
    above: tuple[Above, ...]


@dataclass(frozen=True, slots=True)
class Marketer:
    """The share, and the number, of records matched with the right person when all are matched."""

    average: float
    expected: float


@dataclass(frozen=True, slots=True)
class Attackers:
    """All attackers on one extract. The journalist and k-map need a register of the population."""

    records: int
    left_out: int
    classes: int
    k: int
    prosecutor: Attack
    marketer: Marketer
    journalist: Attack | None = None
    k_map: int | None = None
    unmatched: int = 0  # records that nobody in the register matches
    short: int = 0  # records of classes that fewer people match than there are records

    def to_dict(self) -> dict[str, JsonValue]:
        return to_json(self)


def attack(
    sizes: Ints, people: Ints | None = None, left_out: int = 0, thresholds: Sequence[float] = THRESHOLDS
) -> Attackers:
    """Of classes of these sizes, that so many people of a register match; `left_out` records were suppressed.

    Suppressed records are not in the extract and nobody finds them there; they count in no share.
    """
    if people is not None and people.shape != sizes.shape:
        raise ValueError("one number of people for each class")
    kept = sizes > 0
    people = None if people is None else people[kept]
    sizes = sizes[kept]
    records, least = int(sizes.sum()), int(sizes.min()) if sizes.size else 0
    sure = _attack(1 / sizes, sizes, thresholds)
    if people is None:
        return Attackers(records, left_out, sizes.size, least, sure, Marketer(sure.average, sure.expected))
    among = np.maximum(sizes, people)
    chance = np.where(people > 0, 1 / among, 0.0)
    unsure = _attack(chance, sizes, thresholds)
    # Of f records and F people that match, no more than the fewer of them can be paired.
    right = float(np.minimum(sizes, people) @ (1 / among)) if sizes.size else 0.0
    return Attackers(
        records,
        left_out,
        sizes.size,
        least,
        sure,
        Marketer(right / records if records else 0.0, right),
        unsure,
        int(people.min()) if people.size else 0,
        int(sizes[people == 0].sum()),
        int(sizes[(people > 0) & (people < sizes)].sum()),
    )


def _attack(chance: Floats, sizes: Ints, thresholds: Sequence[float]) -> Attack:
    records, right = int(sizes.sum()), float(chance @ sizes)
    above = tuple(_above(limit, int(sizes[chance > limit].sum()), records) for limit in thresholds)
    return Attack(float(chance.max(initial=0.0)), right / records if records else 0.0, right, above)


def _above(limit: float, found: int, records: int) -> Above:
    return Above(limit, found, found / records if records else 0.0)


def explain_attackers(found: Attackers) -> str:
    """One sentence for those who decide.

    >>> import numpy as np
    >>> explain_attackers(attack(np.array([5, 5, 10])))
    'Somebody known to be among the 20 records is found with a probability of at most 1 in 5; guessing for all of them \
gets about 3 right (15.0 %).'
    """
    if not found.records:
        return "There are no records in which anybody could be found."
    text = (
        f"Somebody known to be among the {found.records:,} records is found with a probability of at most 1 in "
        f"{1 / found.prosecutor.greatest:,.0f}; guessing for all of them gets about {found.prosecutor.expected:,.0f} "
        f"right ({100 * found.prosecutor.average:.1f} %)"
    )
    if found.journalist is None:
        return text + "."
    if not found.journalist.greatest:
        return text + ", and no record matches anybody in the register."
    return (
        f"{text}, and somebody looked up in the register of the population with at most 1 in "
        f"{1 / found.journalist.greatest:,.0f} ({100 * found.journalist.average:.1f} % on average)."
    )
