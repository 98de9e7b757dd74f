"""Bins of a sensitive number that hold too few are joined to their neighbours, at both ends alike."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querygate.custody.columns.value_codes import NumberCodes

K = 5


def joined(*counts: int) -> list[int]:
    codes = NumberCodes(np.arange(len(counts)), np.arange(len(counts)))
    return codes.joined(np.array(counts, dtype=np.int64), K).tolist()


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ((5, 7, 9), [0, 1, 2]),
        ((0, 0, 0), [0, 1, 2]),
        ((2, 3, 5), [0, 0, 1]),
        ((5, 5, 1), [0, 1, 1]),
        ((5, 0, 5), [0, 1, 2]),
        ((5, 4, 0, 1, 5), [0, 1, 1, 1, 2]),
        ((1, 1, 1), [0, 0, 0]),
        ((0, 0, 2), [0, 0, 0]),
        ((2, 0, 0), [0, 0, 0]),
        ((0, 0, 1, 4, 9, 0), [0, 0, 0, 0, 1, 2]),
        ((0, 9, 4, 1, 0, 0), [0, 1, 2, 2, 2, 2]),
    ],
    ids=str,
)
def test_neighbours_are_joined(counts: tuple[int, ...], groups: list[int]) -> None:
    assert joined(*counts) == groups


@given(st.lists(st.integers(0, 7), min_size=1, max_size=12))
def test_every_group_holds_k_or_nobody_unless_all_are_one(counts: list[int]) -> None:
    groups = joined(*counts)
    held = [sum(counts[i] for i, _ in run) for _, run in groupby(enumerate(groups), key=lambda pair: pair[1])]

    assert groups == sorted(groups)
    assert sorted(set(groups)) == list(range(len(held)))
    assert all(n == 0 or n >= K for n in held) or len(held) == 1


@given(st.lists(st.integers(0, 7), min_size=1, max_size=12))
def test_a_sparse_end_reaches_to_the_end_of_the_domain(counts: list[int]) -> None:
    """Else the edge of the last bin would tell where the outlier is."""
    groups = joined(*counts)
    there = [i for i, n in enumerate(counts) if n]
    if there and counts[there[0]] < K:
        assert groups[there[0]] == groups[0]
    if there and counts[there[-1]] < K:
        assert groups[there[-1]] == groups[-1]


@given(st.lists(st.integers(0, 7), min_size=1, max_size=12))
def test_merged_codes_cover_the_same_values(counts: list[int]) -> None:
    codes = NumberCodes(np.arange(0, 10 * len(counts), 10), np.arange(9, 10 * len(counts), 10))
    groups = codes.joined(np.array(counts, dtype=np.int64), K)
    merged = codes.merged(groups)

    assert merged.size == groups[-1] + 1
    assert (merged.low[0], merged.high[-1]) == (codes.low[0], codes.high[-1])
    assert (merged.low[1:] == merged.high[:-1] + 1).all()
    assert (merged.of(codes.low) == groups).all()
    assert (merged.of(codes.high) == groups).all()
