"""Versions laid together, against sets of people; and classes that stay together, against the judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from querygate.core.publications.version_overlap import ClassHistory, ValueChanges
from querygate.core.types import Ints
from querygate.methods.anonymise import Attribute, Distinct, Sensitive, Table, partition_check
from querygate.methods.anonymise.stable_classes import NEWCOMER, stay_together
from querygate.methods.anonymise.version_overlay import (
    ABSENT,
    OverlayVerdict,
    SmallParts,
    in_the_way,
    judge,
    only,
    pairwise,
)
from tests.each import each
from tests.seeds import seeds

SEEDS = seeds(40)


def lay_together(
    earlier: Sequence[Ints], now: Ints, sensitive: Sequence[Ints] = (), least: Sequence[int] = ()
) -> ClassHistory:
    """From the classes of each person, an array per version, and each person's sensitive values, an array per column,
    with the least number of different ones that a group has to keep.
    """
    entries, which = np.unique(np.column_stack([*earlier, now]), axis=0, return_inverse=True)
    which = which.reshape(-1)
    kept = np.ones(len(entries), dtype=np.bool_)
    for values, wanted in zip(sensitive, least, strict=True):
        pairs, _ = np.unique(np.column_stack([which, values]), axis=0, return_inverse=True)
        kept &= np.bincount(pairs[:, 0], minlength=len(entries)) >= wanted
    people = np.bincount(which, minlength=len(entries))
    return ClassHistory(entries[:, :-1], entries[:, -1], people, kept)


def random_classes(seed: int, versions: int, people: int = 60) -> list[Ints]:
    """The class of each person in each version; most of them stay where they were."""
    rng = np.random.default_rng(seed)
    first = rng.integers(-1, 6, people)
    found = [first]
    for _ in range(versions):
        moved = rng.random(people) < 0.15
        found.append(np.where(moved, rng.integers(-1, 6, people), found[-1]))
    in_one = np.any([classes != ABSENT for classes in found], axis=0)
    return [classes[in_one] for classes in found]


def judged_by_hand(earlier: list[Ints], now: Ints, values: Ints, k: int, l: int) -> OverlayVerdict:  # noqa: E741
    """Person by person: with whom they were, and with whom of these they are now."""
    before = [tuple(int(v[i]) for v in earlier) for i in range(now.size)]
    seen: dict[str, set[frozenset[int]]] = {"divided": set(), "left": set(), "came": set()}
    stayed = []
    for i in range(now.size):
        group = {j for j in range(now.size) if before[j] == before[i]}
        part = frozenset(j for j in group if now[j] == now[i])
        classes = {int(now[j]) for j in group} - {ABSENT}
        is_new, is_gone = set(before[i]) == {ABSENT}, now[i] == ABSENT
        if not is_new and not is_gone:
            stayed.append(len(part))
        if len(part) >= k and len({int(values[j]) for j in part}) >= l:
            continue
        if is_new:
            seen["came"].add(part)
        elif not is_gone and len(classes) > 1:
            seen["divided"].add(part)
        elif classes and any(now[j] == ABSENT for j in group):
            seen["left"].add(part)
    count = {name: SmallParts(len(parts), sum(map(len, parts))) for name, parts in seen.items()}
    return OverlayVerdict(min(stayed, default=0), **count)


@each("seed, versions", list(product(SEEDS, (1, 2, 3))))
def test_the_verdict_is_that_of_sets_of_people(seed: int, versions: int) -> None:
    *earlier, now = random_classes(seed, versions)
    values = np.random.default_rng(seed).integers(0, 3, now.size)
    met = lay_together(earlier, now, [values], [2])

    assert met.people.sum() == now.size
    assert judge(met, 4) == judged_by_hand(earlier, now, values, 4, 2)


@each("seed", SEEDS)
def test_fewer_versions_tell_what_they_tell(seed: int) -> None:
    *earlier, now = random_classes(seed, 3)
    met = lay_together(earlier, now)
    for version, found in enumerate(pairwise(met, 4)):
        there = (earlier[version] != ABSENT) | (now != ABSENT)
        assert found == judge(lay_together([earlier[version][there]], now[there]), 4)


@each("seed", SEEDS)
@each("few_changes", [False, True])
def test_without_those_in_the_way_the_rest_goes_together(seed: int, few_changes: bool) -> None:
    *earlier, now = random_classes(seed, 3)
    met = lay_together(earlier, now)
    rest = [v for v in range(3) if v not in in_the_way(met, 3, few_changes=few_changes)]

    assert not rest or judge(only(met, rest), 3).keeps(few_changes=few_changes)


def test_the_same_classes_tell_nothing() -> None:
    classes = np.repeat(np.arange(5), 3)
    found = judge(lay_together([classes, classes], classes), 3)

    assert found == OverlayVerdict(3, SmallParts(0, 0), SmallParts(0, 0), SmallParts(0, 0))
    assert found.keeps(few_changes=False)


@pytest.mark.parametrize(
    ("now", "divided", "left", "came"),
    [
        ([0, 0, 0, 1, 1, 1, -1, -1], 0, 0, 0),  # as it was
        ([0, 0, 1, 1, 1, 1, -1, -1], 3, 0, 0),  # one went to the others: it, and the two it left
        ([0, 0, 0, 0, 0, 0, -1, -1], 0, 0, 0),  # classes joined
        ([0, 0, -1, 1, 1, 1, -1, -1], 0, 3, 0),  # one left: it, and the two it left
        ([-1, -1, -1, 1, 1, 1, -1, -1], 0, 0, 0),  # a class left as a whole
        ([0, 0, 0, 1, 1, 1, 1, -1], 0, 0, 1),  # one came
        ([0, 0, 0, 1, 1, 1, 2, 2], 0, 0, 2),  # two came, fewer than three
    ],
)
def test_what_counts(now: list[int], divided: int, left: int, came: int) -> None:
    then = np.array([0, 0, 0, 1, 1, 1, -1, -1])
    there = (then != ABSENT) | (np.array(now) != ABSENT)
    found = judge(lay_together([then[there]], np.array(now)[there]), 3)

    assert (found.divided.people, found.left.people, found.came.people) == (divided, left, came)
    assert found.keeps(few_changes=False) == (divided + left + came == 0)
    assert found.keeps(few_changes=True) == (divided == 0)


# -- classes that stay together ------------------------------------------------------------------------------------


def random_table(seed: int, rows: int = 240) -> tuple[Table, Sensitive]:
    rng = np.random.default_rng(seed)
    age = Attribute.ordered_by("age", rng.integers(0, 40, rows), edges=np.arange(41.0))
    sex = Attribute.nominal("sex", rng.integers(0, 2, rows), size=2)
    table = Table((age, sex), np.ones(rows, dtype=np.int64))
    return table, Sensitive("ward", np.arange(rows), rng.integers(0, 3, rows), table.counts, size=3)


@each("seed", seeds(12))
@each("apart", [True, False])
def test_groups_stay_together_and_every_promise_is_kept(seed: int, apart: bool) -> None:
    table, ward = random_table(seed)
    rng = np.random.default_rng(seed)
    then = rng.permutation(np.repeat(np.arange(24), 10))  # classes of ten, wherever they lie
    gone = rng.random(then.size) < 0.05
    then[gone] = NEWCOMER  # as many come as left
    labels = stay_together(table, then, 4, [Distinct(ward, 2)], apart=apart)
    met = lay_together([then], labels, [ward.value], [2])

    assert partition_check.smallest_class(labels) >= 4
    assert partition_check.distinct_values(labels, ward.value) >= 2
    assert judge(met, 4).divided == SmallParts(0, 0)
    if apart and gone.sum() >= 4:
        assert judge(met, 4).came == SmallParts(0, 0)


def test_a_large_group_is_divided_and_a_small_one_joins_as_a_whole() -> None:
    age = Attribute.ordered_by("age", np.arange(12), edges=np.arange(13.0))
    table = Table((age,), np.ones(12, dtype=np.int64))
    labels = stay_together(table, np.array([0] * 6 + [1] * 2 + [2] * 4), 3)

    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2] or labels.tolist() == [0] * 3 + [1] * 3 + [2] * 6


def test_the_result_does_not_depend_on_the_order_of_rows() -> None:
    table, _ = random_table(3)
    then = np.arange(240) % 24
    order = np.random.default_rng(0).permutation(240)
    shuffled = Table(tuple(replace(a, codes=a.codes[order]) for a in table.attributes), table.counts)
    one, other = stay_together(table, then, 3)[order], stay_together(shuffled, then[order], 3)

    assert len(np.unique(np.column_stack([one, other]), axis=0)) == int(one.max()) + 1 == int(other.max()) + 1


# -- secrets that changed ------------------------------------------------------------------------------------------


@each("seed", SEEDS)
def test_those_who_changed_are_parts_of_their_own(seed: int) -> None:
    """Person by person: who is in the same classes as they are and has changed since a version, as they have."""
    *earlier, now = random_classes(seed, 3)
    rng = np.random.default_rng(seed)
    changed = [
        (rng.random(now.size) < share) & (v != ABSENT) & (now != ABSENT)
        for v, share in zip(earlier, (0.1, 0.5, 1), strict=True)
    ]
    met = lay_together(earlier, now)
    entries = np.column_stack([met.earlier, met.now])
    which = [(entries == row).all(axis=1).argmax() for row in np.column_stack([*earlier, now])]
    people = np.stack([np.bincount(which, marks, len(entries)) for marks in changed], axis=1).astype(np.int64)
    met = replace(met, changes=ValueChanges(people, np.ones(people.shape, dtype=np.bool_)))

    for version, found in enumerate(pairwise(met, 4)):
        told = [
            i
            for i in range(now.size)
            if changed[version][i]
            and np.sum(changed[version] & (earlier[version] == earlier[version][i]) & (now == now[i])) < 4
        ]
        assert found.changed.people == len(told)
        assert found.keeps(few_changes=True) == (not found.divided.parts)
        assert not (told and found.keeps(few_changes=False))
