"""The tree of noisy marginals: the right tree where noise is small, an answer for any table, and the price it says."""

from __future__ import annotations

import doctest
import math
import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from querygate.methods.dp import marginal_tree
from querygate.methods.dp.accountant import Spent
from querygate.methods.dp.marginal_tree import Price, measure, records

SIZES = (3, 4, 2, 3)


def chain(count: int, seed: int = 1) -> np.ndarray:
    """Each column follows the one before it nine times in ten."""
    chance = np.random.default_rng(seed)
    columns = [chance.integers(0, SIZES[0], count)]
    for size in SIZES[1:]:
        columns.append(np.where(chance.random(count) < 0.9, columns[-1] % size, chance.integers(0, size, count)))
    return np.stack(columns, axis=1)


def best_tree(codes: np.ndarray) -> list[tuple[int, int]]:
    """Kruskal's, by how far each pair is from independence in the table itself."""
    far = {}
    for a, b in combinations(range(len(SIZES)), 2):
        found = np.zeros((SIZES[a], SIZES[b]))
        np.add.at(found, (codes[:, a], codes[:, b]), 1 / len(codes))
        far[a, b] = np.abs(found - np.outer(found.sum(axis=1), found.sum(axis=0))).sum()
    part, chosen = list(range(len(SIZES))), []
    for a, b in sorted(far, key=lambda edge: -far[edge]):
        if part[a] != part[b]:
            chosen.append((a, b))
            part = [part[b] if one == part[a] else one for one in part]
    return sorted(chosen)


def test_the_example_in_the_module() -> None:
    assert doctest.testmod(marginal_tree).failed == 0


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_chain_is_found_and_its_marginals_are_kept(delta: float) -> None:
    codes = chain(5_000)
    tree = measure(codes, SIZES, Price.of(30.0, delta), random.Random(1))
    assert sorted(tree.edges) == best_tree(codes)
    drawn = records(tree, np.random.default_rng(2))
    assert abs(len(drawn) - 5_000) < 30
    for at, size in enumerate(SIZES):
        both = [np.bincount(table[:, at], minlength=size) / len(table) for table in (codes, drawn)]
        assert np.abs(both[0] - both[1]).sum() < 0.06
    for a, b in tree.edges:
        both = [
            np.bincount(t[:, a] * SIZES[b] + t[:, b], minlength=SIZES[a] * SIZES[b]) / len(t) for t in (codes, drawn)
        ]
        assert np.abs(both[0] - both[1]).sum() < 0.1


@pytest.mark.parametrize("rows", [0, 1, 7])
@pytest.mark.parametrize("sizes", [(1,), (2,), (1, 1), (2, 5, 1), (300, 300)])
def test_any_table_has_a_tree_and_records_within_its_sizes(rows: int, sizes: tuple[int, ...]) -> None:
    codes = np.zeros((rows, len(sizes)), dtype=np.int64)
    drawn = records(measure(codes, sizes, Price.of(1.0, 0.0), random.Random(rows)), np.random.default_rng(1))
    assert len(drawn) >= 1
    assert ((drawn >= 0) & (drawn < np.array(sizes))).all()


def test_what_is_no_table() -> None:
    for codes, sizes in (([[3]], (3,)), ([[-1]], (3,)), ([[0]], (1, 1)), ([[0]], ())):
        with pytest.raises(ValueError, match="cod"):
            measure(np.array(codes), sizes, Price.of(1.0, 0.0), random.Random(1))


class Watched:
    """Every draw of noise and every choice, with what it was asked to keep."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.laplace: list[Fraction] = []
        self.gaussian: list[Fraction] = []
        self.choices: list[Fraction] = []
        laplace, gaussian, choose = (
            marginal_tree.discrete_laplace,
            marginal_tree.discrete_gaussian,
            marginal_tree.choose,
        )
        monkeypatch.setattr(marginal_tree, "discrete_laplace", lambda s, e: (self.laplace.append(s), laplace(s, e))[1])
        monkeypatch.setattr(
            marginal_tree, "discrete_gaussian", lambda s, e: (self.gaussian.append(s), gaussian(s, e))[1]
        )
        monkeypatch.setattr(
            marginal_tree,
            "choose",
            lambda scores, **more: (self.choices.append(more["epsilon"]), choose(scores, **more))[1],
        )


def test_without_delta_all_epsilon_adds_up_to_the_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record is in one cell of each of the four singles and three pairs, and is counted in three choices."""
    seen = Watched(monkeypatch)
    measure(chain(200), SIZES, Price.of(0.8, 0.0), random.Random(1))
    scales = set(seen.laplace)
    assert scales == {Fraction(12) / Fraction("0.8"), Fraction(9) / Fraction("0.8")}
    spent = 4 * Fraction("0.8") / 12 + 3 * Fraction("0.8") / 9 + sum(seen.choices)
    assert (len(seen.choices), spent) == (3, Fraction("0.8"))


def test_with_delta_all_rho_keeps_epsilon_and_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rho of Gaussian noise of sensitivity 1 is 1 / (2 sigma²), that of a choice half the square of its epsilon."""
    seen = Watched(monkeypatch)
    price = Price.of(0.8, 1e-6)
    measure(chain(200), SIZES, price, random.Random(1))
    singles, pairs = sorted(set(seen.gaussian), reverse=True)
    rho = 4 / (2 * singles**2) + 3 / (2 * pairs**2) + sum(one**2 / 2 for one in seen.choices)
    assert float(rho) <= price.rho
    assert float(rho) == pytest.approx(price.rho, rel=1e-6)
    assert Spent().plus(price.cost).concentrated(1e-6) <= 0.8
    assert math.isclose(price.rho + 2 * math.sqrt(price.rho * -math.log(1e-6)), 0.8, rel_tol=1e-6)
