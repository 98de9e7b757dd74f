"""What a person reads is true of the range, whatever its ends, and has no digits that rounding errors made."""

from __future__ import annotations

import math
import random
from decimal import Decimal

import pytest

from querygate.core.range_ends import in_words, on_grid, shown

SIZES = (0.0, 5e-324, 8e-28, 1e-9, 0.004, 0.5, 30.5, 962.0, 24.5009075, 5130.2, 1e9 / 3, 1e17, 1.7e308)


def random_ranges(seed: int, number: int = 3000) -> list[tuple[float, float]]:
    rng = random.Random(seed)
    found = []
    for _ in range(number):
        low = rng.choice(SIZES) * rng.choice([-1, 1]) * rng.choice([1.0, rng.random()])
        width = rng.choice([0.0, rng.choice(SIZES) * rng.random(), abs(low) * 10.0 ** -rng.randint(3, 17)])
        high = rng.choice([low + width, math.nextafter(low, math.inf)])
        if math.isfinite(high):
            found.append((low, high))
    return found


def test_zero_has_no_sign() -> None:
    assert (shown(-0.0, 0.25), in_words(-0.0, 9.0), in_words(-0.0, 0.0)) == (("0", "0.25"), "0 .. 9", "0 exactly")


def test_nobody_reads_the_smallest_double() -> None:
    """A p-value of 0 .. 5e-324 says no more than that it is 0 for all anybody knows. Ends still move outward alone."""
    assert [in_words(0.0, 5e-324), in_words(-3e-310, 4e-305)] == ["0 .. 1e-300", "-1e-300 .. 1e-300"]
    assert [in_words(3e-310, 0.5), in_words(-0.5, -3e-310)] == ["0 .. 0.5", "-0.5 .. 0"]


@pytest.mark.parametrize("seed", range(4))
def test_printed_ends_hold_the_range(seed: int) -> None:
    for low, high in random_ranges(seed):
        first, last = map(float, shown(low, high))
        assert first <= low <= high <= last, (low, high, first, last)


@pytest.mark.parametrize("seed", range(4))
def test_one_number_is_what_every_value_rounds_to(seed: int) -> None:
    """Half a unit of its last digit away at most; and a range that could be told apart in six digits stays a range."""
    single = 0
    for low, high in random_ranges(seed):
        text = in_words(low, high)
        if text.endswith(" exactly"):
            assert float(text.split()[0]) == low == high
        elif text.endswith(" (rounded)"):
            single += 1
            value = Decimal(text.split()[0])
            unit = Decimal(1).scaleb(min(value.as_tuple().exponent, 0))  # trailing zeros are not shown
            assert abs(Decimal(low) - value) <= unit / 2
            assert abs(Decimal(high) - value) <= unit / 2
        else:
            assert " .. " in text
    assert single > 100


@pytest.mark.parametrize("seed", range(2))
def test_an_end_moves_by_less_than_the_width(seed: int) -> None:
    """By a tenth of it at most on either side, or by what no digit worth reading tells."""
    for low, high in random_ranges(seed):
        first, last = map(Decimal, shown(low, high))
        room = max(
            (Decimal(high) - Decimal(low)) / 10, Decimal(1).scaleb(-6) * max(1, abs(Decimal(low) + Decimal(high)))
        )
        assert Decimal(low) - first <= room, (low, high, first)
        assert last - Decimal(high) <= room, (low, high, last)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-8e-28, 5130.2, "-8e-28 .. 5140"),
        (-0.4, 5000.3, "-0.4 .. 5010"),
        (-5130.2, 3e-20, "-5140 .. 3e-20"),
        (30.5, 30.5, "30.5 exactly"),
        (math.nextafter(30.5, 0), math.nextafter(30.5, 99), "30.5 (rounded)"),
        (24.500907, 24.500908, "24.5009 (rounded)"),
        (961.9999999999999, 962.0000000000001, "962 (rounded)"),
        (24.50085 - 1e-9, 24.50085 + 1e-9, "24.50085 (rounded)"),  # at four decimals its ends would part
        (123456789.1, 123456789.1000001, "123456789 (rounded)"),
        (-1e-300, 1e-300, "-1e-300 .. 1e-300"),
        (0.1234567891, math.inf, "0.1234567 .. inf"),
        (3, 5, "3 .. 5"),
        (10**18, 10**18 + 1, "1000000000000000000 .. 1000000000000000001"),
    ],
)
def test_as_it_is_read(low: float, high: float, words: str) -> None:
    assert in_words(low, high) == words


def test_the_grid_of_asked_digits_keeps_every_number_of_so_many_digits() -> None:
    """Whatever double a database makes of n / 10^d lies between the ends that are shown, if it did before."""
    rng = random.Random(4)
    for _ in range(2_000):
        digits, scale = (places := rng.randint(0, 9)), 10**places
        number = rng.randint(-(10 ** rng.randint(1, 15)), 10**15)
        true = number / scale
        low, high = math.nextafter(true, -math.inf), math.nextafter(true, math.inf)
        for below, above in ((true, true), (low, high), (low - abs(low) / 3, high + abs(high) / 7)):
            assert below <= on_grid(below, digits, upwards=True) <= true
            assert true <= on_grid(above, digits, upwards=False) <= above
