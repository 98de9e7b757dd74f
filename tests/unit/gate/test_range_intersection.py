"""Means of several margins: all readings at once, and the same range as all readings one after the other."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from querygate.core.errors import Refusal
from querygate.core.types import Group, Request
from querygate.gate import range_intersection
from querygate.gate.answer import answer
from tests.property.random_cases import RESEARCHER, Case
from tests.property.view_cases import view_case

SEEDS = (900_004, 900_007, 900_016)
STATEMENTS = 8


def statements(case: Case, random_: random.Random) -> list[str]:
    """Means of a sensitive number by groups of a quasi-identifier, with conditions that cut classes."""
    columns = case.opened.store.current("t").catalog.columns
    numbers = [c.name for c in columns if c.role == "sensitive" and c.type in ("integer", "number")]
    cut = [c for c in columns if c.role == "quasi-identifier" and c.type in ("integer", "number")]
    keys = [c.name for c in columns if c.role == "quasi-identifier" and c.type in ("category", "boolean")]
    found = []
    for _ in range(STATEMENTS if numbers else 0):
        where = []
        for column in cut:
            low, high = sorted(random_.uniform(float(column.low), float(column.high)) for _ in range(2))
            where.append(f"{column.name} BETWEEN {low!r} AND {high!r}")
        key = random_.choice([*keys, ""])
        condition = f" WHERE {' AND '.join(where)}" if where else ""
        found.append(
            f"SELECT {key + ', ' if key else ''}AVG({random_.choice(numbers)}) FROM t{condition}"
            + (f" GROUP BY {key}" if key else "")
        )
    return found


def given(case: Case, sql: str) -> tuple[Group, ...] | str:
    try:
        return answer(Request(RESEARCHER, "t", sql), case.opened.gate).groups
    except Refusal as refusal:
        return refusal.code


def ends(groups: tuple[Group, ...] | str) -> list[float]:
    return [
        end for group in groups if not isinstance(group, str) for r in group.ranges for end in (r.low, r.high) if end
    ]


def without_ends(groups: tuple[Group, ...] | str) -> object:
    """All but the numbers: groups and their counts, what is NULL, what is a point, what is sharp."""
    if isinstance(groups, str):
        return groups
    told = [[(r.is_null, r.is_exact, r.sharp, r.may_be_null) for r in group.ranges] for group in groups]
    return [(group.keys, group.count, group.certain) for group in groups], told


def test_the_quick_way_gives_what_all_readings_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for seed in SEEDS:
        case = view_case(seed, tmp_path / str(seed))
        if case is None:
            continue
        asked = statements(case, random.Random(seed))
        quick = [given(case, sql) for sql in asked]
        with monkeypatch.context() as patched:
            patched.setattr(range_intersection, "_means", lambda aggregate, measured: {})
            for slow, groups in zip((given(case, sql) for sql in asked), quick, strict=True):
                assert without_ends(slow) == without_ends(groups)
                assert ends(slow) == pytest.approx(ends(groups), rel=1e-9)
        compared += sum(not isinstance(groups, str) for groups in quick)
    assert compared >= STATEMENTS
