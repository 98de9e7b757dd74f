"""Who can be found in synthetic records by a value that was kept as it is.

Condensing redraws numbers, but it may give a column back: survival times by rank, categories as often as a cluster had
them. Somebody who knows a person's value of such a column looks it up in the extract. Where fewer than k people share
it the person is found; what stands beside it then matters: `beside` is the share of the other values that are the
person's own, against `by_chance`, what a record drawn at random would have right. A number counts as right within a
twentieth of its range.

>>> original = {"time": np.array([1.0, 2.0, 3.0, 4.0]), "sex": np.array([0.0, 0.0, 1.0, 1.0])}
>>> released = {"time": np.array([4.0, 3.0, 2.0, 1.0]), "sex": np.array([1.0, 1.0, 0.0, 1.0])}
>>> kept_values(original, released, "time", k=2)
KeptValues(column='time', k=2, alone=1.0, beside=0.75, by_chance=0.5)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from querygate.core.types import Bools, Floats, Ints

NEAR = 0.05


@dataclass(frozen=True, slots=True)
class KeptValues:
    """`alone`: the share of people whose value stands in the extract and is shared by fewer than k people."""

    column: str
    k: int
    alone: float
    beside: float
    by_chance: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def kept_values(
    original: Mapping[str, Floats],
    released: Mapping[str, Floats],
    column: str,
    k: int,
    numbers: Collection[str] = (),
) -> KeptValues:
    """Look each person up by one column. Those that are no `numbers` hold codes of categories; NaN is missing."""
    codes, often, ours, theirs = _codes(original[column], released[column])
    rare = np.flatnonzero((often[ours] < k) & (theirs[ours] > 0))
    others = [name for name in original if name != column]
    if not rare.size or not others:
        return KeptValues(column, k, rare.size / max(1, ours.size), 0.0, 0.0)
    order = np.argsort(codes, kind="stable")
    first = np.searchsorted(codes[order], ours[rare])
    number = theirs[ours[rare]]
    who = np.repeat(rare, number)
    place = np.arange(who.size) - np.repeat(np.cumsum(number) - number, number) + np.repeat(first, number)
    weight = np.repeat(1.0 / number, number)
    found, chance = [], []
    for name in others:
        reach = _reach(original[name]) if name in numbers else 0.0
        right = _right(original[name][who], released[name][order[place]], reach)
        found.append(float(right @ weight / rare.size))
        chance.append(_chance(original[name][rare], released[name], reach))
    return KeptValues(column, k, rare.size / ours.size, float(np.mean(found)), float(np.mean(chance)))


def explain_kept(found: Sequence[KeptValues]) -> list[str]:
    """For those who decide and those who receive, the worst first.

    >>> explain_kept([KeptValues("sex", 20, 0.0, 0.0, 0.0)])
    ['No value that fewer than 20 people share was kept, so no record belongs to a real person, except by chance.']
    >>> explain_kept([KeptValues("time", 20, 0.95, 0.74, 0.4)])[0][:66]
    'Real values of time were kept: 95 % of people can be found by a va'
    """
    open_ = sorted((one for one in found if one.alone), key=lambda one: -one.alone)
    if not open_:
        few = f"that fewer than {found[0].k:,} people share " if found else ""
        return [f"No value {few}was kept, so no record belongs to a real person, except by chance."]
    return [
        f"Real values of {one.column} were kept: {_percent(one.alone)} of people can be found by a value that fewer "
        f"than {one.k:,} people share, and the record found has {_percent(one.beside)} of their other values right "
        f"({_percent(one.by_chance)} by chance)."
        for one in open_
    ]


def _codes(original: Floats, released: Floats) -> tuple[Ints, Ints, Ints, Ints]:
    """Codes of the released values; how many originals have each code; codes of the originals; how many released."""
    both = np.nan_to_num(np.concatenate([original, released]), nan=np.inf)
    different, code = np.unique(both, return_inverse=True)
    ours, theirs = np.split(code.reshape(-1), [original.size])
    held, stand = (np.bincount(side, minlength=different.size) for side in (ours, theirs))
    return theirs, held, ours, stand


def _reach(original: Floats) -> float:
    known = original[np.isfinite(original)]
    return NEAR * float(np.ptp(known)) if known.size else 0.0


def _right(one: Floats, other: Floats, reach: float) -> Bools:
    gone = np.isnan(one) | np.isnan(other)
    return np.where(gone, np.isnan(one) & np.isnan(other), np.abs(one - other) <= reach)


def _chance(people: Floats, released: Floats, reach: float) -> float:
    """The mean share of released records that are right for these people."""
    missing = np.isnan(people)
    known: Floats = np.sort(released[~np.isnan(released)])
    inside = np.searchsorted(known, people + reach, "right") - np.searchsorted(known, people - reach, "left")
    return float(np.where(missing, released.size - known.size, inside).mean() / released.size)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 else f"{100 * share:.2g} %"
