"""Tables of more combinations than memory holds: cut coarsely where the rows are, then divided part by part.

A part has at least k records, and keeps every guarantee as one class, so that dividing it can always be done; a
guarantee that compares classes with the whole table (t-closeness) goes on doing so, since the counts of values come
from the profile of all records. No class reaches across a coarse cut: that costs a little information, and no promise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from querygate.core.coarse_parts import Fork, Parts, divided_at, numbers_of, runs_of
from querygate.core.types import Ints
from querygate.custody.columns.hierarchies import places
from querygate.custody.publish.guarantees import make_guards
from querygate.custody.publish.publication_state import PublicationState
from querygate.methods.anonymise import NULL, Attribute, CoarseCut, coarse_cuts

BYTES, BYTES_EACH = 110, 32
"""Memory that a combination takes while classes are made, and what each attribute adds (measured with ten million)."""


def coarse_parts(draft: PublicationState, attributes: Sequence[Attribute], *, by_record: bool) -> Parts:
    """Parts that each fit into memory; 0, the whole table, where that does. The attributes need no codes.

    A part that cannot be cut without breaking a promise stays whole.
    """
    most = max(1, draft.workshop.room_bytes // (BYTES + BYTES_EACH * len(attributes)))
    parts: Parts = 0
    if draft.rows <= most:
        return parts
    refused: dict[int, int] = {}  # per part, how many of its cuts would break a promise
    while True:
        counts = {a.name: draft.workshop.count_codes(a.name, parts) for a in attributes}
        sizes = _records(counts[attributes[0].name]) if by_record else draft.workshop.count_combinations(parts)
        wanted: dict[int, CoarseCut] = {}
        for part in (part for part in numbers_of(parts) if sizes[part] > most):
            cuts = coarse_cuts(
                attributes, [_by_code(draft, a, counts[a.name], part) for a in attributes], draft.policy.k
            )
            if refused.get(part, 0) < len(cuts):
                wanted[part] = cuts[refused.get(part, 0)]
        if not wanted:
            return parts
        draft.say(f"cutting coarsely: {len(numbers_of(parts)) + len(wanted)} parts")
        kept = _kept(draft, parts, wanted)
        refused |= {part: refused.get(part, 0) + 1 for part in wanted if part not in kept}
        refused |= dict.fromkeys(kept, 0)
        parts = _divided(draft, parts, kept)


def _records(counted: tuple[Ints, Ints, Ints]) -> Mapping[int, int]:
    part, _, records = counted
    return dict(enumerate(np.bincount(part, records).astype(np.int64).tolist()))


def _by_code(draft: PublicationState, attribute: Attribute, counted: tuple[Ints, Ints, Ints], part: int) -> Ints:
    """How many records of the part have each code of the attribute; missing values are counted last."""
    code, records = (figures[counted[0] == part] for figures in counted[1:])
    code = _in_table(draft, attribute)[code]
    return np.bincount(np.where(code == NULL, attribute.size, code), records, attribute.size + 1).astype(np.int64)


def _in_table(draft: PublicationState, attribute: Attribute) -> Ints:
    """The code in the table of each code in the workshop, and behind them that of a missing value."""
    if attribute.tree is None:
        return np.append(np.arange(attribute.size), NULL)
    return places(attribute.tree, draft.texts[attribute.name])


def _divided(draft: PublicationState, parts: Parts, cuts: Mapping[int, CoarseCut]) -> Parts:
    """Each part cut in two: the left one keeps its number, the right one has the next that is free."""
    for part, cut in cuts.items():
        runs = runs_of(cut.left)
        if cut.attribute in draft.trees:
            place = places(draft.trees[cut.attribute], draft.texts[cut.attribute])
            runs = runs_of([*np.flatnonzero(np.isin(place[:-1], cut.left)).tolist(), *([NULL] * (NULL in cut.left))])
        parts = divided_at(parts, part, Fork(cut.attribute, runs, part, len(numbers_of(parts))))
    return parts


def _kept(draft: PublicationState, parts: Parts, cuts: Mapping[int, CoarseCut]) -> dict[int, CoarseCut]:
    """The cuts that leave two parts each of which keeps every guarantee as one class."""
    tried = _divided(draft, parts, cuts)
    number = np.arange(len(numbers_of(tried)))
    draft.combinations = draft.workshop.each_part(tried)
    fine = np.ones(number.size, dtype=np.bool_)
    for guard in make_guards(draft):
        fine &= guard.classes(number, number, number.size)
    before = len(numbers_of(parts))
    return {part: cut for i, (part, cut) in enumerate(cuts.items()) if fine[part] and fine[before + i]}
