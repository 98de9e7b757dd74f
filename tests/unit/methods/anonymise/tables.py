"""Random small tables. Spans are powers of two, so that losses are exact and equal ones are really equal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from querygate.methods.anonymise import Attribute, NumericHull, Sensitive, Table

SIZES = (2, 4, 8, 16)


def random_table(seed: int, *, nulls: bool = True, cuts: bool = True, rows: int | None = None) -> Table:
    rng = np.random.default_rng(seed)
    rows = rows or int(rng.integers(4, 60))
    columns = [_random_attribute(rng, i, rows, nulls=nulls, cuts=cuts) for i in range(int(rng.integers(1, 5)))]
    codes, counts = np.unique(np.stack([a.codes for a in columns], axis=1), axis=0, return_counts=True)
    attributes = tuple(replace(a, codes=codes[:, i].copy()) for i, a in enumerate(columns))
    return Table(attributes, counts * rng.integers(1, 3, counts.size))


def _random_attribute(rng: np.random.Generator, index: int, rows: int, *, nulls: bool, cuts: bool) -> Attribute:
    size = int(rng.choice(SIZES))
    codes = np.minimum(rng.geometric(2 / size, rows) - 1, size - 1)
    if nulls and rng.random() < 0.5:
        codes[rng.random(rows) < 0.2] = -1
    weight = float(rng.choice([1, 2, 4]))
    if rng.random() < 0.5:
        return Attribute.nominal(f"c{index}", codes, size, weight)
    public = tuple(sorted(set(rng.integers(1, size, 2).tolist()))) if cuts and rng.random() < 0.6 else ()
    return Attribute.ordered_by(f"n{index}", codes, np.arange(size + 1.0), public, weight)


def random_number(seed: int, *, nulls: bool = True, cuts: bool = True, rows: int | None = None) -> Table:
    """A table with one number as its only quasi-identifier."""
    rng = np.random.default_rng(seed)
    size = 64
    codes = np.minimum(rng.geometric(0.05, rows or int(rng.integers(4, 60))) - 1, size - 1)
    if nulls and rng.random() < 0.5:
        codes[rng.random(codes.size) < 0.1] = -1
    public = tuple(sorted(set(rng.integers(1, size, 2).tolist()))) if cuts and rng.random() < 0.6 else ()
    values, counts = np.unique(codes, return_counts=True)
    return Table((Attribute.ordered_by("age", values, np.arange(size + 1.0), public),), counts)


def by_record(table: Table) -> Table:
    """The same table with one row for each record."""
    each = np.repeat(np.arange(table.combinations), table.counts)
    return Table(tuple(replace(a, codes=a.codes[each]) for a in table.attributes), np.ones(each.size, dtype=np.int64))


def random_sensitive(seed: int, table: Table, size: int = 4) -> Sensitive:
    """One value per record, some values rarer than others."""
    rng = np.random.default_rng(seed)
    combination = np.repeat(np.arange(table.combinations), table.counts)
    value = np.minimum(rng.geometric(0.5, combination.size) - 1, size - 1)
    pairs, count = np.unique(np.stack([combination, value], axis=1), axis=0, return_counts=True)
    return Sensitive("disease", pairs[:, 0].copy(), pairs[:, 1].copy(), count, size)


def random_hull(seed: int, table: Table, least_width: float = 10.0) -> tuple[NumericHull, dict[str, np.ndarray]]:
    """Per combination the extremes of a raw number with missing values, and its bins of width 10 (missing: -1)."""
    rng = np.random.default_rng(seed)
    combination = np.repeat(np.arange(table.combinations), table.counts)
    value = np.round(rng.normal(120, 12, combination.size))
    value[rng.random(value.size) < 0.1] = np.nan
    groups = np.split(value, np.cumsum(table.counts)[:-1])
    bins = [np.where(np.isnan(g), -1, np.nan_to_num(g) // 10).astype(int) for g in groups]
    data = {
        "low": np.array([np.fmin.reduce(g) for g in groups]),
        "high": np.array([np.fmax.reduce(g) for g in groups]),
        "low_bin": np.array([b.min() for b in bins]),
        "high_bin": np.array([b.max() for b in bins]),
    }
    raw = {"combination": combination, "value": value, "bin": np.concatenate(bins)}
    return NumericHull("sbp", **data, least_width=least_width), data | raw
