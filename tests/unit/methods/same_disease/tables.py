"""Small populations of every kind of column, with files drawn from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from querygate.core.types import Ints
from querygate.methods.same_disease import Quasi

Table = dict[str, NDArray[Any]]

REGIONS = {"Cairo": ("Africa", "Egypt"), "Giza": ("Africa", "Egypt"), "Lagos": ("Africa", "Nigeria")}
REGIONS |= {"Lima": ("America", "Peru"), "Cusco": ("America", "Peru"), "Quito": ("America", "Ecuador")}
COLUMNS = (
    Quasi("age", "age"),
    Quasi("birth", "birth", on="2020-06-01"),
    Quasi("sex", "category"),
    Quasi("zip", "zip"),
    Quasi("city", "category", above=REGIONS),
)


def people(size: int, seed: int, *, gaps: bool = True) -> Table:
    """Made people; with gaps, one value in ten of some columns is missing."""
    random = np.random.default_rng(seed)
    table: Table = {
        "age": random.integers(20, 100, size).astype(np.float64),
        "birth": random.integers(-15_000, 5_000, size).astype("datetime64[D]"),
        "sex": random.choice(np.array(["F", "M", "X"], dtype=object), size, p=[0.5, 0.45, 0.05]),
        "zip": random.choice(np.array(["37203", "37204", "37212", "38104", "90210"], dtype=object), size),
        "city": random.choice(np.array(list(REGIONS), dtype=object), size),
    }
    if gaps:
        for name, missing in (("age", np.nan), ("birth", np.datetime64("NaT")), ("sex", None), ("city", None)):
            table[name][random.random(size) < 0.1] = missing
    return table


def rows(table: Table, chosen: Ints) -> Table:
    return {name: values[chosen] for name, values in table.items()}


def some(size: int, many: int, seed: int) -> Ints:
    return np.random.default_rng(seed).choice(size, min(many, size), replace=False)


SOME_COLUMNS = st.sets(st.integers(0, len(COLUMNS) - 1), min_size=1).map(
    lambda chosen: tuple(COLUMNS[at] for at in sorted(chosen))
)
SEEDS = st.integers(0, 10_000)
