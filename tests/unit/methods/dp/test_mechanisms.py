"""What is asked of every mechanism: refusals, intervals, calibration, cost."""

from __future__ import annotations

import math
import random
import secrets
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from querygate.core.budget_types import Cost
from querygate.methods.dp import DEFAULT, MECHANISMS, Mechanism
from querygate.methods.dp.gaussian_scale import _lattice_delta, delta_of, lattice_sigma, sigma_per_unit
from querygate.methods.dp.noise_scale import Gaussian, Laplace
from tests.each import each
from tests.unit.methods.dp import laws
from tests.unit.methods.dp.empirical import sample

every = pytest.mark.parametrize("mechanism", [MECHANISMS.get(name) for name in MECHANISMS], ids=list(MECHANISMS))


def given(mechanism: Mechanism, **other: Any) -> dict[str, Any]:
    """Arguments that it accepts, some replaced."""
    fit: dict[str, Any] = {"sensitivity": 2, "epsilon": 0.5, "delta": 1e-6 if mechanism.approximate else 0.0}
    fit |= {"lower": 0, "upper": 60} if mechanism.bounded else {}
    return fit | {"entropy": random.Random(1)} | other


@every
@each(
    "wrong",
    [
        {"sensitivity": 0},
        {"sensitivity": -1},
        {"sensitivity": math.inf},
        {"sensitivity": math.nan},
        {"epsilon": 0},
        {"epsilon": -0.1},
        {"epsilon": math.nan},
        {"epsilon": math.inf},
        {"delta": -1e-9},
        {"delta": 1.0},
        {"delta": math.nan},
    ],
)
def test_what_cannot_be_kept_is_refused(mechanism: Mechanism, wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        mechanism.release(10, **given(mechanism, **wrong))


@every
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_is_finite(mechanism: Mechanism, value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        mechanism.release(value, **given(mechanism))


@every
def test_whole_numbers_alone_where_that_is_the_proof(mechanism: Mechanism) -> None:
    if not mechanism.whole:
        assert isinstance(mechanism.release(10, **given(mechanism)).value, float)
        return
    assert isinstance(mechanism.release(10.0, **given(mechanism)).value, int)
    with pytest.raises(ValueError, match="whole numbers") as told:
        mechanism.release(31.4, **given(mechanism))
    assert "31.4" not in str(told.value), "a message must not quote the true value"
    with pytest.raises(ValueError, match="sensitivity"):
        mechanism.release(10, **given(mechanism, sensitivity=1.5))


@every
def test_bounds_are_given_where_needed_and_only_there(mechanism: Mechanism) -> None:
    wrong: list[dict[str, Any]] = [{"lower": 0, "upper": 60}]
    if mechanism.bounded:
        wrong = [{"lower": None}, {"upper": None}, {"lower": 60}, {"lower": 70}, {"upper": math.inf}]
    for bounds in wrong:
        with pytest.raises(ValueError, match=r"lower|upper|bounds"):
            mechanism.release(10, **given(mechanism, **bounds))


@every
def test_delta_is_needed_or_not_taken(mechanism: Mechanism) -> None:
    with pytest.raises(ValueError, match="delta"):
        mechanism.release(10, **given(mechanism, delta=0.0 if mechanism.approximate else 1e-6))


@every
@pytest.mark.parametrize("value", [0, 31, 60])
def test_the_interval_covers_the_truth_in_95_of_100(mechanism: Mechanism, value: int) -> None:
    size, arguments = 800, given(mechanism)
    entropy = random.Random(f"{mechanism.name} {value}")
    releases = [mechanism.release(value, **arguments | {"entropy": entropy}) for _ in range(size)]
    covered = sum(one.low95 <= value <= one.high95 for one in releases) / size
    assert covered > 0.95 - 5 * math.sqrt(0.95 * 0.05 / size)
    if not mechanism.bounded:
        assert covered < 0.98, "no wider than need be"
    assert all(one.low95 <= one.value <= one.high95 for one in releases)


@every
def test_half_widths_hold_at_their_level(mechanism: Mechanism) -> None:
    parameters = {key: value for key, value in given(mechanism).items() if key in ("sensitivity", "epsilon", "delta")}
    arguments = given(mechanism) | ({"lower": -1000, "upper": 1000} if mechanism.bounded else {})
    off = np.abs(sample(1_000, mechanism.release, 3, **arguments) - 3)
    for level in (0.5, 0.9, 0.99):
        share = (off <= mechanism.half_width(**parameters, level=level)).mean()
        assert share > level - 5 * math.sqrt(level * (1 - level) / len(off))
    with pytest.raises(ValueError, match="level"):
        mechanism.half_width(**parameters, level=1.0)


@pytest.mark.parametrize("scale", [Fraction(1, 50), Fraction(1, 2), Fraction(10), Fraction(1234, 7)])
def test_reaches_are_the_least(scale: Fraction) -> None:
    for law, cdf in (
        (Laplace(scale), laws.discrete_laplace(0, float(scale))),
        (Gaussian(scale), laws.discrete_gaussian(0, float(scale))),
    ):
        for level in (0.5, 0.95, 0.975):
            reach = law.reach(level)
            ends = np.array([reach, -reach - 1, reach - 1, -reach], dtype=float)
            high, low, less_high, less_low = cdf(ends)
            assert high - low >= level - 1e-9
            assert reach == 0 or less_high - less_low < level + 1e-9


@every
def test_the_same_noise_whatever_the_value(mechanism: Mechanism) -> None:
    """Away from bounds the release of value + 8 is the release of the value, plus 8: noise knows nothing of it."""
    far = {"lower": -1024, "upper": 1024} if mechanism.bounded else {}
    first, second = (mechanism.release(v, **given(mechanism, **far)) for v in (16, 24))
    assert second.value - first.value == pytest.approx(8, abs=1e-9)


def test_bounds_are_kept_and_outside_values_are_clamped() -> None:
    for name in ("geometric-truncated", "geometric-folded", "laplace-truncated", "laplace-folded", "snapping"):
        mechanism, entropy = MECHANISMS.get(name), random.Random(2)
        arguments = {"sensitivity": 1, "epsilon": 0.05, "lower": 3, "upper": 5, "entropy": entropy}
        shown = [mechanism.release(value, **arguments) for value in (-900, 4, 900) for _ in range(50)]
        assert all(3 <= one.low95 <= one.value <= one.high95 <= 5 for one in shown)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-6), (0.1, 1e-9), (1.0, 1e-5), (5.0, 1e-6), (30.0, 1e-9)])
