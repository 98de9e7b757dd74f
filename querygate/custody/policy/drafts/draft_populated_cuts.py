"""Chooses cuts with enough people on both sides: between two neighbouring cuts there are enough of each sex.

Where a table begins at 50 years, cuts at 18, 25, 35 and 45 divide nobody. Where it begins at 20, a band up to 25 may
have too few women: its counts by sex would be ranges, and so would be every total that the band is part of.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.column_profile import ColumnFigures
from querygate.core.dates import DAY_US, day_of
from querygate.core.types import Floats, Ints
from querygate.custody.policy.drafts.column_proposal import Proposal, named_from
from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_list

ENOUGH, NEEDED = 3, 1
"""This many times k people of each sex must be in a band, since other columns divide them further; and this many of
each sex and each named value of another category, who would otherwise be merged with others."""

COMMON = 0.1
"""Only values with this share are considered: a rare one would leave no cut at all."""

FEW = 3
"""Categories with at most this many values, such as sex, are considered."""

MOST = 8
"""Other categories with at most this many values are considered together with sex."""

NAMED = 5
"""At most this many omitted cuts are named."""


@dataclass(frozen=True, slots=True)
class Demand:
    """The group of each sampled record, -1 for none, and how many of each group a band needs."""

    group: Ints
    least: float


def with_fitting_cuts(columns: Sequence[Proposal], figures: Mapping[str, ColumnFigures], k: int) -> list[Proposal]:
    """Every ordered quasi-identifier, with the cuts that fit."""
    quasi = [p for p in columns if p.role == "quasi-identifier"]
    demands = list(_demands(quasi, figures, k))
    return [_fitted(p, figures[p.name], demands) if p.role == "quasi-identifier" else p for p in columns]


def _demands(quasi: Sequence[Proposal], figures: Mapping[str, ColumnFigures], k: int) -> Iterator[Demand]:
    """Demands for everybody, for each column with few values, and for the first of these combined with each other
    category."""
    named = {p.name: _is_few(p) for p in quasi if p.type == "boolean" or 0 < len(_listed(p)) <= MOST}
    few = [name for name, is_few in named.items() if is_few]
    for name in (p.name for p in quasi[:1]):
        share = figures[name].sample.size / max(figures[name].rows, 1)
        yield Demand(np.zeros(figures[name].sample.size, dtype=np.int64), ENOUGH * k * share)
        yield from (Demand(common_groups(figures[one].sample, COMMON), ENOUGH * k * share) for one in few)
        for other in named if few else ():
            if other != few[0]:
                least = named_from(figures[other].rows, k) / max(figures[other].rows, 1)
                both = _together(
                    common_groups(figures[few[0]].sample, COMMON), common_groups(figures[other].sample, least)
                )
                yield Demand(both, NEEDED * k * share)


def _is_few(p: Proposal) -> bool:
    return p.type == "boolean" or len(_listed(p)) <= FEW


def _together(one: Ints, other: Ints) -> Ints:
    """Pairs of groups that occur, by number."""
    if one.size != other.size:
        return np.zeros(0, dtype=np.int64)
    here = (one >= 0) & (other >= 0)
    found: Ints = np.full(one.size, -1, dtype=np.int64)
    found[here] = np.unique(one[here] * (other.max(initial=0) + 1) + other[here], return_inverse=True)[1].reshape(-1)
    return found


def _listed(p: Proposal) -> list[str]:
    return list(json.loads(p.keys.get("values", "[]"))) if p.type == "category" else []


def _fitted(p: Proposal, c: ColumnFigures, demands: Sequence[Demand]) -> Proposal:
    if "cuts" not in p.keys or not c.sample.size:
        return p
    cuts = {_place(text, c): text for text in p.keys["cuts"].strip("[]").split(", ")}
    left = fitting_cuts(c.sample, [*cuts], [one for one in demands if one.group.size == c.sample.size])
    if left == [*cuts]:
        return p
    lost = [text for cut, text in cuts.items() if cut not in left]
    gone = f"not {', '.join(lost)}" if len(lost) <= NAMED else f"not {len(lost)} others"
    keys = {key: value for key, value in p.keys.items() if key != "cuts"}
    keys |= {"cuts": toml_list(cuts[cut] for cut in left)} if left else {}
    note = f"{gone}: too few people on one side"
    notes = {**p.notes, "cuts": "; ".join(filter(None, (p.notes.get("cuts"), note)))}
    return replace(p, keys=keys, notes=notes)


def _place(text: str, c: ColumnFigures) -> float:
    """A cut of the file, in the unit of the sample."""
    if "-" not in text[1:]:
        return float(text)
    day = datetime.date.fromisoformat(text[:10])
    if c.matches.get("compact date", 0) >= 0.99:
        return float(f"{day:%Y%m%d}")
    return float(day_of(day)) * (1 if c.all_are("date") else DAY_US)


def fitting_cuts(values: Floats, cuts: Sequence[float], demands: Sequence[Demand]) -> list[float]:
    """Remove cuts until each group has enough records between any two neighbouring cuts.

    >>> fitting_cuts(np.arange(20.0, 60.0), [18, 25, 35, 45, 55], [Demand(np.zeros(40, dtype=np.int64), 8)])
    [35, 45]
    """
    left, known = list(cuts), ~np.isnan(values)
    while left:
        cells = np.searchsorted(np.array(left, dtype=np.float64), values[known], side="right")
        shares = [_fewest(cells, one.group[known], len(left) + 1) / one.least for one in demands]
        fewest = np.min(shares, axis=0)
        cell = int(fewest.argmin())
        if fewest[cell] >= 1:
            break
        # merged with the smaller of its neighbours
        before = cell > 0 and (cell == len(left) or fewest[cell - 1] <= fewest[cell + 1])
        left.pop(cell - 1 if before else cell)
    return left


def common_groups(column: Floats, least: float) -> Ints:
    """The number of each value with at least this share, and -1 for all others."""
    values, place, counts = np.unique(column, return_inverse=True, return_counts=True, equal_nan=True)
    common = (counts >= least * column.size) & ~np.isnan(values)
    found: Ints = np.where(common, np.cumsum(common) - 1, -1)[place.reshape(-1)]
    return found


def _fewest(cells: Ints, group: Ints, size: int) -> Ints:
    """In each cell, the records of the smallest group."""
    groups = int(group.max(initial=-1)) + 1
    if not groups:
        return np.bincount(cells, minlength=size)
    here = group >= 0
    table = np.bincount(cells[here] * groups + group[here], minlength=size * groups).reshape(size, groups)
    found: Ints = table.min(axis=1)
    return found
