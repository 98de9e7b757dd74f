"""Puts questions to a version as a researcher would, but without a log, since only the custodian asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Protocol, TypeAlias

from querygate.core.errors import Refusal
from querygate.core.ports import Limits, Native, PublishedVersion
from querygate.core.types import Group, Range, Scalar
from querygate.custody.workload.standing_workload import Question
from querygate.custody.workload.usable_share import Figure, relative_width, usable
from querygate.gate.answer_rows import answer_groups
from querygate.gate.plan_cells import fetch_sheets
from querygate.sql import understand

LIMITS = Limits(timeout_s=60.0)

Ranges: TypeAlias = "Mapping[tuple[Scalar, ...], Range]"
"""The range of one statistic by the keys of its groups."""


class RawRows(Protocol):
    """The raw rows, for the true answers to questions."""

    def truth(self, kind: str, columns: Sequence[str]) -> float | None: ...

    def by_group(self, dataset: str, sql: str) -> Mapping[tuple[Scalar, ...], float | None]:
        """The statistic of a statement about the dataset, by its keys."""


def ask_version(sql: str, release: PublishedVersion, native: Native) -> list[Group] | None:
    """The groups of an answer; None where it is refused."""
    try:
        plan = understand(sql, release.catalog, native, LIMITS)
        return answer_groups(plan, fetch_sheets(plan, release, LIMITS), lambda: None)
    except Refusal:
        return None


def asked_figures(
    questions: Iterable[Question], dataset: str, answer: Callable[[Question], Ranges | None], rows: RawRows
) -> Iterator[Figure]:
    """A figure for each group of each question that holds somebody in truth."""

    @cache
    def sizes(sql: str) -> dict[tuple[Scalar, ...], int]:
        held = {keys: int(size) for keys, size in rows.by_group(dataset, sql).items() if size}
        return dict(
            sorted(held.items(), key=repr)
        )  # engines return groups in any order, but a preview must be repeatable

    @cache
    def deviation(column: str) -> float | None:
        return rows.truth("sd", [column])

    for question in questions:
        held = sizes(question.records)
        ranges = answer(question) if held else None
        spread = deviation(question.columns[0]) if question.kind in ("mean", "median", "sd") else None
        for keys, size in held.items():
            found = None if ranges is None else ranges.get(keys)
            about = (question.kind, found, size, spread)
            yield Figure(question, usable(*about), relative_width(*about), size)


def ranges_of(question: Question, release: PublishedVersion, native: Native) -> Ranges | None:
    """The version's ranges for a question."""
    groups = ask_version(question.sql, release, native)
    return None if groups is None else {group.keys: group.ranges[0] for group in groups}
