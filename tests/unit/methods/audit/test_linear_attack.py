from __future__ import annotations

import numpy as np

from querygate.core.types import Bools
from querygate.methods.audit.linear_attack import known, null_vectors, split, tied, zero
from querygate.methods.audit.shortest_proof import combine, is_combination
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.audit.exact import atoms, known_exactly


def some_sets(seed: int) -> Bools:
    random = np.random.default_rng(seed)
    shape = random.integers(1, 10, 2)
    return np.asarray(random.random(shape) < random.choice([0.3, 0.5, 0.7]))


@each("seed", seeds(100))
def test_what_is_known_is_what_fractions_say(seed: int) -> None:
    sets = some_sets(seed)
    assert known(sets, seed).tolist() == known_exactly(sets).tolist()


@each("seed", seeds(80))
def test_there_is_a_proof_for_what_is_known_and_for_nothing_else(seed: int) -> None:
    _, sets = atoms(some_sets(seed))
    for atom, is_known in enumerate(known_exactly(sets)):
        target = (np.arange(sets.shape[1]) == atom).astype(np.int64)
        found = combine(sets, target)
        assert (found is not None) == is_known
        assert found is None or is_combination(sets, found, target)


def test_tied_atoms_are_found() -> None:
    sets = np.array([[1, 1, 0, 0, 1], [1, 1, 1, 0, 1], [0, 0, 1, 1, 1], [0, 0, 1, 0, 0]], dtype=np.bool_)
    probes = null_vectors(sets, 3)
    assert zero(probes).tolist() == [False, False, True, False, False]
    assert tied(probes) == [(3, 4)]  # the third set less the fourth is their sum


def test_a_hidden_system_without_two_close_sets_is_solved() -> None:
    """Ten people, sets of five or more that differ by four or more; together they fix everybody."""
    random = np.random.default_rng(11)
    sets: list[Bools] = []
    while len(sets) < 14:
        row = random.random(10) < 0.55
        if row.sum() >= 5 and all((row ^ other).sum() >= 4 for other in sets):
            sets.append(row)
        elif random.random() < 0.01:
            sets.clear()
    assert known(np.array(sets)).all()


def test_parts_of_atoms_keep_their_places() -> None:
    label = split(np.zeros(4, dtype=np.int64), np.array([1, 1, 0, 0], dtype=np.bool_))
    assert (label[0] == label[1], label[2] == label[3], label[0] != label[2]) == (True, True, True)
    assert np.array_equal(split(label, np.array([1, 1, 0, 0], dtype=np.bool_)), label)