def test_gaussian_noise_is_enough_and_not_much_more(epsilon: float, delta: float) -> None:
    sigma = sigma_per_unit(epsilon, delta)
    assert delta_of(sigma, epsilon) <= delta < delta_of(sigma * 0.9999, epsilon)
    for steps in (1, 3, 12):
        wide = float(lattice_sigma(steps, epsilon, delta))
        assert wide >= steps * sigma * (1 - 1e-15)
        apart = [_lattice_delta(wide, nearer, epsilon) for nearer in range(1, steps + 1)]
        assert apart[-1] == max(apart) <= delta
        assert wide <= steps * sigma * 1.05


def test_delta_on_a_lattice_is_bounded_where_it_is_not_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    added = {steps: _lattice_delta(200.0, steps, 0.3) for steps in (1, 30, 120, 500)}
    monkeypatch.setattr("querygate.methods.dp.gaussian_scale.SUMMED", 100)
    for steps, delta in added.items():
        bound = _lattice_delta(200.0, steps, 0.3)
        assert delta <= bound <= delta + 2e-5


def test_gaussian_parameters_beyond_the_floats_are_refused() -> None:
    for epsilon, delta in ((1e-6, 1e-6), (60.0, 1e-6), (1.0, 1e-16)):
        with pytest.raises(ValueError, match="Gaussian"):
            sigma_per_unit(epsilon, delta)


@every
def test_costs(mechanism: Mechanism) -> None:
    delta = 1e-6 if mechanism.approximate else 0.0
    cost = mechanism.cost(epsilon=0.5, delta=delta)
    assert (cost.epsilon, cost.delta) == (0.5, delta)
    if mechanism.approximate:
        noisy = mechanism.release(0, **given(mechanism, sensitivity=1))
        assert cost.rho >= 1 / (2 * noisy.scale**2) * (1 - 1e-12)
        assert cost.rho < 0.5**2 / 2, "less than if epsilon were kept alone"
    else:
        assert cost == Cost(0.5, 0.0, 0.125)


def test_entropy_of_the_operating_system() -> None:
    mechanism = MECHANISMS.get(DEFAULT)
    shown = {mechanism.release(0, sensitivity=1, epsilon=0.01, entropy=secrets.SystemRandom()).value for _ in range(20)}
    assert len(shown) > 5


def test_a_float_stands_for_its_decimal() -> None:
    """0.1 declared is one tenth spent, though the double is a little more."""
    noisy = MECHANISMS.get("geometric").release(1, sensitivity=1, epsilon=0.1, entropy=random.Random(1))
    assert noisy.scale == 10.0
    thirds = MECHANISMS.get("laplace").release(1, sensitivity=1, epsilon=Fraction(1, 3), entropy=random.Random(1))
    assert thirds.scale == pytest.approx(3)
