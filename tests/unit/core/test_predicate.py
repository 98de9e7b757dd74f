"""Conditions against DuckDB's three-valued logic, and the normal form against what it promises."""

from __future__ import annotations

import atexit
import functools
import itertools
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from querygate.core.predicate import (
    FALSE,
    NULL,
    TRUE,
    And,
    Atom,
    Const,
    Or,
    Predicate,
    both,
    canonical,
    columns,
    compare,
    either,
    is_not_null,
    is_null,
    is_true,
    negate,
    truth,
)
from querygate.core.valueset import ValueSet, kind_of
from tests.engine import scratch
from tests.seeds import cases
from tests.work import count_calls

TYPES = {"a": "integer", "x": "number", "s": "category"}
VALUES: dict[str, list[Any]] = {"a": [0, 1, 2, 3], "x": [-0.5, 0.1, 2.0], "s": ["", "m", "n"]}
ROWS = [dict(zip(VALUES, row, strict=True)) for row in itertools.product(*([None, *v] for v in VALUES.values()))]
OPERATORS = ["=", "<>", "<", "<=", ">", ">="]
Said = tuple[str, Predicate]  # a condition in SQL, and as the product builds it


@functools.cache
def table() -> duckdb.DuckDBPyConnection:
    connection = scratch()
    connection.execute("CREATE TABLE t (n INTEGER, a BIGINT, x DOUBLE, s VARCHAR)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [[n, *row.values()] for n, row in enumerate(ROWS)])
    return connection


atexit.register(table.cache_clear)


def as_sql(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else f"{value!r}::DOUBLE" if isinstance(value, float) else str(value)


def _compared(name: str, operator: str, value: Any) -> Said:
    kind = kind_of(TYPES[name])
    sets = {
        "=": ValueSet.points(kind, [value]),
        "<>": ~ValueSet.points(kind, [value]),
        "<": ValueSet.below(value),
        "<=": ValueSet.at_most(kind, value),
        ">": ~ValueSet.at_most(kind, value),
        ">=": ~ValueSet.below(value),
    }
    return f"{name} {operator} {as_sql(value)}", compare(name, sets[operator])


def atoms() -> st.SearchStrategy[Said]:
    name = st.sampled_from(list(TYPES))
    compared = name.flatmap(
        lambda n: st.builds(_compared, st.just(n), st.sampled_from(OPERATORS), st.sampled_from(VALUES[n]))
    )
    return st.one_of(
        compared,
        name.map(lambda n: (f"{n} IS NULL", is_null(n))),
        name.map(lambda n: (f"{n} IS NOT NULL", is_not_null(n))),
        st.sampled_from([("TRUE", TRUE), ("FALSE", FALSE), ("NULL::BOOLEAN", NULL)]),
    )


def conditions() -> st.SearchStrategy[Said]:
    return st.recursive(
        atoms(),
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(
                lambda said: ("(" + " AND ".join(f"({sql})" for sql, _ in said) + ")", both(p for _, p in said))
            ),
            st.lists(inner, min_size=1, max_size=3).map(
                lambda said: ("(" + " OR ".join(f"({sql})" for sql, _ in said) + ")", either(p for _, p in said))
            ),
            inner.map(lambda said: (f"NOT ({said[0]})", negate(said[1]))),
            inner.map(lambda said: (f"({said[0]}) IS TRUE", is_true(said[1]))),
            inner.map(lambda said: (f"({said[0]}) IS NOT FALSE", negate(is_true(negate(said[1]))))),
        ),
        max_leaves=10,
    )


def truths(p: Predicate) -> list[str]:
    return [truth(p, row) for row in ROWS]


# -- meaning -------------------------------------------------------------------------------------------------------


@settings(max_examples=cases(150))
@given(conditions())
def test_it_is_true_false_and_null_where_duckdb_says_so(said: Said) -> None:
    sql, built = said
    found = table().execute(f"SELECT COALESCE(CAST(({sql}) AS VARCHAR), 'null') FROM t ORDER BY n").fetchall()

    assert truths(built) == [row[0] for row in found]


@settings(max_examples=cases(100))
@given(conditions())
def test_the_parts_of_an_atom_do_not_meet(said: Said) -> None:
    for part in flat(said[1]):
        if isinstance(part, Atom):
            assert (part.true & part.false).is_empty


# -- normal form ---------------------------------------------------------------------------------------------------


def flat(p: Predicate) -> list[Predicate]:
    return [p, *(inner for part in p.parts for inner in flat(part))] if isinstance(p, (And, Or)) else [p]


@settings(max_examples=cases(100))
@given(conditions())
def test_a_column_is_in_one_atom_of_each_and_and_or(said: Said) -> None:
    """What makes count bounds sharp."""
    for node in flat(said[1]):
        if isinstance(node, (And, Or)):
            named = [part.column for part in node.parts if isinstance(part, Atom)]
            assert len(named) == len(set(named))
            assert len(node.parts) > 1
            assert not any(isinstance(part, type(node)) for part in node.parts)
            assert list(node.parts) == sorted(node.parts, key=canonical)


@settings(max_examples=cases(100))
@given(st.lists(conditions(), min_size=1, max_size=4), st.randoms())
def test_order_repetition_and_brackets_do_not_matter(said: list[Said], rng: Any) -> None:
    parts = [p for _, p in said]
    mixed = [*parts, rng.choice(parts)]
    rng.shuffle(mixed)

    for build in (both, either):
        assert build(mixed) == build(parts)
        assert build([build(parts[:1]), build(parts[1:])]) == build(parts)
        assert canonical(build(mixed)) == canonical(build(parts))


@settings(max_examples=cases(100))
@given(conditions())
def test_twice_not_is_nothing_and_is_true_settles(said: Said) -> None:
    p = said[1]

    assert negate(negate(both([p]))) == both([p])
    assert is_true(is_true(p)) == is_true(p)
    assert "null" not in truths(is_true(p))


@pytest.mark.parametrize("name", TYPES)
def test_on_one_column_equal_meaning_is_equal_form(name: str) -> None:
    """Over the values of the rows and one beyond and between them each, all that these conditions can tell apart."""
    around = {"a": range(-1, 5), "x": [-9.0, -0.5, 0.0, 0.1, 1.0, 2.0, 9.0], "s": ["", "\0", "m", "m\0", "n", "n\0"]}
    compared = [_compared(name, operator, value)[1] for operator in OPERATORS for value in VALUES[name]]
    forms: dict[str, str] = {}
    meanings: dict[str, str] = {}
    for said in (both([p]) for p in [*compared, is_null(name), is_not_null(name)]):
        meaning = " ".join(truth(said, {name: value}) for value in [None, *around[name]])
        assert forms.setdefault(meaning, canonical(said)) == canonical(said)
        assert meanings.setdefault(canonical(said), meaning) == meaning


def teens(name: str = "a") -> Atom:
    return compare(name, ValueSet.between("integer", 13, 19))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (teens(), both([compare("a", ~ValueSet.below(13)), compare("a", ValueSet.at_most("integer", 19))])),
        (teens(), negate(either([compare("a", ValueSet.below(13)), compare("a", ~ValueSet.below(20))]))),
        (either([compare("a", ValueSet.points("integer", [n])) for n in range(13, 20)]), teens()),
        (both([teens(), TRUE]), teens()),
        (both([teens(), FALSE, NULL]), FALSE),
        (either([teens(), TRUE, NULL]), TRUE),
        (both([]), TRUE),
        (either([]), FALSE),
        (either([is_null("a"), is_not_null("a")]), TRUE),
        (both([is_null("a"), is_not_null("a")]), FALSE),
        (negate(both([teens("a"), teens("b")])), either([negate(teens("a")), negate(teens("b"))])),
        (is_true(both([teens("a"), NULL])), FALSE),
        (is_true(either([teens("a"), NULL])), is_true(teens("a"))),
        (both([is_true(teens()), is_not_null("a")]), is_true(teens())),
    ],
)
def test_rewordings_have_one_form(left: Predicate, right: Predicate) -> None:
    assert left == right
    assert canonical(left) == canonical(right)


