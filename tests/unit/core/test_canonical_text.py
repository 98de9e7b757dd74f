"""Texts of meaning against truth tables: equal exactly where no record can tell two conditions apart."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from typing import Any

import pytest

from querygate.core import decision_diagram as diagram
from querygate.core.canonical_text import MOST_VARIABLES, meaning, told
from querygate.core.expression import Call, Choice, Constant, Expression, Ref
from querygate.core.predicate import (
    FALSE,
    NULL,
    TRUE,
    Atom,
    Predicate,
    both,
    canonical,
    compare,
    comparison,
    either,
    is_not_null,
    is_null,
    is_true,
    negate,
    truth,
)
from querygate.core.types import Column
from querygate.core.valueset import Kind, ValueSet
from tests.work import count_calls

A = Column("a", 0, "public", "integer", False, 1, 3)
S = Column("s", 1, "public", "category", True, values=("", "m", "n"))
X = Column("x", 2, "public", "number", True, -0.5, 2.0)
B = Column("b", 3, "public", "integer", True, 0, 9)
COLUMNS = {column.name: column for column in (A, S, X, B)}
KINDS: dict[str, Kind] = {"a": "integer", "s": "text", "x": "number", "b": "integer"}
AXES: dict[str, list[Any]] = {
    "a": [1, 2, 3],
    "s": [None, "", "m", "n"],
    "x": [None, -0.5, -0.2, 0.0, 0.01, 0.1, 1.9, 2.0],
}
ASKED: dict[str, list[Any]] = {
    "a": [-1, 0, 1, 2, 3, 4, 9],
    "s": ["", "A", "m", "mm", "n", "z"],
    "x": [-9.0, -0.5, 0.0, 0.1, 2.0, 2.5],
}
ROWS = [dict(zip(AXES, row, strict=True)) for row in itertools.product(*AXES.values())]
"""One record for every piece of the domains that ASKED can cut, and NULL where it can be."""


def random_atom(rng: random.Random) -> Predicate:
    name = rng.choice(list(ASKED))
    kind = KINDS[name]
    values = rng.sample(ASKED[name], rng.randint(1, 3))
    sets = [
        ValueSet.points(kind, values),
        ValueSet.below(values[0]),
        ValueSet.at_most(kind, values[0]),
        ValueSet.between(kind, min(values), max(values)),
    ]
    asked = compare(name, rng.choice(sets))
    return rng.choice([asked, negate(asked), asked, is_null(name), is_not_null(name), either([asked, NULL])])


def random_condition(rng: random.Random, depth: int) -> Predicate:
    if depth == 0 or rng.random() < 0.2:
        return random_atom(rng)
    parts = [random_condition(rng, depth - 1) for _ in range(rng.randint(2, 3))]
    made = rng.choice([both, either])(parts)
    return rng.choice([lambda p: p, negate, is_true])(made)


@pytest.mark.parametrize("seed", range(4))
def test_equal_texts_are_equal_truth_tables(seed: int) -> None:
    """Both ways: 1,000 random conditions fall into the same classes by text and by truth."""
    rng = random.Random(seed)
    tables: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    texts: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for _ in range(1_000):
        p = random_condition(rng, rng.randint(0, 3))
        table, text = tuple(truth(p, row) for row in ROWS), meaning(p, COLUMNS)
        tables[text].add(table)
        texts[table].add(text)

    assert len(texts) > 250
    assert max(map(len, tables.values())) == 1
    assert max(map(len, texts.values())) == 1


def test_every_function_of_two_small_columns_has_its_own_text() -> None:
    """All 3 ** 6 functions of a flag that may be missing and a column of two values."""
    small = {"f": Column("f", 0, "public", "boolean", True, values=("false", "true")),
             "g": Column("g", 1, "public", "integer", False, 0, 1)}  # fmt: skip
    records = list(itertools.product([None, "false", "true"], [0, 1]))
    texts = set()
    for outcome in itertools.product([FALSE, NULL, TRUE], repeat=len(records)):
        rows = [both([_is("f", f), _is("g", g), result]) for (f, g), result in zip(records, outcome, strict=True)]
        texts.add(meaning(either(rows), small))

    assert len(texts) == 3 ** len(records)
    assert {"true", "false", "null"} < texts


def _is(name: str, value: Any) -> Predicate:
    if value is None:
        return is_null(name)
    return is_true(compare(name, ValueSet.points("integer" if name == "g" else "text", [value])))


# -- comparisons of expressions --------------------------------------------------------------------------------------

a, x, b = Ref("a", "integer"), Ref("x", "number"), Ref("b", "integer")


def says(p: Predicate) -> str:
    return meaning(p, COLUMNS)


def total(*parts: Expression) -> Call:
    return Call("add", parts, "integer")


def test_three_outcomes_of_a_comparison() -> None:
    less, same, more = (comparison(x, sign, b) for sign in ("<", "=", ">"))

    assert says(either([less, same])) == says(comparison(b, ">=", x))
    assert says(either([less, more])) == says(comparison(x, "<>", b)) == says(negate(same))
    assert says(both([less, more])) != says(FALSE)  # it is NULL where a side is missing
    assert says(is_true(both([less, more]))) == says(FALSE)
    assert len({says(p) for p in (less, same, more, negate(less), is_true(less))}) == 5


def test_a_comparison_knows_that_its_sides_are_there() -> None:
    less = is_true(comparison(x, "<", b))

    assert says(both([less, is_not_null("x")])) == says(less)
    assert says(both([less, is_null("b")])) == "false"
    assert says(is_true(comparison(x, "=", x))) == says(is_not_null("x"))
    assert says(is_true(comparison(a, "<=", a))) == "true"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (comparison(total(a, b), ">", Constant(9, "integer")), comparison(Constant(10, "integer"), "<=", total(b, a))),
        (comparison(total(a, b), ">", Constant(9.5, "number")), comparison(total(a, b), ">=", Constant(10, "integer"))),
        (comparison(x, "<", Constant(1, "integer")), comparison(Constant(1.0, "number"), ">", x)),
    ],
)
def test_boundaries_of_an_expression(one: Predicate, other: Predicate) -> None:
    assert canonical(one) != canonical(other)
    assert says(one) == says(other)


def test_boundaries_that_differ() -> None:
    ends = [Constant(value, "integer") for value in (9, 10, 2**53, 2**53 + 1)]
    asked = [comparison(side, sign, end) for side in (total(a, b), x) for sign in ("<", "<=", "=") for end in ends]

    assert len({says(p) for p in asked}) == len(asked) - 1  # a + b < 10 is a + b <= 9
    assert says(both([asked[0], asked[1]])) == says(asked[0])


# -- values ------------------------------------------------------------------------------------------------------------

HIGH = comparison(x, ">", b)
LOW = compare("a", ValueSet.below(2))
ONE, TWO, GONE = Constant(1, "integer"), Constant(2, "integer"), Constant(None, "null")


def test_a_case_is_told_by_its_values() -> None:
    plain = Choice(((LOW, ONE),), TWO)
    nested = Choice(((LOW, Choice(((LOW, ONE),), GONE)),), Choice(((HIGH, TWO),), TWO))

    assert told(plain, COLUMNS) == told(Choice(((negate(LOW), TWO),), ONE), COLUMNS) == told(nested, COLUMNS)
    assert told(plain, COLUMNS) == told(Choice(((LOW, ONE), (LOW, GONE), (TRUE, TWO)), GONE), COLUMNS)
    assert told(plain, COLUMNS) != told(Choice(((LOW, TWO),), ONE), COLUMNS)
    assert told(Choice(((TRUE, ONE),), TWO), COLUMNS) == told(ONE, COLUMNS)
    assert told(plain, COLUMNS, LOW) == told(ONE, COLUMNS)


def test_not_true_is_not_false_in_a_case() -> None:
    """NULL takes the ELSE: of HIGH and of NOT HIGH."""
    assert told(Choice(((HIGH, ONE),), TWO), COLUMNS) != told(Choice(((negate(HIGH), TWO),), ONE), COLUMNS)


def test_sides_of_a_sum_commute_and_those_of_a_difference_do_not() -> None:
    assert told(total(a, b), COLUMNS) == told(total(b, a), COLUMNS)
    assert told(Call("sub", (a, b)), COLUMNS) != told(Call("sub", (b, a)), COLUMNS)


# -- size ------------------------------------------------------------------------------------------------------------


def test_too_much_is_told_as_it_stands() -> None:
    """Equal pairs of many columns, in the worst order for a diagram: it is given up, and always alike."""
    n = 16
    columns = {
        f"{side}{i}": Column(f"{side}{i}", i, "public", "integer", False, 0, 1) for side in "lr" for i in range(n)
    }
    bit = {name: compare(name, ValueSet.points("integer", [1])) for name in columns}
    same = both(
        either([both([bit[f"l{i}"], bit[f"r{i}"]]), negate(either([bit[f"l{i}"], bit[f"r{i}"]]))]) for i in range(n)
    )
    many = either(
        Atom(f"c{i}", ValueSet.points("integer", [1]), ValueSet.nothing(), "null") for i in range(MOST_VARIABLES + 1)
    )
    wide = {f"c{i}": Column(f"c{i}", i, "public", "integer", True, 0, 1) for i in range(MOST_VARIABLES + 1)}

    for predicate, known in ((same, columns), (many, wide)):
        found, calls = count_calls(lambda predicate=predicate, known=known: meaning(predicate, known))

        assert found == f"normal {canonical(predicate)}"
        assert calls < 500_000


def test_an_ordinary_condition_is_little_work() -> None:
    """Ten conditions on three columns."""
    rng = random.Random(3)
    p = both(either([random_atom(rng), random_atom(rng)]) for _ in range(5))
    text, calls = count_calls(lambda: meaning(p, COLUMNS))

    assert text.startswith("diagram ")
    assert calls < 2_000


def test_a_diagram_has_no_idle_node() -> None:
    d = diagram.Diagrams()
    low = d.node((0, "a"), (5,), (diagram.TRUE, diagram.FALSE))

    assert d.node((0, "a"), (5, 7), (diagram.TRUE, diagram.FALSE, diagram.FALSE)) == low
    assert d.node((0, "b"), (1,), (low, low)) == low
    assert d.node((0, "b"), (), (low,), low) == low
    assert (d.meet([]), d.join([])) == (diagram.TRUE, diagram.FALSE)
