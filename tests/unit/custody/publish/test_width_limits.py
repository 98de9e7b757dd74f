"""Limits: what is said to keep them was made and measured, however widths depend on k."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.custody.policy import StatisticPolicy
from querygate.custody.publish.method_trial import Trial
from querygate.custody.publish.width_limits import WidthLimits, _shown
from querygate.methods.anonymise import Attribute, Table

pytestmark = pytest.mark.usefixtures("compared_methods")

MEAN = StatisticPolicy("mean", ("age",))
LIMITS = WidthLimits(((MEAN, 10.0),))
TABLE = Table(
    (
        Attribute.ordered_by("age", np.arange(100) % 8, np.arange(9.0)),
        Attribute.nominal("sex", np.arange(100) % 2, 2),
    ),
    np.ones(100, dtype=int),
)


def maker(width_of):
    """Partitions whose width is a function of k."""
    made = []

    def make(k, table=TABLE):
        made.append(k)
        width = width_of(k) / (1 if len(table.attributes) == 2 else 4)
        return np.full(1, k), Trial("m", k, 1, 0.0, {"mean(age)": width}, 0.0)

    return make, made


@pytest.mark.parametrize("largest", [5, 6, 9, 10, 11, 37, 100])
def test_the_largest_k_is_found(largest):
    make, made = maker(lambda k: 10.0 if k <= largest else 10.1)
    labels, tried = LIMITS.largest(100, *make(5), make)
    assert (labels[0], tried.k) == (largest, largest)
    assert len(made) < 15


def test_a_gap_does_not_hide_a_larger_k():
    make, _ = maker(lambda k: 11.0 if 10 <= k < 40 else 9.0)
    assert LIMITS.largest(100, *make(5), make)[1].k > 40


def test_excess():
    assert LIMITS.excess(maker(lambda k: 25.0)[0](2)[1]) == 2.5
    assert LIMITS.excess(maker(lambda k: 2.0)[0](2)[1]) == 1.0
    assert WidthLimits(()).excess(maker(lambda k: 99.0)[0](2)[1]) == 1.0


def test_a_refusal_has_the_figures():
    make, _ = maker(lambda k: 1.5 * k)
    error = LIMITS.refusal(TABLE, make(16)[1], make)
    assert error.detail.endswith("mean(age): 24 wide, limit 10.")
    assert error.remedy.splitlines() == [
        "Each of these would be enough, unless it says otherwise:",
        "k = 6.",
        "More records: about 267 of the same spread come near the limits (an estimate).",
        "Without the quasi-identifier sex: mean(age) 6 wide.",
        'max_width = { "mean(age)" = 24 }.',
    ]


def test_a_refusal_where_no_k_would_do():
    make, _ = maker(lambda k: 80.0 + k)
    lines = LIMITS.refusal(TABLE, make(16)[1], make).remedy.splitlines()
    assert lines[1] == "A smaller k alone is not enough: even k = 2 gives mean(age) 82 wide."
    assert lines[2] == "Without the quasi-identifier sex: mean(age) 24 wide (not enough on its own)."


@pytest.mark.parametrize("width", [12.341, 0.00012341, 5.0, 99.95, 1e9 + 1, 3.0000001])
def test_a_shown_width_would_do_as_a_limit(width):
    assert width <= float(_shown(width)) <= 1.02 * width
