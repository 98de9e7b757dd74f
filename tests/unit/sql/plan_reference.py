"""A plan carried out on exact rows: every record a cell of its own, so that every range must close on the truth.

What the gate makes of published cells is then nothing but the meaning of the statement, and DuckDB's answer on the same
rows says whether it is the right one.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from querygate.core.block import ALL_NULLS, MISSING, Block, BlockColumn, Dictionary, NumberColumn, SetColumn
from querygate.core.plan import Plan
from querygate.core.types import Catalog, Group, Range
from querygate.gate.answer_rows import compute_groups, shown_part
from querygate.gate.order_and_limit import arrange

EPOCH = dt.date(1970, 1, 1)
LOOSE = 1e-6
"""Relative width that rounding may leave of an exact figure: a margin for sums in any order, square roots of it."""


def exact_block(rows: Sequence[Mapping[str, Any]], catalog: Catalog) -> Block:
    """Rows as cells of one record each."""
    columns: dict[str, BlockColumn] = {}
    for column in catalog.columns:
        values = [row[column.name] for row in rows]
        if column.is_numeric:
            kind: Any = np.int64 if column.is_discrete else np.float64
            ends = np.array([0 if value is None else value for value in values], dtype=kind)
            null = np.array([ALL_NULLS if value is None else 0 for value in values], dtype=np.int64)
            columns[column.name] = NumberColumn(ends, ends.copy(), null)
        else:
            place = {value: i for i, value in enumerate(column.values)}
            ids = [MISSING if value is None else place[str(value)] for value in values]
            columns[column.name] = SetColumn(np.array(ids, dtype=np.int64) + 1, Dictionary.singletons(column.values))
    return Block(np.ones(len(rows), dtype=np.int64), columns)


def carry_out(plan: Plan, block: Block) -> list[Group]:
    """The rows of the answer, in order."""
    found = []
    for branch in (plan, *plan.following):
        groups, _ = arrange(tuple(compute_groups(branch, block, lambda: None)), branch)
        found += [shown_part(branch, group) for group in groups]
    return found


def disagreements(plan: Plan, block: Block, given: Sequence[tuple[Any, ...]]) -> list[str]:
    """What in DuckDB's answer is not what the plan says; empty where they agree."""
    kinds = [output.kind for output in plan.outputs[: plan.shown]]
    given = as_told(given, [output.texts for output in plan.outputs[: plan.shown]])
    groups = carry_out(plan, block)
    wrong: list[str] = []
    truths: dict[tuple[Any, ...], list[list[Any]]] = {}
    for row in given:
        key = tuple(as_key(value) for value, kind in zip(row, kinds, strict=True) if kind == "key")
        truths.setdefault(key, []).append([v for v, kind in zip(row, kinds, strict=True) if kind == "range"])
    told = Counter(group.keys for group in groups)
    for key, rows in truths.items():
        if told[key] < len(rows):
            wrong.append(f"group {key!r} is missing")
    if plan.limit is None and sum(told.values()) != len(given):
        wrong.append(f"there are {sum(told.values())} groups, not {len(given)}")
    for group in groups:
        if group.certain and group.keys not in truths and plan.limit is None:
            wrong.append(f"group {group.keys!r} is certain and not there")
        for values in truths.get(group.keys, [])[:1] if told[group.keys] == 1 else ():
            for found, value in zip(group.ranges, values, strict=True):
                wrong += [f"{group.keys!r}: {found} is not {value!r}"] if not closes_on(found, value) else []
    return wrong


def as_told(
    rows: Sequence[tuple[Any, ...]], texts: Sequence[tuple[str, ...]], written: Sequence[int] = ()
) -> list[tuple[Any, ...]]:
    """True rows as an answer has them: lists of quantiles in columns of their own, texts of ranges by their places.

    `written` is how many quantiles each column of the statement asks for: a list may be NULL in every row.
    """
    columns = list(zip(*rows, strict=True))
    sizes = [max((len(v) for v in column if isinstance(v, list)), default=1) for column in columns]
    missing = [i for i, column in enumerate(columns) if all(value is None for value in column)]
    if len(written) == len(columns) and sum(written) == len(texts):
        sizes = list(written)
    elif missing:  # a list that is NULL everywhere; keys, which come first, may be too
        sizes[missing[-1]] += len(texts) - sum(sizes)
    told = []
    for row in rows:
        parts = [(v if isinstance(v, list) else [v] * n) for v, n in zip(row, sizes, strict=True)]
        flat = zip([value for part in parts for value in part], texts, strict=True)
        told.append(tuple(names.index(value) if names and value is not None else value for value, names in flat))
    return told


def agrees(plan: Plan, block: Block, given: Sequence[tuple[Any, ...]]) -> bool:
    wrong = disagreements(plan, block, given)
    assert not wrong, "\n".join(wrong[:10])
    return True


def as_key(value: Any) -> Any:
    """A key as an answer tells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, dt.date):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) and value != int(value) else value


def closes_on(found: Range, value: Any) -> bool:
    """The truth is inside, and nothing much else."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return found.may_be_null
    if isinstance(value, dt.datetime):
        value = value.date()
    if isinstance(value, dt.date):
        value = (value - EPOCH).days
    if found.low is None or found.high is None or not found.low <= value <= found.high:
        return False
    width = Decimal(found.high) - Decimal(found.low) if math.isfinite(found.high - found.low) else Decimal("inf")
    return width <= Decimal(LOOSE) * max(Decimal(1), abs(Decimal(value)))
