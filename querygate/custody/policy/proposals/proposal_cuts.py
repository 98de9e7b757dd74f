"""Cuts that have people on both sides: between two neighbours there are enough of each sex.

Where a table begins at 50 years, cuts at 18, 25, 35 and 45 divide nobody. Where it begins at 20, a band up to 25 may
have too few women: its counts by sex would be ranges, and so would be every total that the band is part of.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from querygate.core.column_figures import ColumnFigures
from querygate.core.timestamps import DAY_US
from querygate.core.types import Floats, Ints
from querygate.custody.policy.proposals.proposal import Proposal
from querygate.custody.policy.proposals.proposal_domains import toml_list
from querygate.custody.policy.toml_reader import EPOCH

ENOUGH = 3
"""Times k people of each value in a band: some of them are told apart by other columns as well."""

COMMON = 0.1
"""Values that so many have are looked at: a rare one would leave no cut at all."""

FEW = 3
"""Values of a category up to which each is looked at, as sex has them."""


NAMED = 5
"""Cuts up to which those are named that were left out."""


def with_fitting_cuts(columns: Sequence[Proposal], figures: Mapping[str, ColumnFigures], k: int) -> list[Proposal]:
    """Every ordered quasi-identifier with the cuts that fit."""
    beside = [figures[p.name].sample for p in columns if p.role == "quasi-identifier" and _has_few_values(p)]
    return [_fitted(p, figures[p.name], beside, k) if p.role == "quasi-identifier" else p for p in columns]


def _has_few_values(p: Proposal) -> bool:
    return p.type == "boolean" or (p.type == "category" and 0 < len(json.loads(p.keys.get("values", "[]"))) <= FEW)


def _fitted(p: Proposal, c: ColumnFigures, beside: Sequence[Floats], k: int) -> Proposal:
    if "cuts" not in p.keys or not c.sample.size:
        return p
    cuts = {_place(text, c): text for text in p.keys["cuts"].strip("[]").split(", ")}
    share = c.sample.size / max(c.rows, 1)
    left = fitting_cuts(c.sample, [*cuts], [one for one in beside if one.size == c.sample.size], ENOUGH * k * share)
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
    """A cut as the file has it, in the numbers in which a sample is."""
    if "-" not in text[1:]:
        return float(text)
    day = datetime.date.fromisoformat(text[:10])
    if c.matches.get("compact date", 0) >= 0.99:
        return float(f"{day:%Y%m%d}")
    return float(day.toordinal() - EPOCH) * (1 if c.all_are("date") else DAY_US)


def fitting_cuts(values: Floats, cuts: Sequence[float], beside: Sequence[Floats], least: float) -> list[float]:
    """Take away cuts until between two neighbours each common value of the columns beside it has that many records.

    >>> fitting_cuts(np.arange(20.0, 60.0), [18, 25, 35, 45, 55], [], 8)
    [35, 45]
    """
    left, groups = list(cuts), [np.zeros(values.size, dtype=np.int64), *map(_groups, beside)]
    known = ~np.isnan(values)
    while left:
        cells = np.searchsorted(np.array(left, dtype=np.float64), values[known], side="right")
        fewest = np.min([_fewest(cells, group[known], len(left) + 1) for group in groups], axis=0)
        cell = int(fewest.argmin())
        if fewest[cell] >= least:
            break
        # joined with the smaller of its neighbours
        before = cell > 0 and (cell == len(left) or fewest[cell - 1] <= fewest[cell + 1])
        left.pop(cell - 1 if before else cell)
    return left


def _groups(column: Floats) -> Ints:
    """The common values by number, and -1 for all others."""
    values, place, counts = np.unique(column, return_inverse=True, return_counts=True, equal_nan=True)
    common = (counts >= COMMON * column.size) & ~np.isnan(values)
    found: Ints = np.where(common, np.cumsum(common) - 1, -1)[place.reshape(-1)]
    return found


def _fewest(cells: Ints, group: Ints, size: int) -> Ints:
    """In each cell, the records of the group that has fewest."""
    groups = int(group.max(initial=-1)) + 1
    if not groups:
        return np.bincount(cells, minlength=size)
    here = group >= 0
    table = np.bincount(cells[here] * groups + group[here], minlength=size * groups).reshape(size, groups)
    found: Ints = table.min(axis=1)
    return found
