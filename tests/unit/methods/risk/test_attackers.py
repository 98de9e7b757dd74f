"""Attackers against the sums that define them, and against guesses that were made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querygate.methods.risk import Attackers, attack, class_sizes, explain_attackers, explain_drivers, leave_one_out
from querygate.methods.risk.drivers import class_labels


@pytest.mark.parametrize("seed", range(5))
def test_risks_are_means_over_records(seed: int) -> None:
    chance = np.random.default_rng(seed)
    sizes = chance.integers(1, 40, 30)
    people = sizes + chance.integers(0, 100, 30)
    found = attack(sizes, people)
    assert found.journalist is not None
    for attacker, among in ((found.prosecutor, sizes), (found.journalist, people)):
        each = np.repeat(1 / among, sizes)
        assert attacker.greatest == each.max()
        assert attacker.average == pytest.approx(each.mean())
        assert attacker.expected == pytest.approx(each.sum())
        for above in attacker.above:
            assert above.records == (each > above.limit).sum()
            assert above.share == pytest.approx((each > above.limit).mean())
    assert found.prosecutor.average == pytest.approx(sizes.size / sizes.sum())
    assert found.marketer.expected == pytest.approx(found.journalist.expected)
    assert (found.k, found.k_map) == (sizes.min(), people.min())


def test_a_marketer_who_guesses_is_right_as_often_as_expected() -> None:
    """Records are given at random to the people of the register who match, and right ones are counted."""
    chance = np.random.default_rng(1)
    sizes, people = np.array([3, 2, 4]), np.array([7, 2, 1])  # of the last class the register knows a single person
    right = 0.0
    for _ in range(4000):
        for f, known in zip(sizes.tolist(), people.tolist(), strict=True):
            everybody = max(f, known)
            right += sum(chance.permutation(everybody)[: min(f, known)] == np.arange(min(f, known)))
    expected = attack(sizes, people).marketer.expected
    assert right / 4000 == pytest.approx(expected, abs=0.08)


def test_an_incomplete_register_is_told() -> None:
    found = attack(np.array([5, 5, 5]), np.array([0, 2, 9]))
    assert (found.unmatched, found.short, found.k_map) == (5, 5, 0)
    assert found.journalist is not None
    assert found.journalist.greatest == 1 / 5
    assert attack(np.array([5]), np.array([0])).journalist.greatest == 0.0  # type: ignore[union-attr]
    assert "no record matches anybody" in explain_attackers(attack(np.array([5]), np.array([0])))


@pytest.mark.parametrize("size", [20, 11, 5, 3])
def test_a_class_of_exactly_the_threshold_is_not_above_it(size: int) -> None:
    above = {round(1 / one.limit): one.records for one in attack(np.array([size])).prosecutor.above}
    assert above[size] == 0
    assert all(above[other] == size for other in above if other > size)


def test_an_empty_extract() -> None:
    found = attack(np.array([0, 0]), np.array([3, 4]), left_out=7)
    assert (found.records, found.left_out, found.classes, found.k) == (0, 7, 0, 0)
    assert found.prosecutor.greatest == found.marketer.expected == 0.0
    assert explain_attackers(found) == "There are no records in which anybody could be found."


def test_to_dict_is_plain() -> None:
    body = attack(np.array([2, 3]), np.array([4, 5]), left_out=1).to_dict()
    assert body["journalist"]["above"][0].keys() == {"limit", "records", "share"}
    assert Attackers(**attack(np.array([2])).to_dict()).journalist is None
    with pytest.raises(ValueError, match="for each class"):
        attack(np.array([2, 3]), np.array([4]))


tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(st.integers(-1, 2), min_size=width, max_size=width), min_size=1, max_size=40)
)


@given(tables)
def test_leaving_out_a_column_is_counted_anew(rows: list[list[int]]) -> None:
    codes = np.array(rows, dtype=np.int64)
    names = [f"c{i}" for i in range(codes.shape[1])]
    for driver in leave_one_out(codes, names):
        place = names.index(driver.column)
        sizes = (
            np.unique(np.delete(codes, place, axis=1), axis=0, return_counts=True)[1] if len(names) > 1 else [len(rows)]
        )
        assert driver.average == pytest.approx(len(sizes) / len(rows))
        assert driver.uniqueness == pytest.approx(sum(size == 1 for size in sizes) / len(rows))
        assert driver.alone == pytest.approx(np.unique(codes[:, place]).size / len(rows))
        assert driver.average_fall >= 0  # fewer columns, no more classes
        assert driver.uniqueness_fall >= 0


@given(tables)
def test_class_sizes_and_labels(rows: list[list[int]]) -> None:
    codes = np.array(rows, dtype=np.int64)
    assert sorted(class_sizes(codes)) == sorted(np.unique(codes, axis=0, return_counts=True)[1])
    label = class_labels(codes)
    for i, j in zip(range(len(rows)), reversed(range(len(rows))), strict=True):
        assert (label[i] == label[j]) == (rows[i] == rows[j])


def test_many_columns_do_not_overflow() -> None:
    codes = np.random.default_rng(0).integers(0, 10**9, (50, 40))
    assert class_sizes(codes).tolist() == [1] * 50
    assert all(driver.average_fall == 0 for driver in leave_one_out(codes, [str(i) for i in range(40)]))


def test_no_column_drives() -> None:
    twice = np.repeat(np.arange(5)[:, None], 2, axis=1)
    assert "No single column" in explain_drivers(leave_one_out(twice, ["a", "b"]))
    assert "No single column" in explain_drivers(())
    assert leave_one_out(np.zeros((0, 1), dtype=np.int64), ["a"])[0].average == 0.0
    with pytest.raises(ValueError, match="one name"):
        leave_one_out(twice, ["a"])
