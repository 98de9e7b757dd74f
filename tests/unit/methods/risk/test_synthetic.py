"""Nearest records, membership and linkage: each must fail on data that follow persons and pass on data that do not."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.core.types import Floats, Ints
from querygate.methods.risk import (
    PointRecords,
    explain_membership,
    explain_nearness,
    linkage,
    membership,
    nearness,
    record_space,
)
from querygate.methods.risk.membership_inference import guessing
from querygate.methods.risk.record_space import Space


def people(seed: int, count: int = 1500, numbers: int = 4, values: int = 3) -> PointRecords:
    """Persons of one population: correlated numbers and two categories."""
    chance = np.random.default_rng(seed)
    common = chance.normal(size=(count, 1))
    return PointRecords(common + chance.normal(size=(count, numbers)), chance.integers(0, values, (count, 2)))


def blurred(original: PointRecords, width: float, seed: int = 9) -> PointRecords:
    chance = np.random.default_rng(seed)
    return PointRecords(original.numbers + width * chance.normal(size=original.numbers.shape), original.codes)


# -- distance ------------------------------------------------------------------------------------------------------


def by_definition(table: PointRecords, asking: PointRecords) -> Floats:
    width = np.nanmax(table.numbers, axis=0) - np.nanmin(table.numbers, axis=0)
    apart = (((asking.numbers[:, None] - table.numbers) / width) ** 2).sum(axis=2)
    apart += (asking.codes[:, None] != table.codes).sum(axis=2)
    found: Floats = np.sqrt(apart / table.columns)
    return found


@pytest.mark.parametrize("features", [0, 100])
@pytest.mark.parametrize("values", [3, 70])
def test_nearest_are_those_of_the_definition(monkeypatch: pytest.MonkeyPatch, features: int, values: int) -> None:
    monkeypatch.setattr(record_space, "TREE_FEATURES", features)
    monkeypatch.setattr(record_space, "BLOCK", 1000)
    table, asking = people(1, 300, values=values), people(2, 200, values=values)
    apart = by_definition(table, asking)
    found = Space(table).nearest(table, asking, 3)
    assert found.distance == pytest.approx(np.sort(apart, axis=1)[:, :3])
    assert np.take_along_axis(apart, found.which, axis=1) == pytest.approx(found.distance)


def test_unknown_numbers() -> None:
    table = PointRecords(np.array([[np.nan], [0.0], [10.0]]), np.zeros((3, 0), dtype=np.int64))
    found = Space(table).nearest(table, table, 2).distance
    assert found[0].tolist() == pytest.approx([0, np.sqrt(1.25)])
    assert found[1].tolist() == pytest.approx([0, 1])


def test_a_value_that_the_reference_lacks_is_as_far_as_any_other() -> None:
    table = PointRecords(np.zeros((2, 0)), np.array([[0], [1]]))
    asking = PointRecords(np.zeros((2, 0)), np.array([[7], [8]]))
    assert Space(table).nearest(table, asking, 1).distance[:, 0].tolist() == pytest.approx([1, 1])
    assert Space(table).nearest(asking, asking, 2).distance[:, 1].tolist() == pytest.approx([1, 1])


def test_robust_scale_is_not_ruled_by_an_outlier() -> None:
    numbers = np.arange(101.0)[:, None]
    numbers[-1] = 1e6
    table = PointRecords(numbers, np.zeros((101, 0), dtype=np.int64))
    asking = PointRecords(np.array([[50.5]]), np.zeros((1, 0), dtype=np.int64))
    assert Space(table).nearest(table, asking, 1).distance[0, 0] < 1e-6
    assert Space(table, "robust").nearest(table, asking, 1).distance[0, 0] == pytest.approx(0.5 / 90)


def test_constant_and_unknown_columns_and_no_records() -> None:
    numbers = np.column_stack([np.ones(3), np.full(3, np.nan)])
    table = PointRecords(numbers, np.zeros((3, 1), dtype=np.int64))
    assert Space(table).nearest(table, table, 5).distance.tolist() == [[0.0] * 3] * 3
    assert Space(table).nearest(table, table.take(np.zeros(0, dtype=np.int64)), 2).which.shape == (0, 2)


def test_what_is_no_table() -> None:
    with pytest.raises(ValueError, match="a row for each"):
        PointRecords(np.zeros((2, 1)), np.zeros((3, 1), dtype=np.int64))
    with pytest.raises(ValueError, match="infinite"):
        PointRecords(np.array([[np.inf]]), np.zeros((1, 0), dtype=np.int64))


def test_equal_records_are_of_one_kind() -> None:
    table = PointRecords(np.array([[0.0], [-0.0], [np.nan], [np.nan], [1.0]]), np.zeros((5, 1), dtype=np.int64))
    [kind] = table.kinds()
    assert kind[0] == kind[1] != kind[2] == kind[3] != kind[4]


# -- nearness ------------------------------------------------------------------------------------------------------


def test_copies_are_found() -> None:
    original = people(1)
    found = nearness(original, original, holdout=people(2))
    assert found.equal == 1.0
    assert found.equal_others == 0.0
    assert found.ratio == 0.0
    assert found.closer == 1.0
    assert "closer to persons than held-out persons" in explain_nearness(found)


@pytest.mark.parametrize("held_out", [False, True])
def test_other_people_are_no_closer_than_people_are(held_out: bool) -> None:
    found = nearness(people(1), people(2), people(3) if held_out else None)
    assert found.equal == 0.0
    assert found.ratio == pytest.approx(1, abs=0.06)
    assert found.closer == pytest.approx(0.05, abs=0.03)
    assert found.synthetic.nndr == pytest.approx(found.original.nndr, abs=0.08)
    assert ("no closer" if found.ratio >= 1 else "slightly closer") in explain_nearness(found)
    assert len(found.to_dict()["shares"]) == len(found.to_dict()["synthetic"]["dcr"])


@pytest.mark.parametrize(("step", "said"), [(5.0, "are closer"), (8.4, "are slightly closer"), (10.0, "are no closer")])
def test_the_sentence_agrees_with_its_figure(step: float, said: str) -> None:
    none = np.zeros((3, 0), dtype=np.int64)
    original = PointRecords(np.array([[0.0], [10.0], [20.0]]), none)
    made = PointRecords(np.array([[-step], [-step], [20 + step]]), none)
    sentence = explain_nearness(nearness(original, made))
    assert f"is {step / 10:.2g} times" in sentence
    assert said in sentence


def test_a_little_noise_is_no_disguise() -> None:
    found = nearness(people(1), blurred(people(1), 0.02))
    assert found.equal == 0.0
    assert found.ratio is not None
    assert found.ratio < 0.2
    assert found.synthetic.nndr[3] < 0.3 < found.original.nndr[3]


def test_coarse_values_are_equal_by_chance() -> None:
    chance = np.random.default_rng(0)
    coarse, other = (PointRecords(np.zeros((500, 0)), chance.integers(0, 2, (500, 3))) for _ in range(2))
    found = nearness(coarse, other)
    assert found.equal == found.equal_others == 1.0
    assert found.ratio is None
    assert "distances mean nothing" in explain_nearness(found)


def test_too_few_to_compare() -> None:
    with pytest.raises(ValueError, match="three originals"):
        nearness(people(1, 2), people(2))


# -- membership ----------------------------------------------------------------------------------------------------


def test_the_original_as_synthetic_data_betrays_everybody() -> None:
    found = membership(people(1), people(2), synthetic=people(1))
    assert found.auc == 1.0
    assert found.advantage == 1.0
    assert found.found == 1.0
    assert found.auc_low > 0.95
    assert found.advantage_low > 0.9
    assert found.is_better_than_chance
    assert "can tell whether a person is in it better than guessing" in explain_membership(found)


@pytest.mark.parametrize("seed", range(4))
def test_independent_data_betray_nobody(seed: int) -> None:
    found = membership(people(10 + seed), people(20 + seed), synthetic=people(30 + seed))
    assert found.auc_low < 0.5 < found.auc_high
    assert found.auc == pytest.approx(0.5, abs=0.035)  # three standard errors
    assert found.advantage_low == 0.0
    assert found.found < 0.04


def test_a_few_copies_show_at_few_false_alarms() -> None:
    members, own = people(1), people(3)
    rows = np.arange(150)
    mixed = PointRecords(
        np.concatenate([members.numbers[rows], own.numbers]), np.concatenate([members.codes[rows], own.codes])
    )
    found = membership(members, people(2), synthetic=mixed)
    assert found.auc < 0.6
    assert found.found > 0.1
    assert found.is_better_than_chance


def test_auc_and_advantage_by_definition() -> None:
    chance = np.random.default_rng(0)
    near, far = chance.integers(0, 6, 40).astype(float), chance.integers(1, 7, 30).astype(float)
    found = guessing(near, far)
    pairs = near[:, None] - far
    assert found.auc == pytest.approx(((pairs < 0) + 0.5 * (pairs == 0)).mean())
    assert found.advantage == pytest.approx(max((near <= t).mean() - (far <= t).mean() for t in range(8)))
    assert guessing(far, near).auc == pytest.approx(1 - found.auc)


def test_bounds_hold_as_often_as_they_say() -> None:
    """Normal scores one apart: AUC Phi(1/sqrt 2) = 0.7602, advantage 2 Phi(1/2) - 1 = 0.3829."""
    chance, missed = np.random.default_rng(1), 0
    for _ in range(200):
        found = guessing(chance.normal(size=60), 1 + chance.normal(size=90))
        missed += not (found.auc_low <= 0.7602 <= found.auc_high)
        missed += not (found.advantage_low <= 0.3829 <= found.advantage_high)
    assert missed <= 0.05 * 400


def test_false_alarms_of_the_test_are_as_rare_as_said() -> None:
    chance = np.random.default_rng(2)
    alarms = sum(guessing(chance.normal(size=80), chance.normal(size=80)).is_better_than_chance for _ in range(400))
    assert 5 <= alarms <= 36


def test_all_alike_is_guessing() -> None:
    found = guessing(np.zeros(10), np.zeros(20))
    assert (found.auc, found.advantage, found.chance, found.is_better_than_chance) == (0.5, 0.0, 1.0, False)
    with pytest.raises(ValueError, match="members and others"):
        guessing(np.zeros(0), np.zeros(3))
    with pytest.raises(ValueError, match="there are members"):
        membership(people(1, 5), people(1, 0), people(2, 5))


# -- linkage -------------------------------------------------------------------------------------------------------


def clusters(original: PointRecords, k: int) -> Ints:
    """Runs of k along the first number."""
    label = np.empty(len(original), dtype=np.int64)
    label[np.argsort(original.numbers[:, 0])] = np.arange(len(original)) // k
    return label


def redrawn(original: PointRecords, label: Ints, seed: int = 5) -> PointRecords:
    """Normal numbers of each cluster's mean and spread, in the order of the originals."""
    chance, numbers = np.random.default_rng(seed), np.empty_like(original.numbers)
    for one in np.unique(label):
        own = original.numbers[label == one]
        numbers[label == one] = own.mean(axis=0) + own.std(axis=0) * chance.normal(size=own.shape)
    return PointRecords(numbers, original.codes[:, :0])


