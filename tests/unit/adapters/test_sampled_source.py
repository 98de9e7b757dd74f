"""A sample has whole persons, the same each time, and reads no column that nobody asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import pyarrow as pa
import pytest

from querygate_adapters.sources.sampled_source import SampledSource


class Rows:
    """A table as a source, that notes what is read of it."""

    def __init__(self, table: pa.Table) -> None:
        self.table, self.read = table, list[tuple[str, ...]]()

    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        self.read.append(tuple(columns))
        return self.table.select(list(columns)).to_reader(7)

    def reading(self) -> AbstractContextManager[None]:
        return nullcontext()


def visits(order: Sequence[int]) -> pa.Table:
    """Person n has n visits, up to nine; ids with leading zeros and beyond ASCII."""
    rows = [(f"0{n}ü", n * 10 + visit) for n in range(1, 10) for visit in range(n)]
    return pa.table({"id": [rows[i][0] for i in order], "x": [rows[i][1] for i in order], "name": ["secret"] * 45})


def sampled(source: SampledSource, *columns: str) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in source.batches(columns).read_all().to_pylist()]


@pytest.mark.parametrize("most", [1, 10, 20, 44])
def test_persons_are_drawn_whole_and_in_any_order_of_rows_the_same(most: int) -> None:
    source = SampledSource(Rows(visits(range(45))), most, "id")
    found = sampled(source, "id", "x")
    assert Counter(person for person, _ in found) == {person: int(str(person)[1]) for person in {p for p, _ in found}}
    assert (source.records, source.used) == (45, len(found))
    assert 0 < len(found) <= max(most, 9)
    again = SampledSource(Rows(visits(range(44, -1, -1))), most, "id")
    assert sorted(sampled(again, "id", "x")) == sorted(found)


def test_without_persons_rows_are_drawn_and_a_small_table_is_whole() -> None:
    few = SampledSource(Rows(visits(range(45))), 20)
    assert (few.records, few.used, len(set(sampled(few, "x")))) == (45, 20, 20)
    assert sampled(few, "x") == sampled(SampledSource(Rows(visits(range(45))), 20), "x")
    assert len(sampled(SampledSource(Rows(visits(range(45))), 45, "id"), "x")) == 45


def test_what_is_withheld_is_not_read_and_what_was_read_is_not_read_again() -> None:
    rows = Rows(visits(range(45)))
    source = SampledSource(rows, 10, "id")
    both = sampled(source, "x", "id")
    assert sampled(source, "x") == [(x,) for x, _ in both]
    assert [set(columns) for columns in rows.read] == [{"id"}, {"x", "id"}]


def test_rows_of_nobody_stay_so_that_they_are_refused() -> None:
    table = pa.table({"id": [*"aabbcc", None], "x": range(7)})
    assert (None, 6) in sampled(SampledSource(Rows(table), 3, "id"), "id", "x")


def test_an_empty_table_has_an_empty_sample() -> None:
    source = SampledSource(Rows(visits(range(45)).slice(0, 0)), 10, "id")
    assert (source.records, source.used, sampled(source, "x")) == (0, 0, [])
