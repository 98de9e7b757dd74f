"""Lists of codes in an extract: items as texts, and what somebody who knows codes can find."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pyarrow as pa

from querygate.core.block import MISSING, CodeSets
from querygate.core.errors import ExtractRefused
from querygate.core.types import Ints
from querygate.custody.code_lists.code_items import PublishedCodes
from querygate.custody.extract.protected_records import Field
from querygate.custody.publish.step_state import PublicationState
from querygate.custody.verify.code_knowledge import PublishedCodeSets, measure_known
from querygate.custody.verify.diversity_check import GuaranteeCheck
from querygate.custody.verify.pattern_marks import measure_marks

MEANING = (
    "items separated by '; ': the record has at least one of the codes of each item, which are separated by '/'; "
    "perhaps the code before a '?', and perhaps others where something is suppressed"
)
LONGEST = 12
"""The most codes of an item that are written out; a longer item is named, and the dictionary lists its codes."""


def codes_field(state: PublicationState, name: str, made: PublishedCodes, numbers: Ints) -> tuple[Field, pa.Array]:
    """The column of the extract, and what it means."""
    names, long = item_names(made.sets)
    labels = tuple(f"{names[item]} = {'/'.join(codes)}" for item, codes in long)
    return Field(name, name, MEANING, state.policy.column(name).title, labels), code_texts(made.sets, names, numbers)


def item_names(sets: CodeSets) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The text for each item; and the codes of the items in use that are too long to write out.

    >>> item_names(CodeSets.of(["250.00", "250.01", "401.9"], [0, 0, 1], [[], [0, 1]]))
    (['250.00/250.01', '401.9'], [])
    """
    codes: list[list[str]] = [[] for _ in sets.sizes]
    for item, code in zip(sets.entry_item.tolist(), sets.entry_code.tolist(), strict=True):
        codes[item].append("" if code == MISSING else sets.codes[code])
    names, long, held = [], [], set(sets.members.tolist())
    for number, one in enumerate(codes):
        if "" in one:
            names.append(f"{max(one)}?" if len(one) == 2 else "suppressed")
        elif len(one) <= LONGEST:
            names.append("/".join(one))
        else:
            names.append(f"{one[0]}/.../{one[-1]} (item {number})")
            long += [(number, one)] if number in held else []
    return names, long


def code_texts(sets: CodeSets, names: Iterable[str], numbers: Ints) -> pa.Array:
    """What is published of each record's codes, as a text."""
    called = list(names)
    texts = [
        "; ".join(called[item] for item in sets.members[begin:end].tolist())
        for begin, end in pairwise(sets.starts.tolist())
    ]
    return pa.array(np.array(texts, dtype=object)[numbers], type=pa.string())


def codes_kept(
    state: PublicationState, name: str, made: PublishedCodes, numbers: Ints, classes: Ints
) -> list[GuaranteeCheck]:
    """The guarantees about known codes, counted on the extract, with classes as recipients see them."""
    sets = made.sets
    items: dict[int, set[str]] = {}
    for item, code in zip(sets.entry_item.tolist(), sets.entry_code.tolist(), strict=True):
        items.setdefault(item, set()).add("" if code == MISSING else sets.codes[code])
    held = [frozenset(sets.members[begin:end].tolist()) for begin, end in pairwise(sets.starts.tolist())]
    told = PublishedCodeSets(
        {item: frozenset(codes) for item, codes in items.items()},
        dict(enumerate(held)),
        classes,
        numbers,
        np.ones(numbers.size, dtype=np.int64),
    )
    column, staging = state.policy.column(name), state.staging
    kept = measure_known(column, made.system, told, staging, state.policy.k)
    kept += measure_marks(column, made.system, told, staging)
    for one in kept:
        if not one.holds:
            raise ExtractRefused(
                "QG605", f"The extract does not keep its guarantee: {one.promise}.", "Nothing was written."
            )
    return kept
