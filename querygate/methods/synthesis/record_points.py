"""Records as points: what each variable becomes for the computation.

- A number is standardised. Where it is missing its mean stands in, and a second feature (0 or 1) says so; a column that
  is missing throughout has no features.
- A category becomes one dummy per value that occurs, a missing one being a value of its own. The dummies of a variable
  are scaled together so that its total variance is 1 like that of a number: neither many values nor rare ones give a
  variable more say. Two values need one dummy, a single one none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.synthesis.microdata import MOST_CELLS, Microdata, Uncondensable, Variable


@dataclass(frozen=True)
class FeatureBlock:
    """The features of one variable: columns start..stop-1 of the matrix.

    Of a number the first is (value - centre) / scale and the second, where values are missing, says which are. Of a
    category they are dummies of `levels`.
    """

    variable: Variable
    start: int
    stop: int
    centre: float = 0.0
    scale: float = 1.0
    levels: tuple[int, ...] = ()

    def of(self, matrix: Floats) -> Floats:
        return matrix[:, self.start : self.stop]

    def numbers(self, matrix: Floats) -> Floats:
        """A number in its own units."""
        return matrix[:, self.start] * self.scale + self.centre if self.stop > self.start else self._unknown(matrix)

    def scores(self, matrix: Floats) -> Floats:
        """How much each record leans to each level of a category."""
        features = self.of(matrix)
        return np.hstack([-features, features]) if len(self.levels) == 2 else features

    def _unknown(self, matrix: Floats) -> Floats:
        return np.full(len(matrix), np.nan)


@dataclass(frozen=True)
class EncodedMicrodata:
    """Features of all records, and which variable each belongs to."""

    matrix: Floats
    blocks: tuple[FeatureBlock, ...]

    def weighted(self, weights: dict[str, float]) -> Floats:
        """The matrix scaled so that its squared distances weigh variables as told; others are left out.

        Records that do not differ in anything are all at one place of a line.
        """
        factors = np.zeros(self.matrix.shape[1])
        for block in self.blocks:
            factors[block.start : block.stop] = np.sqrt(weights.get(block.variable.name, 0.0))
        kept = factors > 0
        return self.matrix[:, kept] * factors[kept] if kept.any() else np.zeros((len(self.matrix), 1))


def encode(data: Microdata) -> EncodedMicrodata:
    """The records as a matrix of features.

    >>> sex = Variable("sex", "category", size=3)
    >>> encode(Microdata((sex,), {"sex": np.array([0, 1, 1, 0])})).matrix.ravel()
    array([0., 2., 2., 0.])
    """
    blocks, parts, start = [], [], 0
    _check_size(data)
    for variable in data.variables:
        make = _number if variable.is_number else _category
        block, features = make(variable, data.columns[variable.name], start)
        blocks.append(block)
        parts.append(features)
        start = block.stop
    return EncodedMicrodata(np.hstack(parts), tuple(blocks))


def _number(variable: Variable, column: Floats | Ints, start: int) -> tuple[FeatureBlock, Floats]:
    values = column.astype(np.float64)
    missing: Bools = np.isnan(values)
    known = values[~missing]
    if not known.size:
        return FeatureBlock(variable, start, start), np.empty((values.size, 0))
    constant = known.min() == known.max()
    centre = float(known[0] if constant else known.mean())
    scale = 1.0 if constant else _deviation(known - centre)
    features = [np.where(missing, 0.0, (values - centre) / scale)]
    if missing.any():
        features.append(missing.astype(np.float64))
    return FeatureBlock(variable, start, start + len(features), centre, scale), np.column_stack(features)


def _deviation(away: Floats) -> float:
    """Root of the mean square, by parts of the largest: squares of very small numbers would be 0."""
    largest = float(np.abs(away).max())
    return largest * float(np.sqrt(np.square(away / largest).mean()))


def _category(variable: Variable, column: Floats | Ints, start: int) -> tuple[FeatureBlock, Floats]:
    levels, codes = np.unique(column, return_inverse=True)
    wanted = np.arange(levels.size) if levels.size > 2 else np.arange(1, levels.size)
    dummies = (codes[:, None] == wanted).astype(np.float64)
    shares = np.bincount(codes) / codes.size
    spread = 1.0 - float(shares @ shares)  # the sum of the dummies' variances
    if levels.size == 2:
        spread /= 2
    scaled = dummies / np.sqrt(spread) if levels.size > 1 else dummies
    return FeatureBlock(variable, start, start + wanted.size, levels=tuple(levels.tolist())), scaled


def _check_size(data: Microdata) -> None:
    sizes = {v.name: 2 if v.is_number else np.unique(data.columns[v.name]).size for v in data.variables}
    if sum(sizes.values()) * data.records > MOST_CELLS:
        widest = max(sizes, key=lambda name: sizes[name])
        raise Uncondensable(
            f"There are too many records and values to compute with; {widest} has {sizes[widest]:,} distinct values.",
            "Leave out columns with many values, or merge values.",
        )
