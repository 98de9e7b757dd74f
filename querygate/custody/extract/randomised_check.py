"""The independent check of randomised records, on what is released.

A single table cannot show the probabilities with which its values were drawn, so two things are checked: the matrices,
entry by entry, and whether the released values agree with them. Swapped columns must contain the same values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from querygate.core.errors import ExtractRefused
from querygate.core.types import Floats, Ints
from querygate.custody.noisy_models.public_design import PublicColumn, cells_of
from querygate.custody.policy import RandomisedPolicy
from querygate.custody.verify.diversity_check import GuaranteeCheck
from querygate.methods.randomise import amplification, certain_width, worst_known_belief, worst_posterior
from querygate.methods.randomise.transition_check import strays

ROOM = 1e-9

Drawn = tuple[PublicColumn, Ints, Ints, Floats | None]


def check_randomised(
    columns: Sequence[Drawn],
    raw: pa.Table,
    table: pa.Table,
    method: str,
    wanted: RandomisedPolicy,
) -> tuple[GuaranteeCheck, ...]:
    """The guarantees as measured; ExtractRefused QG605 if one is broken."""
    if table.num_rows != raw.num_rows:
        raise _broken("it has another number of records")
    if method == "rank-swap":
        for column, *_ in columns:
            if Counter(table[column.name].to_pylist()) != Counter(raw[column.name].to_pylist()):
                raise _broken(f"{column.name} does not hold the values that it had")
        return (GuaranteeCheck("every column keeps its values", "columns with other values", 0.0, True),)
    gamma = 1.0
    for column, before, after, matrix in columns:
        if (_cells(table, column, matrix) != after).any():
            raise _broken(f"values of {column.name} are not in the cells that were drawn")
        if matrix is None or (off := strays(before, after, matrix)):
            raise _broken(f"{column.name} has {off if matrix is not None else 'all'} pairs of values that are off")
        gamma *= amplification(matrix)
    if method == "pram":
        return (GuaranteeCheck("expected counts stay what they are", "columns drawn otherwise", 0.0, True),)
    if method == "small-domain":
        return _small_domains(columns, wanted)
    if method == "distortion" and wanted.spread:
        return (_spread(columns, gamma),)
    found = worst_posterior(gamma, wanted.rho1)
    if not found <= wanted.rho2 + ROOM:
        raise _broken(f"a belief of {wanted.rho1:g} may become one of {found:.4g}")
    promise = f"a belief of at most {wanted.rho1:g} becomes none above {wanted.rho2:g} (amplification {gamma:.4g})"
    return (GuaranteeCheck(promise, "the belief that it may become", found, True),)


def _small_domains(columns: Sequence[Drawn], wanted: RandomisedPolicy) -> tuple[GuaranteeCheck, ...]:
    """Of each column by itself, for who knows how frequent its values are: groups tell what is not in them, so nothing
    holds for every belief."""
    worst = 0.0
    for _, before, _, matrix in columns:
        counts = np.bincount(before, minlength=0 if matrix is None else len(matrix))
        worst = max(worst, 1.0 if matrix is None else worst_known_belief(counts, matrix, wanted.rho1))
    if not worst <= wanted.rho2 + ROOM:
        raise _broken(f"a belief of {wanted.rho1:g} may become one of {worst:.4g}")
    promise = (
        f"who knows the shares of a column's values and nothing else, and believes one with at most {wanted.rho1:g}, "
        f"believes it with at most {wanted.rho2:g} afterwards, of each column by itself"
    )
    return (GuaranteeCheck(promise, "the belief that it may become", worst, True),)


def _spread(columns: Sequence[Drawn], gamma: float) -> GuaranteeCheck:
    """Noise of a chosen spread bounds no belief; what it does is stated in the measure of those who proposed it."""
    numbers = [matrix for column, _, _, matrix in columns if column.is_number and matrix is not None]
    width = min((certain_width(matrix) for matrix in numbers), default=1.0)
    promise = (
        f"with 95 % certainty a number is known to {100 * width:.0f} % of its domain by what leaves; beliefs are not "
        f"bounded (amplification {gamma:.4g})"
    )
    return GuaranteeCheck(promise, "the share of its domain", width, True)


def _cells(table: pa.Table, column: PublicColumn, matrix: Floats | None) -> Ints:
    return cells_of(table, column, 1 if matrix is None else len(matrix) - 1)[0]


def _broken(what: str) -> ExtractRefused:
    return ExtractRefused(
        "QG605",
        f"The extract does not keep its guarantee: {what}.",
        "Nothing was written. Report this fault to the makers of QueryGate.",
    )
