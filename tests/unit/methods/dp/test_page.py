"""The tables of the page about noise are what the code computes."""

from __future__ import annotations

import re

from querygate.core.budget_types import Cost
from querygate.methods.dp import MECHANISMS, needed_epsilon, pure
from querygate.methods.dp.accountant import Spent
from querygate.methods.dp.accuracy import within
from tests.places import ROOT

PAGE = (ROOT / "docs/explanation/noise.md").read_text(encoding="utf-8")


def numbers(pattern: str) -> list[list[float]]:
    return [[float(cell.replace(",", "")) for cell in found] for found in re.findall(pattern, PAGE, re.MULTILINE)]


def test_every_mechanism_is_there() -> None:
    assert [name for name in MECHANISMS if f"`{name}`" not in PAGE] == []


def test_how_far_a_number_is_off() -> None:
    table = numbers(r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$")
    assert len(table) == 7
    for epsilon, geometric, gaussian in table:
        assert within(epsilon) == geometric
        assert within(epsilon, delta=1e-6, mechanism="gaussian-discrete") == gaussian


def test_which_epsilon_is_needed() -> None:
    told = [needed_epsilon(distance) for distance in (5, 10, 30, 100)]
    assert "{}, {}, {} or {}".format(*told) in " ".join(PAGE.split())


def filtered(cost: Cost, times: int) -> float:
    total = Spent()
    for _ in range(times):
        total = total.plus(cost)
    return round(total.filtered(1e-6), 2)


def test_what_adds_up() -> None:
    table = numbers(r"^\| ([\d,]+) of epsilon 0.1 \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$")
    assert len(table) == 3
    gaussian = MECHANISMS.get("gaussian-discrete").cost(epsilon=0.1, delta=1e-9)
    for times, added, geometric, concentrated in table:
        assert added == times / 10
        assert (filtered(pure(0.1), int(times)), filtered(gaussian, int(times))) == (geometric, concentrated)
