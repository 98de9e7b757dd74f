"""People who have several rows: every method keeps k of them in a class, and no value that too many of them have."""

from __future__ import annotations

import numpy as np

from querygate.methods.anonymise import ANONYMISERS, Attribute, Infeasible, Table, partition_check
from querygate.methods.anonymise.guards.person_guards import PersonCount, PersonRows, ValueHolders
from tests.each import each

K = 4


def random_rows(seed: int) -> tuple[Table, PersonRows]:
    """Rows of people, some of whom have most of them. Each row is a combination of its own."""
    rng = np.random.default_rng(seed)
    people, rows = int(rng.integers(K, 40)), int(rng.integers(60, 200))
    often = rng.zipf(1.4, people).astype(float)
    person = np.concatenate([np.arange(people), rng.choice(people, rows, p=often / often.sum())])
    age = rng.integers(-1, 30, people)[person] if seed % 2 else rng.integers(-1, 30, person.size)
    ages = Attribute.ordered_by("age", age, np.arange(31.0))
    sex = Attribute.nominal("sex", rng.integers(-1, 2, people)[person], size=2)
    value = rng.choice(4, person.size, p=(0.6, 0.2, 0.15, 0.05)) if seed % 3 else np.zeros_like(person)
    return Table((ages, sex), np.ones_like(person)), PersonRows("dx", np.arange(person.size), person, value)


@each("method", [name for name in ANONYMISERS.names() if name != "univariate"])
@each("seed", range(8))
def test_methods_keep_people_together(method: str, seed: int) -> None:
    table, rows = random_rows(seed)
    guards = [PersonCount(rows, K)] + [ValueHolders(rows, 1, 0.9)] * (seed % 3 > 0)
    run = ANONYMISERS.get(method)
    try:
        labels = run(table, K, guards)
    except Infeasible:
        spared, shares = partition_check.spared_people(np.zeros_like(rows.person), rows.person, rows.value)
        assert spared < 1 or max(shares.values()) > 0.9
        return
    assert partition_check.distinct_values(labels, rows.person) >= K
    if seed % 3:
        spared, shares = partition_check.spared_people(labels, rows.person, rows.value)
        assert spared >= 1
        assert max(shares.values()) <= 0.9


def test_guards_agree_with_the_verifier_class_by_class() -> None:
    for seed in range(40):
        _, rows = random_rows(seed)
        labels = np.random.default_rng(seed).integers(0, 6, rows.person.size)
        labels = np.unique(labels, return_inverse=True)[1]
        every, number = np.arange(labels.size), int(labels.max()) + 1
        enough = PersonCount(rows, K).classes(every, labels, number)
        varied = ValueHolders(rows, 2, 0.7).classes(every, labels, number)
        most = np.resize([0.8, 0.3, 0.2, 0.1], int(rows.value.max()) + 1)
        each_rare = ValueHolders(rows, 0, most).classes(every, labels, number)
        for label in range(number):
            mine = labels == label
            assert enough[label] == (partition_check.distinct_values(labels[mine], rows.person[mine]) >= K)
            spared, shares = partition_check.spared_people(labels[mine], rows.person[mine], rows.value[mine])
            assert varied[label] == (spared >= 2 and max(shares.values()) <= 0.7)
            assert each_rare[label] == all(share <= most[value] for value, share in shares.items())


def test_one_row_each_keeps_what_rows_keep() -> None:
    """With l values of people who have one row, l - 1 do not have the commonest."""
    person, value = np.arange(6), np.array([0, 0, 0, 0, 1, 2])
    assert partition_check.spared_people(np.zeros(6, dtype=np.int64), person, value) == (
        2,
        {0: 4 / 6, 1: 1 / 6, 2: 1 / 6},
    )