def test_what_differs_has_different_texts() -> None:
    different = [
        teens("a"),
        teens("b"),
        negate(teens("a")),
        is_true(teens("a")),
        compare("a", ValueSet.points("text", ["13"])),
        compare("a", ValueSet.points("integer", [13])),
        both([teens("a"), teens("b")]),
        either([teens("a"), teens("b")]),
        *(Const(t) for t in ("true", "false", "null")),
    ]

    assert len({canonical(p) for p in different}) == len(different)


def test_a_name_cannot_write_the_text_of_another_condition() -> None:
    """Column names come from a custodian's file: quotes and brackets in them stay inside their own name."""
    sly = "a' T+ F- false] [b"
    assert canonical(teens(sly)) != canonical(both([teens("a"), teens("b")]))
    assert repr(sly) in canonical(teens(sly))


def test_columns_are_those_spoken_of() -> None:
    p = both([teens("a"), either([teens("b"), negate(is_null("c"))])])

    assert columns(p) == {"a", "b", "c"}
    assert columns(TRUE) == frozenset()


def test_a_long_list_is_merged_quickly() -> None:
    """3,000 separate values: merging them one after another would make 9 million steps."""
    values = [compare("a", ValueSet.points("integer", [2 * n])) for n in range(3000)]
    p, calls = count_calls(lambda: either(values))

    assert calls < 2_000_000
    assert isinstance(p, Atom)
    assert len(p.true.intervals("integer")) == 3000
