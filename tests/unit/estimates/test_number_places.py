"""The share of a normal distribution below a value is that which scipy has, in the middle and far outside."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from querygate.estimates.number_places import normal_share


def test_the_normal_share_is_that_of_scipy() -> None:
    x = np.concatenate([np.linspace(-45, 45, 9001), [-np.inf, np.inf, 0.0, -0.0, 5e-324, 1e300]])
    assert np.abs(normal_share(x) - ndtr(x)).max() < 1e-15
    outside = np.linspace(-30, -3, 901)
    assert np.abs(normal_share(outside) / ndtr(outside) - 1).max() < 1e-8
