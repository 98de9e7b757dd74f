"""Which margins answer an aggregate: those of its unit, of the views that have its quasi-identifiers, or of all."""

from __future__ import annotations

import pytest

from querygate.core.errors import UnsupportedSQL
from querygate.core.margin_choice import MarginChoice, choose_margins
from querygate.core.types import Catalog, Column, Margin
from querygate.sql import understand
from tests.sql.study import NATIVE

UNITS = ((), ("sbp",), ("ill", "drug"))
VIEWS = (("age", "sex"), ("age", "race"), ("age", "sex", "town"))
CATALOG = Catalog(
    "t", 1, "", 5, 100,
    (
        Column("age", 0, "quasi-identifier", "integer", False, 0, 120),
        *(Column(name, 1 + i, "quasi-identifier", "category", True, values=("a", "b"))
          for i, name in enumerate(("sex", "race", "town"))),
        Column("sbp", 4, "sensitive", "integer", True, 40, 300, moments="rounded"),
        Column("ill", 5, "sensitive", "boolean", True, values=("false", "true")),
        Column("drug", 6, "sensitive", "category", True, values=("x", "y")),
    ),
    margins=tuple(Margin(view, quasi, unit) for view, quasi in enumerate(VIEWS) for unit in UNITS),
)  # fmt: skip


NOT_LINKED = (
    "SELECT ill, AVG(sbp) FROM t GROUP BY ill",
    "SELECT COUNT_IF(sbp > 3) FROM t WHERE drug = 'x'",
    "SELECT SUM(CASE WHEN ill THEN sbp END) FROM t",
    "SELECT COUNT(*) FROM t HAVING CORR(sbp, ill::INT) > 0",
    "SELECT SUM(sbp) / COUNT_IF(ill) FROM t WHERE age > 3 AND drug IS NULL",
)


def chosen(sql: str) -> tuple[MarginChoice, ...]:
    return choose_margins(understand(sql, CATALOG, NATIVE), CATALOG)


def margins(sql: str) -> list[tuple[str, ...]]:
    """Quasi-identifiers and unit of every margin of the last aggregate."""
    return [(*CATALOG.margins[i].quasi, *CATALOG.margins[i].sensitive) for i in chosen(sql)[-1].margins]


def test_counts_are_read_from_counts() -> None:
    assert margins("SELECT COUNT(*) FROM t") == [("age", "sex"), ("age", "race"), ("age", "sex", "town")]
    assert margins("SELECT sex, AVG(age) FROM t GROUP BY sex") == [("age", "sex"), ("age", "sex", "town")]


def test_the_counts_and_the_other_views_of_the_unit_are_around() -> None:
    choice = chosen("SELECT AVG(sbp) FROM t WHERE town = 'a'")[-1]
    around = [CATALOG.margins[i] for i in choice.around]
    assert [margin.sensitive for margin in around] == [("sbp",), ("sbp",), ()]
    assert chosen("SELECT COUNT(*) FROM t WHERE town = 'a'")[0].around == ()


def test_a_view_must_have_all_quasi_identifiers_if_one_has() -> None:
    assert margins("SELECT AVG(sbp) FROM t WHERE town = 'a'") == [("age", "sex", "town", "sbp")]
    assert len(margins("SELECT AVG(sbp) FROM t WHERE town = 'a' AND race = 'a'")) == 3


def test_keys_conditions_and_filters_count() -> None:
    linked = ("age", "sex", "ill", "drug")
    assert margins("SELECT ill, COUNT(*) FILTER (WHERE drug = 'x') FROM t WHERE sex = 'a' GROUP BY ill")[0] == linked
    for sql in NOT_LINKED:
        with pytest.raises(UnsupportedSQL, match="together"):
            understand(sql, CATALOG, NATIVE)


@pytest.mark.parametrize(
    ("sql", "told", "linked"),
    [
        ("SELECT COUNT_IF(sbp > 3) FROM t WHERE drug = 'x'", "sbp and drug together",
         'linked = [["sbp", "ill", "drug"]], in place of ["ill", "drug"].'),
        ("SELECT ill, AVG(sbp), COUNT_IF(drug = 'x' AND sbp > 3) FROM t GROUP BY ill", "sbp, ill and drug together",
         'linked = [["sbp", "ill", "drug"]], in place of ["ill", "drug"].'),
    ],
)  # fmt: skip
def test_a_refusal_names_the_whole_group_to_link(sql: str, told: str, linked: str) -> None:
    """A column is linked in one group only, so the group that there is becomes larger; and all that is needed is told
    at once."""
    with pytest.raises(UnsupportedSQL, match=told) as refused:
        understand(sql, CATALOG, NATIVE)
    assert linked in refused.value.remedy


def test_aggregates_of_one_choice_share_it_and_nothing_else() -> None:
    first, *others = chosen("SELECT sex, AVG(sbp), COUNT(*), MAX(sbp), COUNT_IF(ill) FROM t GROUP BY sex")
    assert first.places == (1,)
    assert [choice.places for choice in others] == [(0, 2), (3,)]
    for choice in (first, *others):
        plan = choice.plan
        assert len(plan.aggregates) == len(choice.places)
        assert {m for a in plan.aggregates for m in a.measures} | {0} == set(range(len(plan.measures)))
        assert plan.columns <= CATALOG.margins[choice.margins[0]].columns


def test_comparisons_take_their_sides_along() -> None:
    plan = chosen("SELECT COUNT(*), MEAN_DIFF(sbp, sex = 'a') FROM t")[-1].plan
    assert [len(plan.measures[m].values) for m in sorted(plan.aggregates[0].measures)] == [1, 1, 1]


def test_the_innermost_query_is_what_is_read() -> None:
    assert margins("SELECT AVG(m) FROM (SELECT sex, MAX(sbp) AS m FROM t GROUP BY sex) s")[0] == ("age", "sex", "sbp")


def test_a_column_that_no_view_tells_of_is_refused() -> None:
    catalog = Catalog("t", 1, "", 5, 100, CATALOG.columns, margins=CATALOG.margins[:2])
    with pytest.raises(UnsupportedSQL, match="No view covers race"):
        understand("SELECT COUNT(*) FROM t WHERE race = 'a'", catalog, NATIVE)
