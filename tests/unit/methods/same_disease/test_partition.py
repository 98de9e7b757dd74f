"""What is published holds the records, matches the people it is told to, and depends on nothing but the tables."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from querygate.methods.same_disease import Nodes, Quasi, Rules, Study, ValueSpan, partition, tightened
from querygate.methods.same_disease.part_tree import EQUAL
from tests.seeds import cases
from tests.unit.methods.same_disease.independent_check import check_partition
from tests.unit.methods.same_disease.tables import COLUMNS, SEEDS, SOME_COLUMNS, people, rows, some


@settings(max_examples=cases(40))
@given(SOME_COLUMNS, SEEDS, st.integers(1, 200), st.integers(0, 40), st.integers(1, 50))
def test_an_independent_count_finds_no_fault(
    columns: tuple[Quasi, ...], seed: int, size: int, many: int, classes: int
) -> None:
    population = people(size, seed)
    file = rows(population, some(size, many, seed + 1))
    made = partition(Study.of(columns, population, file), classes)
    checked = check_partition(columns, population, file, made)
    assert (checked.faults, checked.overlapping) == ((), 0)
    assert sum(part.records for part in made.parts) == len(made.part_of) == min(many, size)
    assert made.risk.classes <= classes


@settings(max_examples=cases(40))
@given(SOME_COLUMNS, SEEDS, st.integers(1, 30))
def test_a_file_that_is_no_part_of_the_population(columns: tuple[Quasi, ...], seed: int, many: int) -> None:
    population, file = people(40, seed), people(many, seed + 1)
    made = partition(Study.of(columns, population, file))
    checked = check_partition(columns, population, file, made)
    assert (checked.faults, checked.overlapping) == ((), 0)


@settings(max_examples=cases(25))
@given(SEEDS, st.integers(1, 4), st.integers(1, 40), st.floats(0.2, 1.0))
def test_every_part_keeps_to_the_rules(seed: int, min_records: int, min_people: int, limit: float) -> None:
    population = people(200, seed)
    study = Study.within(COLUMNS, population, some(200, 25, seed))
    made = partition(study, None, Rules(min_records, min_people, limit))
    for part in made.parts:
        assert part.records >= min_records
        assert part.people >= min_people
        assert part.records <= limit * part.people


@settings(max_examples=cases(20))
@given(SEEDS)
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    population = people(120, seed)
    file = rows(population, some(120, 20, seed))
    order = np.random.default_rng(seed + 7)
    first, second = order.permutation(120), order.permutation(20)
    made = partition(Study.of(COLUMNS, population, file), 12)
    again = partition(Study.of(COLUMNS, rows(population, first), rows(file, second)), 12)
    assert made.parts == again.parts
    assert made.part_of[second].tolist() == again.part_of.tolist()


@settings(max_examples=cases(20))
@given(SEEDS, st.integers(2, 30))
def test_fewer_classes_have_no_greater_average(seed: int, many: int) -> None:
    population = people(150, seed)
    study = Study.within(COLUMNS, population, some(150, many, seed))
    made = [partition(study, classes).risk for classes in sorted({many, many // 2 or 1, 3, 2, 1}, reverse=True)]
    for finer, coarser in itertools.pairwise(made):
        assert coarser.average_instance <= finer.average_instance + 1e-12
        assert coarser.classes <= finer.classes
    assert made[-1].average_instance == pytest.approx(study.prevalence)


@settings(max_examples=cases(20))
@given(SEEDS, st.integers(1, 40))
def test_all_records_that_differ_can_be_told_apart(seed: int, many: int) -> None:
    columns = (Quasi("sex", "category"), Quasi("zip", "zip"), Quasi("city", "category", above=COLUMNS[4].above))
    population = people(60, seed)
    file = rows(population, some(60, many, seed))
    different = len(set(zip(*(file[column.name].tolist() for column in columns), strict=True)))
    assert partition(Study.of(columns, population, file)).risk.classes == different


@settings(max_examples=cases(40))
@given(SEEDS, st.integers(4, 14), st.integers(2, 6))
def test_the_first_split_is_the_best_of_all(seed: int, size: int, many: int) -> None:
    """Against every cut of every column, tried one after the other. Cuts are equal within a part of a blind one."""
    random = np.random.default_rng(seed)
    population = {"a": random.integers(0, 6, size), "b": random.integers(0, 4, size)}
    columns = (Quasi("a", "number"), Quasi("b", "number"))
    chosen = np.zeros(size, dtype=np.bool_)
    chosen[some(size, many, seed)] = True
    made = partition(Study.within(columns, population, chosen), 2)
    sides = [values <= cut for values in population.values() for cut in np.unique(values)[:-1]]
    sums = [
        sum(chosen[side].sum() ** 2 / side.sum() for side in (left, ~left))
        for left in sides
        if chosen[left].any() and chosen[~left].any()
    ]
    assert made.risk.classes == (2 if sums else 1)
    blind = chosen.sum() / size
    assert made.risk.average_instance * chosen.sum() <= min(sums, default=np.inf) + EQUAL * blind + 1e-9


@settings(max_examples=cases(25))
@given(SOME_COLUMNS, SEEDS, st.integers(1, 30), st.integers(1, 20))
def test_rows_that_stand_for_several_are_as_if_written_out(
    columns: tuple[Quasi, ...], seed: int, many: int, classes: int
) -> None:
    population, file = people(50, seed), people(many, seed + 1)
    persons = np.random.default_rng(seed).integers(0, 5, 50)
    written_out = rows(population, np.repeat(np.arange(50), persons))
    study = Study.of(columns, population, file, persons)
    made, again = partition(study, classes), partition(Study.of(columns, written_out, file), classes)
    assert (made.parts, made.part_of.tolist(), made.risk) == (again.parts, again.part_of.tolist(), again.risk)
    assert (made.loss.tolist(), study.people) == (again.loss.tolist(), int(persons.sum()))
    checked = check_partition(columns, population, file, made, persons)
    assert (checked.faults, checked.overlapping) == ((), 0)
    assert checked == check_partition(columns, written_out, file, again)
    if persons.sum() > 50:
        assert check_partition(columns, population, file, made).faults


def test_common_values_stay_as_detailed_as_they_are() -> None:
    zips = ["37203", "37204", "37212", "38104"]
    population = {"zip": np.repeat(zips, 6), "sex": np.tile(["F", "F", "M"], 8), "age": np.tile([52, 55, 57], 8)}
    columns = (Quasi("zip", "zip"), Quasi("sex", "category"), Quasi("age", "age"))
    one = partition(Study.within(columns, rows(population, np.arange(6)), np.array([0])))
    assert one.parts[0].cells == (Nodes(((2, "37203"),)), Nodes(((0, "F"), (0, "M"))), ValueSpan(52.0, 57.0))
    assert one.published() == {"zip": ["37203"], "sex": ["F, M"], "age": ["52 to 57"]}
    all_of_them = partition(Study.within(columns[:1], population, np.array([0])))
    assert all_of_them.parts[0].cells == (Nodes(((0, "372"), (2, "38104"))),)  # 381 has but one


def test_areas_are_cut_between_before_inside() -> None:
    population = {"zip": np.repeat(["37203", "37204", "38104", "38105"], 10)}
    made = partition(Study.within((Quasi("zip", "zip"),), population, np.array([0, 10, 20, 30])), 2)
    assert [str(part.cells[0]) for part in made.parts] == ["3720", "3810"]


def test_missing_values_are_published_as_missing() -> None:
    population = {"age": np.array([30.0, np.nan, 40.0]), "city": np.array([None, "Lima", None], dtype=object)}
    columns = (Quasi("age", "age"), Quasi("city", "category"))
    made = partition(Study.within(columns, population, np.array([1])))
    assert made.published() == {"age": ["30 to 40 or missing"], "city": ["Lima, missing"]}
    alone = partition(Study.of(columns[:1], rows(population, np.array([1])), {"age": np.array([np.nan])}))
    assert alone.published() == {"age": ["missing"]}


def test_an_empty_file_has_no_parts() -> None:
    population = people(20, 1)
    assert partition(Study.within(COLUMNS, population, np.zeros(20, dtype=np.bool_))).parts == ()


def test_a_tightened_partition_has_as_many_classes_and_no_greater_maximum() -> None:
    population = people(3_000, 3, gaps=False)
    study = Study.within(COLUMNS[1:4], population, some(3_000, 150, 4))
    loose, tight = partition(study, 80), tightened(study, 80)
    assert tight.risk.classes >= 80
    assert tight.risk.greatest_instance < loose.risk.greatest_instance
    assert tight.risk.average_instance <= 1.02 * loose.risk.average_instance


def test_no_part_is_made_larger_than_wanted() -> None:
    population = people(600, 8, gaps=False)
    study = Study.within(COLUMNS[:3], population, np.flatnonzero(population["age"] > 70))
    free, bound = partition(study, 40).risk, partition(study, 40, Rules(max_records=10)).risk
    assert free.largest > 10 >= bound.largest
    assert bound.classes >= free.classes == 40
    assert bound.average_instance >= free.average_instance


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"min_records": 0}, "at least one record"),
        ({"limit": 1.5}, "limit between"),
        ({"limit": 0.2}, "25.00 % of the population"),
        ({"min_records": 6}, "fewer than a part must have"),
        ({"min_people": 21}, "fewer than must match"),
    ],
)
def test_rules_that_cannot_be_kept_are_refused(rules: dict[str, float], told: str) -> None:
    study = Study.within(COLUMNS, people(20, 1), np.arange(5))
    with pytest.raises(ValueError, match=told):
        partition(study, None, Rules(**rules))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "quasi",
    [
        lambda: Quasi("born", "birth"),
        lambda: Quasi("age", "age", above={"1": ("a",)}),
        lambda: Quasi("city", "category", above={"Lima": ("Peru",), "Quito": ()}),
        lambda: Quasi("city", "category", above={"Lima": ("Peru", "Coast"), "Quito": ("Ecuador", "Coast")}),
    ],
)
def test_columns_that_make_no_sense_are_refused(quasi: object) -> None:
    with pytest.raises(ValueError, match=r"born|age|city"):
        quasi()  # type: ignore[operator]


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="as many rows"):
        Study.of(COLUMNS[:2], {**people(5, 1), "age": np.ones(4)}, people(2, 1))
    for persons in (np.ones(4, dtype=np.int64), np.array([1, 1, 1, 1, -1])):
        with pytest.raises(ValueError, match="a number of people for each row"):
            Study.of(COLUMNS[:2], people(5, 1), people(2, 1), persons)
    with pytest.raises(ValueError, match="not in the hierarchy"):
        Study.of(COLUMNS[4:], {"city": np.array(["Rome"])}, {"city": np.array(["Rome"])})


def test_the_check_finds_what_is_wrong() -> None:
    population = people(200, 5)
    file = rows(population, some(200, 20, 6))
    made = partition(Study.of(COLUMNS, population, file), 8)
    first, rest = made.parts[0], made.parts[1:]
    narrow = replace(first, cells=(ValueSpan(0.0, 1.0), *first.cells[1:]))
    for wrong, told in (
        (replace(made, parts=(narrow, *rest)), "does not have"),
        (replace(made, parts=(replace(first, people=first.people + 1), *rest)), "people match"),
        (replace(made, parts=(replace(first, records=9), *rest)), "records and not 9"),
        (replace(made, part_of=np.zeros(20, dtype=np.int64)), "has no record"),
        (replace(made, part_of=made.part_of[:-1]), "not every record"),
        (replace(made, risk=replace(made.risk, average_instance=0.0)), "not those told"),
    ):
        assert any(told in fault for fault in check_partition(COLUMNS, population, file, wrong).faults)
