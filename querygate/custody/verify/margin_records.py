"""Finds the class of a written margin in which each combination of raw quasi-identifiers lies, by the published boxes
alone.

Every quasi-identifier is reduced to kinds: values that no box of the margin separates. Combinations of kinds are then
built up column by column, each with the classes whose boxes admit it, until one class is left for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from querygate.core.block import NO_NULLS
from querygate.core.publications.vault_ports import RawColumn
from querygate.core.types import Array, Arrays, Bools, Column, Ints, Margin
from querygate.custody.verify.raw_combinations import RawCombinations
from querygate.custody.verify.verifier_types import MarginReader, Written, require

AT_ONCE = 2_000_000
"""Pairs of a combination and a class that are examined together."""

ReadColumn = Callable[[str], RawColumn]


@dataclass(frozen=True)
class WrittenMargin:
    """A margin with its cells in order of class."""

    margin: Margin
    number: int
    cells: Arrays
    names: Ints
    first: Ints
    """The first cell of each class."""
    place: Ints
    """The class of each cell, as a place among the names."""
    sizes: Ints
    frame: Ints
    """By class."""


@dataclass(frozen=True)
class LocatedMargin(WrittenMargin):
    """The same with the class of each record, as a place."""

    label: Ints


def read_margin(margins: MarginReader, margin: Margin, number: int, columns: Sequence[Column]) -> WrittenMargin:
    """A margin as it is written; QG803 if its classes are not consistent."""
    told = f"margin {number}"
    inside = [column for column in columns if column.name in margin.columns]
    cells, beside = margins.cells(number, [column.index for column in inside])
    require(beside == 0, f"{told} says nothing about the columns that are not in it")
    classes, class_n, n, frame = (_plain(cells, name, told) for name in ("class", "class_n", "n", "frame"))
    require(bool((n > 0).all()), "no cell is empty")
    names, first, place = np.unique(classes, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    sizes = np.zeros(names.size, dtype=np.int64)
    np.add.at(sizes, place, n)
    require(np.array_equal(sizes[place], class_n), "class sizes")
    require(np.array_equal(frame[first][place], frame), "no class is in two frame cells")
    for column in inside:
        if column.is_numeric:
            declared = column.nullable == (f"c{column.index}_null" in cells)
            require(declared, f"missing values of {column.name} are declared")
        if column.name in margin.quasi:
            require(_is_constant(column, cells, first, place), f"a class has one {column.name}")
    return WrittenMargin(margin, number, cells, names, first, place, sizes, frame[first])


def find_frames(
    written: Written, counts: Sequence[WrittenMargin], columns: Sequence[Column], raw: RawCombinations
) -> Ints:
    """The frame cell of each combination, by what the classes in it admit together; QG803 where that is not one.

    Every record is in a class of each margin, so of a column any margin that has it tells what a frame cell admits.
    """
    names = np.unique(np.concatenate([one.frame for one in counts]))
    found = []
    for column in columns:
        one = next((one for one in counts if column.name in one.margin.quasi), None)
        if one is not None:
            admitted = _admitted(column, one, written, raw.read(column.name))
            cell = np.searchsorted(names, one.frame)[admitted.by]
            pairs = np.unique(admitted.of_kind * names.size + cell)
            found.append(Admitted(admitted.kind, admitted.kinds, pairs // names.size, pairs % names.size))
    place, is_one = _located(found, names.size, raw.times.size)
    require(is_one, "every record lies in one frame cell")
    return names[place]


def locate(
    written: Written, margin: WrittenMargin, columns: Sequence[Column], raw: RawCombinations, frame: Ints
) -> LocatedMargin:
    """Every record in its class, by the frame cell of its combination and box; QG803 where that is not one, or not as
    it is counted.
    """
    quasi = [column for column in columns if column.name in margin.margin.quasi]
    admitted = [_admitted(column, margin, written, raw.read(column.name)) for column in quasi]
    names, kind = np.unique(frame, return_inverse=True)
    require(bool(np.isin(margin.frame, names).all()), "no frame cell is empty")
    order = np.argsort(margin.frame, kind="stable")
    own = np.searchsorted(names, margin.frame[order])
    label, is_one = _located(
        [Admitted(kind.reshape(-1), names.size, own, order), *admitted], margin.names.size, frame.size
    )
    told = f"margin {margin.number}"
    require(is_one, f"every record lies in one class of {told}")
    held = np.zeros(margin.names.size, dtype=np.int64)
    np.add.at(held, label, raw.times)
    require(np.array_equal(held, margin.sizes), f"records in each class of {told}")
    return LocatedMargin(**vars(margin), label=label[raw.place])


def _plain(cells: Arrays, name: str, told: str) -> Ints:
    require(name in cells and not np.ma.getmaskarray(cells[name]).any(), f"cells of {told} are complete")
    return np.asarray(np.ma.getdata(cells[name]), dtype=np.int64)


def states(column: Column, cells: Arrays) -> Ints:
    """The null state of a number in each cell; a cell without one has none."""
    given = cells.get(f"c{column.index}_null")
    if given is None:
        return np.full(len(cells["n"]), NO_NULLS, dtype=np.int64)
    require(not np.ma.getmaskarray(given).any(), f"missing values of {column.name} are declared")
    return np.asarray(np.ma.getdata(given), dtype=np.int64)


def _is_constant(column: Column, cells: Arrays, first: Ints, place: Ints) -> bool:
    parts = [values for name, values in cells.items() if name.startswith(f"c{column.index}_")]
    filled = [(np.ma.getdata(values), np.ma.getmaskarray(values)) for values in parts]
    return all(
        bool((mask[first][place] == mask).all() and ((data[first][place] == data) | mask).all())
        for data, mask in filled
    )


# -- kinds of values, and the classes that admit them ------------------------------------------------------------------


@dataclass(frozen=True)
class Admitted:
    """The kind of each record, and the classes that admit each kind: pairs in order of kind and class."""

    kind: Ints
    kinds: int
    of_kind: Ints
    by: Ints


def _admitted(column: Column, margin: WrittenMargin, written: Written, raw: RawColumn) -> Admitted:
    cells, first = margin.cells, margin.first
    if column.is_numeric:
        kind, kinds, pairs = _in_intervals(column, cells, first, raw)
    else:
        kind, kinds, pairs = _in_sets(column, cells, first, written, raw)
    order = np.lexsort((pairs[1], pairs[0]))
    return Admitted(kind, kinds, pairs[0][order], pairs[1][order])


def _in_intervals(column: Column, cells: Arrays, first: Ints, raw: RawColumn) -> tuple[Ints, int, tuple[Ints, Ints]]:
    state = states(column, cells)[first]
    ends = [np.ma.asarray(cells[f"c{column.index}_{end}"])[first] for end in ("lo", "hi")]
    has_ends = ~(np.ma.getmaskarray(ends[0]) | np.ma.getmaskarray(ends[1]))
    require(np.array_equal(has_ends, state != 2), f"missing values of {column.name} are declared")
    low, high = (np.ma.getdata(end)[has_ends] for end in ends)
    edges = [np.unique(low), np.unique(high)]
    # Between neighbouring low ends, and between neighbouring high ends, no box separates values.
    above, below = _places(edges, raw.values)
    key = above * (edges[1].size + 1) + below
    known, kind = np.unique(key[~raw.missing], return_inverse=True)
    found = np.full(raw.missing.size, known.size)
    found[~raw.missing] = kind.reshape(-1)
    begin = np.searchsorted(known // (edges[1].size + 1), np.searchsorted(edges[0], low), side="right")
    end = np.searchsorted(known % (edges[1].size + 1), np.searchsorted(edges[1], high), side="right")
    classes = np.flatnonzero(has_ends)
    number = np.maximum(end - begin, 0)
    kinds = np.repeat(begin, number) + _counting(number)
    missing = np.flatnonzero(state != NO_NULLS)
    pairs = np.append(kinds, np.full(missing.size, known.size)), np.append(np.repeat(classes, number), missing)
    return found, known.size + 1, pairs


def _places(edges: Sequence[Array], values: Array) -> tuple[Ints, Ints]:
    """How many low ends are at or below each value, and how many high ends are below it."""
    return (
        np.searchsorted(edges[0], values, side="right").astype(np.int64),
        np.searchsorted(edges[1], values, side="left").astype(np.int64),
    )


def _in_sets(
    column: Column, cells: Arrays, first: Ints, written: Written, raw: RawColumn
) -> tuple[Ints, int, tuple[Ints, Ints]]:
    sets = np.ma.asarray(cells[f"c{column.index}_set"])[first]
    require(not np.ma.getmaskarray(sets).any(), f"a class has one {column.name}")
    set_id, value_id, texts = written.sets(column.index)
    place = {text: i for i, text in enumerate(raw.texts)}
    number_of = np.array([*(place.get(text, -1) for text in texts), len(raw.texts)], dtype=np.int64)  # -1 is missing
    kind_of = number_of[value_id]
    order = np.argsort(set_id, kind="stable")
    begin, end = (np.searchsorted(set_id[order], np.ma.getdata(sets), side=side) for side in ("left", "right"))
    kinds = kind_of[order][np.repeat(begin, end - begin) + _counting(end - begin)]
    classes = np.repeat(np.arange(first.size), end - begin)
    occurs = kinds >= 0
    found = np.where(raw.missing, len(raw.texts), raw.values)
    return found, len(raw.texts) + 1, (kinds[occurs], classes[occurs])


def _counting(number: Ints) -> Ints:
    """0, 1, ... for each of these numbers."""
    return np.arange(int(number.sum())) - np.repeat(np.cumsum(number) - number, number)


# -- combinations of kinds ---------------------------------------------------------------------------------------------


def _located(columns: Sequence[Admitted], classes: int, rows: int) -> tuple[Ints, bool]:
    """The class of each record, as a place, and whether every record has exactly one."""
    group, owner, of_group = np.zeros(rows, dtype=np.int64), np.arange(classes), np.zeros(classes, dtype=np.int64)
    for column in sorted(columns, key=lambda one: one.by.size / max(one.kinds, 1)):
        combined, new = np.unique(group * column.kinds + column.kind, return_inverse=True)
        before, kind = combined // column.kinds, combined % column.kinds
        begin, end = (np.searchsorted(of_group, before, side=side) for side in ("left", "right"))
        pairs = [
            _admitting(part, begin, end, owner, kind, column, classes) for part in _parts(end - begin, before.size)
        ]
        of_group, owner = (np.concatenate(part) for part in zip(*pairs, strict=True)) if pairs else (of_group, owner)
        group = new.reshape(-1)
    held = np.bincount(of_group, minlength=int(group.max(initial=-1)) + 1)
    is_one = bool((held == 1).all())
    return owner[group] if is_one else group, is_one


def _parts(number: Ints, size: int) -> list[range]:
    """Combinations in runs with about so many pairs."""
    run = np.cumsum(number) // AT_ONCE
    begins = [0, *(np.flatnonzero(np.diff(run)) + 1).tolist(), size]
    return [range(a, b) for a, b in pairwise(begins) if b > a]


def _admitting(
    part: range, begin: Ints, end: Ints, owner: Ints, kind: Ints, column: Admitted, classes: int
) -> tuple[Ints, Ints]:
    """Of some combinations, the classes that admit them so far and their new kind as well."""
    here = slice(part.start, part.stop)
    number = end[here] - begin[here]
    combination = np.repeat(np.arange(part.start, part.stop), number)
    candidate = owner[np.repeat(begin[here], number) + _counting(number)]
    admits = _are_among(column.of_kind * classes + column.by, kind[combination] * classes + candidate)
    return combination[admits], candidate[admits]


def _are_among(known: Ints, wanted: Ints) -> Bools:
    """Which of these are among the known ones, which are in order."""
    if not known.size:
        return np.zeros(wanted.size, dtype=np.bool_)
    at = np.minimum(np.searchsorted(known, wanted), known.size - 1)
    found: Bools = known[at] == wanted
    return found
