"""Chooses the cuts of a frame: in a frame cell where nobody has a value of a column, views publish nothing about it.

That happens with questions that are not put to everybody, such as smoking. Without the cut that separates those who
were not asked, the column is published for all. It stays a preferred cut, which counts follow.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.column_profile import ColumnFigures
from querygate.core.types import Floats, Ints
from querygate.custody.policy.drafts.column_proposal import NUMBERS, Proposal
from querygate.custody.policy.drafts.column_relations import untold
from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_text

MUCH = 0.08
"""The share of records about which nothing may be published; publishing warns from a tenth on."""

PREFERRED = (
    "{cut} is not a cut of {frame}: on one side of it everybody has the same value of {columns}, or none, so views "
    "would publish nothing there. Counts still follow it."
)
LEFT = "as most papers have them, but see [views]"
UNTOLD = (
    "Left out: for {share:.0%} of the records views could publish nothing about it, because everybody there has the "
    "same value."
)


@dataclass(frozen=True, slots=True)
class Bridged:
    """Columns with the remaining cuts, and the lines for the table of views."""

    columns: tuple[Proposal, ...]
    preferred: tuple[tuple[str, tuple[str, ...]], ...] = ()
    frame: str = ""


def bridge(columns: Sequence[Proposal], figures: Mapping[str, ColumnFigures]) -> Bridged:
    """Remove cuts until every sensitive column can be published; leave out columns for which that does not help."""
    frame = next((p for p in columns if p.role == "quasi-identifier" and "cuts" in p.keys), None)
    if frame is None or frame.type not in NUMBERS or not figures[frame.name].sample.size:
        return Bridged(tuple(columns))
    values = figures[frame.name].sample
    cuts: list[float] = json.loads(frame.keys["cuts"])
    left, notes, sensitive = list(cuts), [], [p for p in columns if p.role == "sensitive"]
    while left and (gap := _widest_gap(sensitive, figures, _cells(values, left))):
        cell, names = gap
        gone = left.pop(min(cell, len(left) - 1))
        notes.append(PREFERRED.format(cut=f"{gone:g}", frame=frame.name, columns=", ".join(names)))
    kept = [_told(p, figures[p.name].sample, _cells(values, left)) if p in sensitive else p for p in columns]
    if len(left) == len(cuts):
        return Bridged(tuple(kept))
    keys = {key: value for key, value in frame.keys.items() if key != "cuts"}
    keys |= {"cuts": json.dumps(left)} if left else {}
    kept[list(columns).index(frame)] = replace(frame, keys=keys, notes={**frame.notes, "cuts": LEFT})
    line = f"prefer = {{ {toml_text(frame.name)} = {frame.keys['cuts']} }}"
    return Bridged(tuple(kept), ((" ".join(notes), (line,)),), frame.name)


def _cells(values: Floats, cuts: Sequence[float]) -> Ints:
    return np.searchsorted(np.array(cuts, dtype=np.float64), values, side="right")


def _widest_gap(
    columns: Sequence[Proposal], figures: Mapping[str, ColumnFigures], cells: Ints
) -> tuple[int, list[str]] | None:
    """The largest frame cell in which some columns, each unpublished for many records, have no values."""
    silent = {p.name: untold(figures[p.name].sample, cells) for p in columns}
    much = {name: here for name, here in silent.items() if here.mean() > MUCH}
    if not much:
        return None
    sizes = np.bincount(cells, np.any(list(much.values()), axis=0))
    cell = int(sizes.argmax())
    return cell, [name for name, here in much.items() if here[cells == cell].any()]


def _told(p: Proposal, sample: Floats, cells: Ints) -> Proposal:
    share = float(untold(sample, cells).mean())
    return p.left_out(UNTOLD.format(share=share)) if share > MUCH else p
