"""What the blocks of a statement say of its places: who straddles them, and what would be sharp there instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from querygate.bounds import Membership
from querygate.bounds.asked_parts import AskedParts
from querygate.core.answer_bodies import StraddleBody
from querygate.core.block import ALL_NULLS, Block, NumberColumn, SetColumn
from querygate.core.limits.deadline import check_deadline
from querygate.core.plan import Plan
from querygate.core.predicate import columns
from querygate.core.types import Bools, Column
from querygate.gate.plan_cells import Sheet
from querygate.gate.straddles import find_cuts, mixed_rows, published_ranges, sharp_values, straddling_rows
from querygate.gate.value_texts import value_text
from querygate.sql import Filling, Place

FIVE_TIMES = 0.2
"""A question is called sharp if its ranges are at most this part of the width."""

MOST_SHOWN = 3
"""Published ranges that are shown of those that straddle a place."""

MOST_VALUES = 20
"""Values of a category that are listed: nobody would read more."""


@dataclass(frozen=True, slots=True)
class PlaceCells:
    """The sheets that a statement was answered from."""

    sheets: tuple[Sheet, ...]

    def _telling(self, name: str) -> list[tuple[Sheet, list[Block]]]:
        """The blocks of each sheet that tell of a column."""
        found = []
        for sheet in self.sheets:
            known = sheet.known or (None,) * len(sheet.blocks)
            blocks = [b for b, k in zip(sheet.blocks, known, strict=True) if name in b.columns and (not k or name in k)]
            if blocks:
                found.append((sheet, blocks))
        return found

    @property
    def apart(self) -> list[list[str]]:
        """Columns that no margin has all together, though an aggregate needs them."""
        needed = [(sheet.plan.columns, sheet.known) for sheet in self.sheets if sheet.known]
        found = [sorted(names) for names, known in needed if not any(names <= each for each in known)]
        return [list(names) for names in dict.fromkeys(map(tuple, found))]

    def sharp_cuts(self, column: Column) -> list[int | float]:
        """The cuts of a number that are sharp in every sheet."""
        found = [set(find_cuts(blocks, column.name).sharp) for _, blocks in self._telling(column.name)]
        return sorted(set.intersection(*found)) if found else []

    def even_cut(self, column: Column) -> int | float | None:
        """The sharp cut that divides the records most evenly."""
        cuts = [cut for cut in self.sharp_cuts(column) if cut > (column.low or 0)]
        blocks = [block for _, telling in self._telling(column.name) for block in telling[:1]]
        if not cuts or not blocks:
            return None
        found, n = blocks[0].number(column.name), blocks[0].n
        known = found.null != ALL_NULLS
        above = [int(n[known & (found.low >= cut)].sum()) for cut in cuts]
        return cuts[int(np.argmin([abs(2 * held - int(n[known].sum())) for held in above]))]

    def fillings(self, place: Place) -> list[Filling]:
        """What might stand in a place instead."""
        name = place.column.name
        if place.kind == "key":
            return [None]
        if place.kind == "values":
            every = frozenset(place.column.values)
            found = [
                values
                for sheet, blocks in self._telling(name)
                for block in _allowed(sheet.plan, blocks, name)
                for values in sharp_values(block.category(name), block.n, place.values)
                if values != every and len(values) <= MOST_VALUES
            ]
            return list(dict.fromkeys(found))
        listed: list[Filling] = []
        for sheet, telling in self._telling(name):
            blocks = _allowed(sheet.plan, telling, name)
            cuts, cut = find_cuts(blocks, name), place.cut or 0
            here = min(int(block.n[straddling_rows(block.number(name), cut)].sum()) for block in blocks)
            listed += [*cuts.nearest(cut, here * FIVE_TIMES), *cuts.nearest(cut, 0)]
        return list(dict.fromkeys(listed))

    def straddle(self, place: Place) -> StraddleBody | None:
        """Who may be on either side of a place, by what is published of them; None where nobody is."""
        name, most = place.column.name, None
        if place.kind in ("condition", "average"):
            return None
        for sheet, blocks in self._telling(name):
            each = [(block, _crossing(place, block) & _possible(sheet.plan, block)) for block in blocks]
            block, rows = min(each, key=lambda pair: int(pair[0].n[pair[1]].sum()))
            if most is None or block.n[rows].sum() > most[0].n[most[1]].sum():
                most = block, rows
        if most is None or not most[1].any():
            return None
        found = published_ranges(most[0], name, most[1])
        return {
            "column": name,
            "at": place.text,
            "part": place.kind,
            "records": sum(one.records for one in found),
            "ranges": len(found),
            "largest": [
                {"range": _range_text(one.what, place.column), "records": one.records} for one in found[:MOST_SHOWN]
            ],
        }


def _crossing(place: Place, block: Block) -> Bools:
    column = block.columns[place.column.name]
    if isinstance(column, SetColumn):
        return mixed_rows(column, None if place.kind == "key" else place.values)
    if isinstance(column, NumberColumn):
        if place.kind == "key":
            several: Bools = (column.low < column.high) & (column.null != ALL_NULLS)
            return several
        return straddling_rows(column, place.cut or 0)
    return np.zeros(block.size, dtype=np.bool_)


def _allowed(plan: Plan, blocks: Sequence[Block], name: str) -> list[Block]:
    """The records that the conditions on other columns may select: who else straddles does not matter."""
    parts = [p for p in AskedParts.of(plan, (), plan.measures[0].where).parts if name not in columns(p)]
    found = []
    for block in blocks:
        member = Membership(block, check_deadline)
        rows = np.logical_and.reduce([np.ones(block.size, np.bool_), *(member.counts(p)[1] > 0 for p in parts)])
        found.append(replace(block, n=np.where(rows, block.n, 0)))
    return found


def _possible(plan: Plan, block: Block) -> Bools:
    """Rows of which the WHERE may select somebody."""
    found: Bools = Membership(block, check_deadline).counts(plan.measures[0].where)[1] > 0
    return found


def _range_text(what: tuple[object, ...], column: Column) -> str:
    if column.is_numeric:
        return " .. ".join(value_text(end, column.type) for end in what)  # type: ignore[arg-type]
    shown = ["NULL" if value is None else str(value) for value in what[:MOST_VALUES]]
    return "{" + ", ".join([*shown, *(["..."] if len(what) > MOST_VALUES else [])]) + "}"
