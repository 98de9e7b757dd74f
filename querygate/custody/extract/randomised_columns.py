"""One column of randomised records: its cells before and after, by the method of the request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.types import Floats, Ints
from querygate.custody.noisy_models.public_design import PublicColumn, cells_of, drawn_values
from querygate.custody.policy import RandomisedPolicy
from querygate.methods.randomise import (
    distortion,
    distortion_of_spread,
    invariant,
    rank_swapped,
    responses,
    small_domain_matrix,
    small_domains,
    uniform,
)

PARTS, FINE_PARTS = 10, 40
"""Equal parts of a number's domain; more of them where noise carries values to parts nearby."""


@dataclass(frozen=True)
class RandomisedColumn:
    """A column before and after: cells by record, and the matrix that turned them into each other, if one did."""

    public: PublicColumn
    before: Ints
    after: Ints
    matrix: Floats | None
    values: pa.Array
    told: Mapping[str, Any] = field(default_factory=dict)  # what recipients need of the matrix


def randomised_column(
    raw: pa.Table, column: PublicColumn, method: str, wanted: RandomisedPolicy, gamma: float, rng: np.random.Generator
) -> RandomisedColumn:
    """`gamma`: how far this column may amplify."""
    parts = parts_of(column, method)
    before, labels = cells_of(raw, column, parts)
    if method == "rank-swap":
        ranks = np.where(before == len(labels) - 1, -1, text_ranks(raw[column.name], column))
        got = rank_swapped(ranks, wanted.window, rng)
        return RandomisedColumn(
            column, before, before[got], None, raw[column.name].combine_chunks().take(pa.array(got))
        )
    matrix, told = _matrix(before, labels, column, method, wanted, gamma)
    after = responses(before, matrix, rng)
    return RandomisedColumn(column, before, after, matrix, drawn_values(column, after, parts, rng), told)


def _matrix(
    before: Ints, labels: tuple[str, ...], column: PublicColumn, method: str, wanted: RandomisedPolicy, gamma: float
) -> tuple[Floats, dict[str, Any]]:
    """The matrix of the method, and what recipients are told of it."""
    size = len(labels)
    counts = np.bincount(before, minlength=size)
    if method == "pram":
        return invariant(counts / before.size, wanted.kept), {}
    if method == "small-domain":
        groups = small_domains(counts, wanted.rho1, wanted.rho2)
        matrix = small_domain_matrix(counts, groups, wanted.rho1, wanted.rho2)
        told = [
            {"values": [labels[one] for one in group], "kept": _told(matrix[group[0], group[0]])} for group in groups
        ]
        return matrix, {"groups": told}
    if method == "distortion" and column.is_number:
        made = distortion_of_spread(size - 1, wanted.spread, wanted.noise) if wanted.spread else None
        matrix, ratio = made or distortion(size - 1, gamma, wanted.noise)
        return matrix, {"noise": wanted.noise, "ratio": _told(ratio)}
    return uniform(size, gamma), {"kept": _told(gamma / (size - 1 + gamma))}


def _told(number: float) -> float:
    return float(f"{number:.9g}")


def parts_of(column: PublicColumn, method: str) -> int:
    """So few that each has a whole number in it, where numbers are whole."""
    parts = FINE_PARTS if method == "distortion" else PARTS
    whole = column.type in ("integer", "date")
    return min(parts, int(column.high - column.low) + 1) if whole else parts


def text_ranks(raw: pa.ChunkedArray, column: PublicColumn) -> Ints:
    """A rank for each record: that of its number, or of its value among those declared."""
    if not column.is_number:
        return column.places(raw)
    found: Ints = np.unique(np.nan_to_num(column.scaled(raw), nan=2.0), return_inverse=True)[1].reshape(-1)
    return found
