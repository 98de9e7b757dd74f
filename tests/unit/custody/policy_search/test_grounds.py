"""Records and people over a lattice: cells, missing values and Safe Harbor, against counting by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.columns.population import Population, records_of
from querygate.custody.policy import ColumnPolicy
from querygate.custody.policy_search.lattice_study import LatticeStudy, harbor, lay_out
from tests.policies import ZIP, Column, make_policy, quasi

AGE = quasi("integer", (0, 100))
SEX = quasi("category", values=["M", "F", "X"])
BORN = quasi("date", ("1920-05-01", "2019-12-31"))
BMI = quasi("number", (10, 60), grid=10)


def policies_of(**columns: Column) -> tuple[ColumnPolicy, ...]:
    return make_policy("d", columns, k=2).parsed().named("quasi-identifier")


def people(columns: Sequence[ColumnPolicy], counts: Sequence[int] | None = None, **values: Any) -> Population:
    found = records_of(columns, pa.table(values))
    return found if counts is None else Population(found.values, found.texts, np.array(counts))


def drawn(columns: Sequence[ColumnPolicy], rows: int, seed: int, missing: float = 0.1) -> dict[str, pa.Array]:
    chance = np.random.default_rng(seed)
    made = {
        "age": chance.integers(60, 101, rows),
        "sex": chance.choice(["M", "F", "X"], rows, p=[0.5, 0.45, 0.05]),
        "bmi": chance.uniform(10, 60, rows),
        "zip": chance.choice(["37212", "37205", "37011", "03601", "03602", "05901"], rows),
        "born": (chance.integers(-18_000, 18_000, rows)).astype(np.int32),
    }
    arrays = {c.name: pa.array(made[c.name], mask=chance.random(rows) < missing) for c in columns}
    return {name: array.cast(pa.date32()) if name == "born" else array for name, array in arrays.items()}


def by_hand(ground: LatticeStudy, records: Population, others: Population, kept: str) -> tuple[float, float, int]:
    """Average and greatest risk and k-map, record by record: what is told of each is the place of its group."""
    policy = ground.lattice.policy(kept)
    told: list[list[Any]] = [[], []]
    for axis in ground.axes:
        group = [number for number, (a, b) in enumerate(policy.spans(axis.column.name)) for _ in range(a, b)]
        for side, crowd in zip(told, (records, others), strict=True):
            side.append(
                [("missing" if at == axis.size else group[at]) if at >= 0 else None for at in axis.places(crowd)]
            )
    mine, theirs = (list(zip(*side, strict=True)) for side in told)
    held, fits = Counter(mine), Counter[Any]()
    for one, persons in zip(theirs, others.persons.tolist(), strict=True):
        if None not in one:
            fits[one] += persons
    among = [max(held[one], fits[one]) for one in mine]
    return sum(1 / g for g in among) / len(among), max(1 / g for g in among), min(fits[one] for one in mine)


@pytest.mark.parametrize(
    "named",
    [
        {"age": AGE, "sex": SEX},
        {"age": AGE, "sex": SEX, "bmi": BMI},
        {"zip": ZIP, "born": BORN},
        {"age": AGE | {"edges": [65, 90]}, "sex": SEX},
    ],
    ids=["numbers", "a grid", "days", "cells"],
)
def test_figures_are_those_of_counting_by_hand(named: dict[str, Column]) -> None:
    columns = policies_of(**named)
    records, others = (people(columns, **drawn(columns, rows, seed)) for rows, seed in ((120, 1), (900, 2)))
    ground = lay_out(columns, records, others, fixed=True)
    chance = np.random.default_rng(5)
    length = ground.lattice.length
    for kept in ("1" * length, "0" * length, *("".join(chance.choice([*"01"], length)) for _ in range(8))):
        found = ground.study.measure(ground.lattice.policy(kept))
        risk, greatest, k_map = by_hand(ground, records, others, kept)
        assert found.risk == pytest.approx(risk)
        assert (found.greatest, found.k_map, found.records) == (pytest.approx(greatest), k_map, 120)


def test_merging_everything_still_keeps_missing_values_apart() -> None:
    columns = policies_of(age=AGE)
    records = people(columns, age=pa.array([50, None]))
    ground = lay_out(columns, records, people(columns, [100, 50], age=pa.array([51, 50])), fixed=False)
    coarsest = ground.study.measure(ground.lattice.coarsest)
    assert (coarsest.classes, coarsest.unmatched, coarsest.risk) == (2, 1, pytest.approx((1 / 150 + 1) / 2))


def test_cells_follow_from_the_policy_and_never_from_the_records() -> None:
    columns = policies_of(age=AGE, sex=SEX, zip=ZIP, born=BORN, bmi=BMI)
    others = people(columns, **drawn(columns, 300, 3, missing=0))
    ground = lay_out(
        columns[:3], people(columns, **drawn(columns, 40, 4)), others, {"sex": ["X", "M", "F"]}, fixed=False
    )
    assert [axis.told for axis in ground.axes] == ["100 single values", "3 values", "6 values"]
    assert ground.axes[1].attribute.values == ("X", "M", "F")
    assert ground.axes[2].attribute.areas == ("000", "000", "000", "370", "372", "372")
    other = lay_out(columns[3:], people(columns, **drawn(columns, 40, 4)), others, fixed=False)
    assert [axis.told for axis in other.axes] == ["100 years", "5 cells of the grid"]


def test_safe_harbor_on_each_kind_of_column() -> None:
    columns = policies_of(age=AGE, zip=ZIP)
    others = people(columns, **drawn(columns, 2000, 3, missing=0))
    ground = lay_out(columns, people(columns, **drawn(columns, 50, 4)), others, fixed=False)
    policy, does = harbor(ground, 2026)
    assert does == {"age": "age", "zip": "zip3"}
    assert policy.labels("age")[-2:] == ("89", "90+")
    assert policy.labels("zip") == ("000", "370", "372")
    columns = policies_of(born=BORN, city=quasi("category", values=["a", "b"]), sex=SEX)
    values = drawn(columns[:1], 50, 4) | {"city": pa.array(["a"] * 50), "sex": pa.array(["M"] * 50)}
    ground = lay_out(columns, people(columns, **values), people(columns, **values), fixed=False)
    policy, does = harbor(ground, 2026)
    assert does == {"born": "birth year", "city": "drop", "sex": "unchanged"}
    assert policy.labels("born")[:2] == ("1920-1936", "1937")
    assert policy.labels("city") == ("a/b",)
    assert len(policy.labels("sex")) == 3


def test_people_with_other_values_count_for_nothing() -> None:
    columns = policies_of(age=AGE, sex=SEX)
    others = people(columns, [10, 20, 40], age=pa.array([50, 50, 130]), sex=pa.array(["M", "unknown", "M"]))
    ground = lay_out(columns, people(columns, age=pa.array([50]), sex=pa.array(["M"])), others, fixed=False)
    assert (ground.people, ground.outside) == (70, 60)
    assert ground.study.measure(ground.lattice.finest).k_map == 10


@pytest.mark.parametrize(
    ("named", "record", "person", "code", "words"),
    [
        ({"age": AGE}, {"age": [130]}, {"age": [50]}, "QG802", "Column age: 1 record has a value that is not public"),
        ({"sex": SEX}, {"sex": ["secret"]}, {"sex": ["M"]}, "QG802", "Column sex: 1 record has a value"),
        ({"zip": ZIP}, {"zip": ["37212"]}, {"zip": ["37011"]}, "QG802", "Column zip: 1 record has a value"),
        ({"zip": ZIP}, {"zip": ["37212"]}, {"zip": [None]}, "QG801", "neither the policy nor the population says"),
        ({"age": AGE}, {"age": [40]}, {"age": [50]}, "QG802", "Nobody in the population matches any record"),
        ({"age": AGE}, {"age": []}, {"age": [50]}, "QG802", "The source has no records"),
    ],
)
def test_what_cannot_be_laid_out_is_told_without_values(
    named: dict[str, Column], record: dict[str, Any], person: dict[str, Any], code: str, words: str
) -> None:
    columns = policies_of(**named)
    kind = pa.int64() if "age" in record else pa.string()
    records, others = (
        people(columns, **{name: pa.array(values, kind) for name, values in one.items()}) for one in (record, person)
    )
    with pytest.raises(ConfigError) as caught:
        lay_out(columns, records, others, fixed=False)
    assert caught.value.code == code
    assert words in caught.value.detail
    assert caught.value.remedy
    assert not any(str(value) in caught.value.detail for value in ("130", "secret", "37212", "40"))


def test_too_many_combinations_are_refused_with_their_number() -> None:
    columns = policies_of(age=AGE, age2=AGE, age3=AGE, age4=AGE)
    values = {column.name: pa.array([50]) for column in columns}
    with pytest.raises(ConfigError, match="104,060,401 combinations") as caught:
        lay_out(columns, people(columns, **values), people(columns, **values), fixed=False)
    assert caught.value.code == "QG801"