def test_redrawn_records_lead_to_clusters_and_not_to_persons() -> None:
    original = people(1, 1000)
    original = PointRecords(original.numbers, original.codes[:, :0])
    label = clusters(original, 50)
    found = linkage(original, redrawn(original, label), label, label, same_rows=True)
    assert (found.clusters, found.smallest, found.row_allowed) == (20, 50, 0.02)
    assert found.cluster > 2 * found.cluster_by_chance
    assert found.row is not None
    assert found.row < found.row_allowed


def test_rows_that_follow_their_persons_are_found() -> None:
    original = people(1, 1000)
    label = clusters(original, 50)
    found = linkage(original, blurred(original, 0.01), label, label, same_rows=True)
    assert found.row is not None
    assert found.row > 0.9


def test_centroids_hide_each_among_k() -> None:
    original = people(1, 1000, numbers=1)
    original = PointRecords(original.numbers, original.codes[:, :0])
    label = clusters(original, 20)
    means = np.bincount(label, original.numbers[:, 0]) / np.bincount(label)
    found = linkage(original, PointRecords(means[label][:, None], original.codes), label, label, same_rows=True)
    assert found.row is not None
    assert found.row == pytest.approx(found.cluster / 20)
    assert found.row <= found.row_allowed


def test_clusters_without_common_rows() -> None:
    original, label = people(1, 100), np.repeat([0, 1], 50)
    found = linkage(original, people(2, 60), label, np.repeat([1, 7], 30))
    assert found.row is None
    assert found.cluster_by_chance == pytest.approx(0.25)
    assert found.cluster <= 0.5
    with pytest.raises(ValueError, match="as many"):
        linkage(original, people(2, 60), label, np.repeat([1, 7], 30), same_rows=True)
    with pytest.raises(ValueError, match="one cluster"):
        linkage(original, people(2, 60), label, label)
