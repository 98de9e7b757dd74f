"""Agreement in distribution with diffprivlib, and the reasons why its samplers are not the product's.

Its calibration and its laws are right; how it draws from them in floats is what docs/decisions tells of.
"""

from __future__ import annotations

import importlib
import random
from typing import Any

import pytest
from scipy.stats import ks_2samp

from querygate.methods.dp import MECHANISMS
from querygate.methods.dp.gaussian_scale import sigma_per_unit
from tests.unit.methods.dp.empirical import FAILURE, sample

theirs: Any = importlib.import_module("diffprivlib.mechanisms")

BOUNDS = {"lower": 0, "upper": 12}
PAIRS = [
    ("geometric", "Geometric", {}),
    ("geometric-truncated", "GeometricTruncated", BOUNDS),
    ("geometric-folded", "GeometricFolded", BOUNDS),
    ("laplace", "Laplace", {}),
    ("laplace-truncated", "LaplaceTruncated", BOUNDS),
    ("laplace-folded", "LaplaceFolded", BOUNDS),
    ("gaussian-analytic", "GaussianAnalytic", {}),
    ("gaussian-discrete", "GaussianDiscrete", {}),
]


@pytest.mark.parametrize(("ours", "name", "bounds"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_the_same_law(ours: str, name: str, bounds: dict[str, int]) -> None:
    mechanism, size = MECHANISMS.get(ours), 1_000
    given: dict[str, Any] = {"sensitivity": 2, "epsilon": 0.5} | ({"delta": 1e-3} if mechanism.approximate else {})
    other = getattr(theirs, name)(**given, **bounds, random_state=5)
    first = sample(size, mechanism.release, 4, **given, **bounds, entropy=random.Random(5))
    assert ks_2samp(first, sample(size, other.randomise, 4)).pvalue > FAILURE


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-6), (1.0, 1e-5), (5.0, 1e-6)])
def test_the_same_calibration(epsilon: float, delta: float) -> None:
    sigma = theirs.GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=1)._scale
    assert sigma_per_unit(epsilon, delta) == pytest.approx(sigma, rel=1e-5)


class Drawn(random.Random):
    """A source whose next random float is known."""

    def __init__(self, number: float) -> None:
        super().__init__()
        self.number = number

    def random(self) -> float:
        return self.number


def test_why_its_samplers_are_not_used() -> None:
    geometric = theirs.Geometric(epsilon=1.0)
    geometric._rng = Drawn(0.5 + 2**-53)  # the float next to the middle: nothing is further out
    assert geometric.randomise(0) == 36, "noise beyond 36 is impossible, so a count of 37 proves that it is not 0"
    geometric = theirs.Geometric(epsilon=0.1)
    geometric._rng = Drawn(0.3)
    assert geometric.randomise(2**60 + 1) - (2**60 + 1) != geometric.randomise(0), "large values swallow noise"
    folded = theirs.GeometricFolded(epsilon=1e-4, lower=0, upper=1)
    folded._rng = Drawn(0.5000001)
    with pytest.raises(RecursionError):
        folded.randomise(0)
    laplace = theirs.Laplace(epsilon=0.1, sensitivity=1, random_state=1)
    fine = [sum((laplace.randomise(value) * 2.0**53) % 1 != 0 for _ in range(3_000)) for value in (0.0, 1.0)]
    assert fine[0] > 10
    assert fine[1] == 0, "some numbers are shown for 0 and never for 1"
