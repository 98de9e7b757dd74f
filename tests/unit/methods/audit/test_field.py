from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.audit.prime_field import PANEL, PRIME, draw, inverse, multiply, ratios, residues, solve


def test_the_prime_is_one() -> None:
    assert all(PRIME % divisor for divisor in range(2, int(PRIME**0.5) + 1))
    assert PANEL * (PRIME - 1) ** 2 < 2**52


def test_residues_are_exact_as_far_as_a_panel_reaches() -> None:
    values = [0, 1, PRIME - 1, PRIME, PRIME + 1, 2**52, 2**52 - PRIME, -1, -PRIME, -(2**52)]
    expected = [value % PRIME for value in values]
    assert residues(np.array(values, dtype=np.float64)).tolist() == expected


def test_products_equal_those_of_whole_numbers() -> None:
    random = np.random.default_rng(1)
    a, b = draw(random, 7, 3 * PANEL + 5), draw(random, 3 * PANEL + 5, 4)
    exact = a.astype(object).astype(int).dot(b.astype(int).astype(object)) % PRIME
    assert multiply(a, b).astype(int).tolist() == exact.tolist()


def test_an_inverse_times_its_number_is_one() -> None:
    values = np.array([1.0, 2.0, 12345.0, PRIME - 1.0])
    assert [inverse(value) * value % PRIME for value in values] == [1, 1, 1, 1]
    assert (ratios(np.ones(4), values) * values % PRIME).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(("rows", "copies"), [(1, 0), (5, 2), (PANEL, 3), (PANEL + 1, 10), (2 * PANEL + 40, 60)])
def test_a_solution_solves_and_rows_that_depend_on_others_are_dropped(rows: int, copies: int) -> None:
    random = np.random.default_rng(rows)
    matrix = random.integers(0, 2, (rows, 3 * rows)).astype(np.float64)
    matrix[rows - copies :] = matrix[:copies]
    gram = residues((matrix * draw(random, 3 * rows)) @ matrix.T)
    right = multiply(matrix, draw(random, 3 * rows, 3))

    found = solve(gram, right)

    assert np.array_equal(multiply(gram, found.solution), right)
    independent = np.linalg.matrix_rank(matrix)
    assert found.dropped.sum() == rows - independent
