"""t-plausibility: enough texts could have been the original, at the least cost, against trying all choices."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from querygate.methods.notes import TermHierarchy, explain_plausible, generalise_column
from querygate.methods.notes.plausibility import Unreachable, generalise_terms
from tests.each import each
from tests.seeds import seeds

TREE = TermHierarchy(
    [
        *((leaf, "infection") for leaf in ("flu", "measles", "whooping cough")),
        *((leaf, "lung disease") for leaf in ("asthma", "COPD")),
        *((leaf, "disease") for leaf in ("infection", "lung disease", "gout")),
    ]
)


def test_the_least_general_choice_that_is_enough() -> None:
    assert generalise_terms("Flu and asthma.", TREE, 2).text == "Flu and lung disease."
    assert generalise_terms("Flu and asthma.", TREE, 3).text == "infection and asthma."
    assert generalise_terms("Flu and asthma.", TREE, 6).text == "infection and lung disease."
    made = generalise_terms("Flu and asthma.", TREE, 36)
    assert (made.text, made.texts, made.replaced) == ("disease and disease.", 36, 2)
    assert generalise_terms("Flu and asthma.", TREE, 1).text == "Flu and asthma."


def test_terms_of_several_words_in_any_case_and_alike_everywhere() -> None:
    made = generalise_terms("WHOOPING-cough; whooping cough again", TREE, 3)
    assert made.text == "infection; infection again"
    assert made.texts == 3


def test_refused_when_out_of_reach() -> None:
    with pytest.raises(Unreachable, match="at most 6 texts") as caught:
        generalise_terms("Had flu.", TREE, 7)
    assert "flu" not in str(caught.value)
    column = generalise_column(["Had flu.", "Flu, asthma.", "Nothing.", None], TREE, 7)
    assert column.notes[0] is None
    assert column.notes[2:] == ("Nothing.", None)
    assert (column.changed, column.withheld) == (1, 1)
    assert explain_plausible(column).startswith("Each of 3 notes could have been at least 7 different texts")


@each("seed", seeds(25))
def test_as_good_as_trying_everything(seed: int) -> None:
    draw = random.Random(seed)
    rows = [(f"n{i}x", f"n{draw.randrange(i)}x") for i in range(1, draw.randrange(6, 25))]
    tree = TermHierarchy(rows)
    terms = draw.sample(sorted({term for term, _ in rows}), min(len(rows), draw.randrange(1, 5)))
    choices = [tree.choices(term) for term in sorted(terms)]
    products = [
        (
            sum(math.log2(n / options[0][1]) for (_, n), options in zip(pick, choices, strict=True)),
            math.prod(n for _, n in pick),
        )
        for pick in itertools.product(*choices)
    ]
    for t in (1, 2, 3, 5, 8, 20, 100):
        enough = [bits for bits, product in products if product >= t]
        if not enough:
            with pytest.raises(Unreachable):
                generalise_terms(" and ".join(terms), tree, t)
        else:
            made = generalise_terms(" and ".join(terms), tree, t)
            assert made.texts >= t
            assert made.bits == pytest.approx(min(enough))


@pytest.mark.parametrize(
    "rows", [[("a1", "b1"), ("b1", "a1")], [("a1", "b1"), ("a1", "c1")], [("a1", "")], [("a1", "A1")]]
)
def test_wrong_hierarchies_are_refused(rows: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError, match="hierarchy"):
        TermHierarchy(rows)


def test_t_is_positive() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        generalise_terms("flu", TREE, 0)
