"""The check catches what was planted, measures count by hand, and the examples say what happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

from querygate.methods import sequences
from querygate.methods.sequences import DNALA, METHODS, explain_kept, generalised, measure, of_texts, refined, verify
from tests.places import ROOT
from tests.unit.methods.sequences.alignments import anything, family, opuntia, released, woodmouse

PAGE = ROOT / "docs" / "explanation" / "sequences.md"
BEFORE = ["AACA", "GACA", "TT-T", "TTGT"]
AFTER = ["RACA", "RACA", "TT?T", "TT?T"]


def test_a_good_release_holds() -> None:
    found = verify(BEFORE, AFTER, 2)
    assert found.holds
    assert (found.smallest, found.exposed, found.uncovered, found.reshaped) == (2, 0, 0, 0)


@pytest.mark.parametrize(
    ("after", "k", "exposed", "uncovered", "first", "reshaped"),
    [
        (["RACA", "AACA", "TT?T", "TT?T"], 2, 2, 1, (2, 1), 0),  # one was left as another was
        (["YACA", "YACA", "TT?T", "TT?T"], 2, 0, 2, (1, 1), 0),  # a letter that does not cover
        (["RACA", "RACA", "TTNT", "TTNT"], 2, 0, 1, (3, 3), 0),  # N is no gap
        (["RACA", "RACA", "TT-T", "TT-T"], 2, 0, 1, (4, 3), 0),
        (AFTER, 3, 4, 0, None, 0),  # pairs are not threes
        (["RACA", "RACA", "TT?", "TT?"], 2, 0, 0, None, 2),
        (["RACA", "RACA"], 2, 0, 0, None, 2),
        (["XACA", "XACA", "TT?T", "TT?T"], 2, 0, 2, (1, 1), 0),
        (["ΩACA", "ΩACA", "TT?T", "TT?T"], 2, 0, 2, (1, 1), 0),
        (["raca", "raca", "TT?T", "TT?T"], 2, 0, 8, (1, 1), 0),  # small letters are not written
    ],
)
def test_planted_faults(
    after: list[str], k: int, exposed: int, uncovered: int, first: tuple[int, int] | None, reshaped: int
) -> None:
    found = verify(BEFORE, after, k)
    assert not found.holds
    assert (found.exposed, found.uncovered, found.first_uncovered, found.reshaped) == (
        exposed,
        uncovered,
        first,
        reshaped,
    )


def test_published_n_may_be_a_gap() -> None:
    assert verify(["A-", "AC"], ["AN", "AN"], 2, n_may_be_gap=True).holds
    assert not verify(["A-", "AC"], ["AN", "AN"], 2).holds


def test_no_single_letter_can_be_changed_unseen() -> None:
    alignment = anything(6, 25, 9)
    made = released(alignment, refined(alignment, 3), 3).alignment.texts()
    for place, site in np.ndindex(6, 25):
        changed = [list(text) for text in made]
        changed[place][site] = "A" if changed[place][site] != "A" else "C"
        assert not verify(alignment.texts(), ["".join(text) for text in changed], 3).holds


@pytest.mark.parametrize("method", METHODS.names())
@pytest.mark.parametrize("alignment", [woodmouse(), opuntia(), opuntia(DNALA)], ids=["mouse", "opuntia", "published"])
def test_methods(method: str, alignment: sequences.Alignment) -> None:
    way = METHODS.get(method)
    labels = way.run(alignment, 2, 2) if way.kind == "bins" else way.run(alignment, 2)
    made = released(alignment, labels)
    assert made.kept.k >= 2
    assert made.kept.greatest_risk <= 0.5
    assert made.kept.steps == sequences.loss(alignment, labels)
    assert made.alignment.sequences == alignment.sequences


def test_measures_by_hand() -> None:
    before = of_texts(BEFORE)
    kept = measure(before, generalised(before, np.array([0, 0, 1, 1])))
    # R for A and G: a step each. ? for - and G: one step from the gap, four from G.
    assert kept.steps == 2 + 1 + 4
    assert kept.symbols_intact == 12 / 16
    assert kept.sites_intact == 0.5
    assert kept.bits_before == 0
    assert kept.bits_after == pytest.approx((2 * 1 + 2 * np.log2(5)) / 16)
    assert (kept.classes, kept.k, kept.greatest_risk, kept.average_risk, kept.in_pairs) == (2, 2, 0.5, 0.5, 4)


def test_threes_have_no_single_twin() -> None:
    nine = family(9, 60, 2)
    kept = released(nine, refined(nine, 3), 3).kept
    assert kept.in_pairs == 0
    assert "twin" not in explain_kept(kept)


def test_groups_that_become_alike_are_one_class() -> None:
    alignment = of_texts(["AC", "CA", "AC", "CA"])
    made = generalised(alignment, np.array([0, 0, 1, 1]))
    assert measure(alignment, made).classes == 1


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="as many"):
        measure(of_texts(["AC"]), of_texts(["A"]))


@pytest.mark.parametrize("name", ["", *(f".{module.name}" for module in pkgutil.iter_modules(sequences.__path__))])
def test_examples_of_a_module(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"querygate.methods.sequences{name}")).failed == 0


def test_examples_of_the_page() -> None:
    tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried.failed == 0
    assert tried.attempted > 3


def test_everything_public_is_there() -> None:
    assert all(hasattr(sequences, name) for name in sequences.__all__)
