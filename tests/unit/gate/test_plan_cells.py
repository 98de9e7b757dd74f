"""Answers from margins: counts by frame cell, bounds of Fréchet, refusals, and what is called sharp."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from querygate.core.errors import Refusal
from querygate.core.ports import Limits
from querygate.core.types import Group, Range, Request
from querygate.custody.evidence.replay import replay
from querygate.gate.answer import answer, ask
from querygate.gate.answer_rows import answer_groups
from querygate.gate.dry_run import check
from querygate.gate.plan_cells import Sheet, fetch_sheets
from querygate.gate.steps.protect import HURRIED
from querygate.sql import understand
from tests.property.grammar import Writer, fields_of
from tests.property.random_cases import RESEARCHER, Case, violations
from tests.property.view_cases import Design, RawColumn, publish_margins, view_case
from tests.unit.gate.hurried_gate import in_ten_seconds

SEX, RACE, ILL, SBP = "FM", "ab", ("no", "yes"), [100, 110, 120, 130, 140, 150]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """120 people in two decades; the view of sex and the view of race are exact in one decade each, and coarse in the
    other. Of the third decade only the view of sex tells of sbp."""
    rng = random.Random(4)
    rows = 180
    age = [20 + 10 * (i % 3) + rng.randrange(10) for i in range(rows)]
    sex, race = ([rng.choice(letters) for _ in range(rows)] for letters in (SEX * 3 + "F", RACE + "a" * 6))
    sbp = [rng.randrange(100, 150) for _ in range(rows)]
    ill = [rng.choice(ILL) for _ in range(rows)]
    columns = [
        RawColumn("age", "quasi-identifier", "integer", age, edges=[20, 30, 40, 50]),
        RawColumn("sex", "quasi-identifier", "category", sex, tuple(SEX)),
        RawColumn("race", "quasi-identifier", "category", race, tuple(RACE)),
        RawColumn("sbp", "sensitive", "integer", sbp, edges=SBP),
        RawColumn("ill", "sensitive", "category", ill, ILL),
    ]
    frame = [a // 10 - 2 for a in age]

    def told(view: int, unit: tuple[str, ...]) -> list[str | None]:
        """The class of each record."""
        own, exact = ((sex, 0), (race, 1))[view]
        if unit == ("sbp",) and view == 1:
            return [None if f == 2 else value for f, value in zip(frame, own, strict=True)]
        return [value if f in (exact, 2) else "all" for f, value in zip(frame, own, strict=True)]

    units = [("sbp",), ("ill",)]
    labels = {(view, unit): told(view, unit) for view in range(2) for unit in [(), *units]}
    design = Design([("age", "sex"), ("age", "race")], units, frame, labels)
    return publish_margins(columns, design, tmp_path_factory.mktemp("study"))


def asked(study: Case, sql: str) -> tuple[Group, ...]:
    return answer(Request(RESEARCHER, "t", sql), study.opened.gate).groups


def true(study: Case, sql: str) -> float:
    return study.truth.execute(sql).fetchall()[0][0]


def test_a_count_that_one_view_decides_is_exact_and_sharp(study: Case) -> None:
    sql = "SELECT COUNT(*) FROM t WHERE sex = 'F' AND age < 30"
    found = asked(study, sql)[0].ranges[0]
    assert (found.low, found.high, found.sharp) == (true(study, sql), true(study, sql), True)


def test_counts_are_met_in_every_frame_cell(study: Case) -> None:
    """By sex the first view decides two decades, and says nothing of the other: nor does the second."""
    found = asked(study, "SELECT COUNT(*) FROM t WHERE sex = 'F'")[0].ranges[0]
    decided = true(study, "SELECT COUNT(*) FROM t WHERE sex = 'F' AND NOT age BETWEEN 30 AND 39")
    open_ = true(study, "SELECT COUNT(*) FROM t WHERE age BETWEEN 30 AND 39")
    assert (found.low, found.high) == (decided, decided + open_)
    assert not found.sharp


def test_frechet_says_how_many_must_be_in_both(study: Case) -> None:
    """In the third decade both are known by themselves: together at least their sum without everybody."""
    found = asked(study, "SELECT COUNT(*) FROM t WHERE sex = 'F' AND race = 'a' AND age >= 40")[0].ranges[0]
    one, other, everybody = (
        true(study, f"SELECT COUNT(*) FROM t WHERE age >= 40 AND {condition}")
        for condition in ("sex = 'F'", "race = 'a'", "TRUE")
    )
    assert (found.low, found.high) == (one + other - everybody, min(one, other))
    assert found.low > 0
    groups = {
        group.keys: group for group in asked(study, "SELECT sex, race, COUNT(*) FROM t WHERE age >= 40 GROUP BY ALL")
    }
    assert groups["F", "a"].ranges[0].low == found.low
    assert groups["F", "a"].count.low == found.low
    assert groups["F", "a"].certain


def test_frechet_counts_among_those_that_both_views_know(study: Case) -> None:
    """A condition that both views have is shared: the others are not of everybody but of those it selects."""
    sql = "SELECT COUNT(*) FROM t WHERE sex = 'F' AND race = 'a' AND ill = 'no' AND age >= 40"
    found = asked(study, sql)[0].ranges[0]
    one, other, shared = (
        true(study, f"SELECT COUNT(*) FROM t WHERE age >= 40 AND ill = 'no' AND {condition}")
        for condition in ("sex = 'F'", "race = 'a'", "TRUE")
    )
    assert (found.low, found.high) == (max(0, one + other - shared), min(one, other))


def test_a_median_ends_at_the_edge_of_its_bin(tmp_path: Path) -> None:
    """The interval of a bin below 10 ends at the double before 10; interpolation adds nothing to it."""
    edges = [0.0, math.nextafter(10.0, 0.0), 20.0]
    columns = [
        RawColumn("age", "quasi-identifier", "integer", [25] * 8, edges=[20, 30]),
        RawColumn("crp", "sensitive", "number", [float(i) for i in range(8)], edges=edges),
    ]
    labels: dict = {(0, ()): ["all"] * 8, (0, ("crp",)): ["all"] * 8}
    case = publish_margins(columns, Design([("age",)], [("crp",)], [0] * 8, labels), tmp_path)
    found = asked(case, "SELECT MEDIAN(crp) FROM t")[0].ranges[0]
    assert (found.low, found.high) == (0, 10)


def test_a_view_that_is_silent_in_one_frame_cell_still_tells_of_the_others(study: Case) -> None:
    mean = asked(study, "SELECT AVG(sbp) FROM t")[0].ranges[0]
    assert mean.low is not None
    assert mean.high is not None
    assert mean.high - mean.low < 0.2
    assert mean.low <= true(study, "SELECT AVG(sbp) FROM t") <= mean.high


def test_each_aggregate_has_views_of_its_own(study: Case) -> None:
    both = asked(study, "SELECT AVG(sbp), COUNT_IF(ill = 'yes'), COUNT(*) FROM t")[0].ranges
    alone = [
        asked(study, f"SELECT {one} FROM t")[0].ranges[0] for one in ("AVG(sbp)", "COUNT_IF(ill = 'yes')", "COUNT(*)")
    ]
    assert list(both) == alone


@pytest.fixture(scope="module")
def screening(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """10 women and 50 men, 12 of whom are ill and 40 of whom smoke. Of the illness only the view of race tells; the
    view of sex tells of smoking, without telling women from men."""
    sex = ["F"] * 10 + ["M"] * 50
    ill = ["yes" if i % 5 == 0 else "no" for i in range(60)]
    smoker = ["no" if i % 3 == 0 else "yes" for i in range(60)]
    race = ["a" if i % 2 else "b" for i in range(60)]
    columns = [
        RawColumn("age", "quasi-identifier", "integer", [25] * 60, edges=[20, 30]),
        RawColumn("sex", "quasi-identifier", "category", sex, tuple(SEX)),
        RawColumn("race", "quasi-identifier", "category", race, tuple(RACE)),
        RawColumn("ill", "sensitive", "category", ill, ILL),
        RawColumn("smoker", "sensitive", "category", smoker, ILL),
    ]
    everybody, nobody = ["all"] * 60, [None] * 60
    labels: dict = {
        (0, ()): sex, (0, ("ill",)): nobody, (0, ("smoker",)): everybody,
        (1, ()): race, (1, ("ill",)): race, (1, ("smoker",)): race,
    }  # fmt: skip
    design = Design([("age", "sex"), ("age", "race")], [("ill",), ("smoker",)], [0] * 60, labels)
    return publish_margins(columns, design, tmp_path_factory.mktemp("screening"))


def test_a_part_is_never_larger_than_the_whole(screening: Case) -> None:
    """There are 10 women, so not 40 who smoke; and no more ill men than ill people."""
    groups = asked(
        screening, "SELECT sex, COUNT(*), COUNT_IF(smoker = 'yes'), COUNT_IF(ill = 'yes') FROM t GROUP BY sex"
    )
    assert [[r.high for r in group.ranges] for group in groups] == [[10, 10, 10], [50, 40, 12]]
    assert not any(r.sharp for group in groups for r in group.ranges[1:])
    by_condition = asked(screening, "SELECT COUNT(*) FROM t WHERE sex = 'F' AND smoker = 'yes'")[0]
    assert (by_condition.ranges[0].high, by_condition.count.high) == (10, 10)
    by_key = asked(screening, "SELECT smoker, sex, COUNT(*) FROM t GROUP BY ALL")
    assert {group.keys: group.ranges[0].high for group in by_key} == {
        ("no", "F"): 10, ("no", "M"): 20, ("yes", "F"): 10, ("yes", "M"): 40
    }  # fmt: skip


def test_a_prevalence_uses_who_is_there_by_other_views(screening: Case) -> None:
    """12 ill people at most among 50 men; among 10 women it may be all."""
    share = "100.0 * COUNT(*) FILTER (WHERE ill = 'yes') / COUNT(*)"
    women, men = asked(screening, f"SELECT sex, {share} FROM t GROUP BY sex")
    assert (women.ranges[0].low, women.ranges[0].high) == (0, 100)
    assert men.ranges[0].low == 0
    assert men.ranges[0].high == pytest.approx(24, abs=1e-9)


TABLES = ("RISK", "RISK_DIFF", "RISK_RATIO", "ODDS_RATIO", "CHI_SQUARE")


def test_tables_use_who_is_there_by_other_views(screening: Case) -> None:
    """12 ill people among 50 men: a risk of 24 % at most."""
    (found,) = asked(screening, "SELECT RISK(sex = 'M', ill = 'yes'), RISK_DIFF(sex = 'M', ill = 'yes') FROM t")
    assert found.ranges[0].high == pytest.approx(0.24, abs=1e-9)
    assert found.ranges[1].high == pytest.approx(0.24, abs=1e-9)
    (odds,) = asked(screening, "SELECT ODDS_RATIO(race = 'a', ill = 'yes') FROM t WHERE race = 'a' OR race = 'b'")
    assert odds.ranges[0].low == pytest.approx(odds.ranges[0].high)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("outcome", ["ill = 'yes'", "smoker = 'no'", "sex = 'M'"])
def test_tables_hold_the_truth(screening: Case, study: Case, name: str, outcome: str) -> None:
    told = f"{name}(race = 'a', {outcome}) AS x"
    assert violations(screening, f"SELECT {told} FROM t") == []
    assert violations(screening, f"SELECT sex, {told} FROM t GROUP BY sex") == []
    if "smoker" not in outcome:
        assert violations(study, f"SELECT sex, {told} FROM t WHERE age < 35 GROUP BY sex") == []


def test_answers_that_other_views_limit_hold_the_truth(screening: Case) -> None:
    for statement in (
        "SELECT sex, race, COUNT_IF(ill = 'yes') AS n, COUNT_IF(ill = 'no') AS m FROM t GROUP BY ROLLUP (sex, race)",
        "SELECT sex, COUNT(*) AS n FROM t WHERE ill = 'yes' AND race = 'a' GROUP BY sex",
        "SELECT sex, AVG(age) AS a, COUNT(DISTINCT smoker) AS d FROM t WHERE smoker = 'no' GROUP BY sex",
        "SELECT GROUPING(sex) AS g, sex, smoker, COUNT(*) AS n FROM t GROUP BY CUBE (sex, smoker)",
        "SELECT race, sex, 100.0 * COUNT(*) FILTER (WHERE ill = 'yes') / COUNT(*) AS p FROM t GROUP BY race, sex",
    ):
        assert violations(screening, statement) == []


REFUSED = {
    "SELECT AVG(sbp) FROM t WHERE ill = 'yes'": "SELECT AVG(sbp) FROM t",
    "SELECT ill, AVG(sbp) FROM t GROUP BY ill": "SELECT AVG(sbp) FROM t",
    "SELECT sex, COUNT(*) FROM t WHERE sbp > 120 AND ill = 'no' AND age > 30 GROUP BY sex":
        "SELECT sex, COUNT(*) FROM t WHERE sbp > 120 AND age > 30 GROUP BY sex",
    "SELECT COUNT(*) FROM (SELECT ill, MAX(sbp) AS m FROM t GROUP BY ill) s WHERE m > 3": None,
    "SELECT ODDS_RATIO(sbp > 120, ill = 'yes') FROM t": None,
    "SELECT MEAN_DIFF(sbp, ill = 'yes') FROM t": "SELECT AVG(sbp) FROM t",
    "SELECT COUNT(*) FROM t HAVING MAX(sbp) FILTER (WHERE ill = 'no') > 3": None,
    "SELECT COUNT(*) FROM t UNION ALL SELECT SUM(sbp) FROM t WHERE ill = 'no'": None,
}  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED)
@pytest.mark.parametrize("way", [ask, check])
def test_columns_that_are_not_linked_are_refused_with_what_works(study: Case, sql: str, way: Callable) -> None:
    with pytest.raises(Refusal) as refused:
        way(Request(RESEARCHER, "t", sql), study.opened.gate)
    refusal = refused.value
    assert refusal.code == "QG217"
    assert 'linked = [["sbp", "ill"]]' in refusal.remedy
    assert refusal.suggestion is not None
    assert REFUSED[sql] in (None, refusal.suggestion)
    check(Request(RESEARCHER, "t", refusal.suggestion), study.opened.gate)


KEPT = {
    "SELECT ODDS_RATIO(smoker = 'yes', ill = 'yes') FROM t":
        "SELECT 100.0 * COUNT(*) FILTER(WHERE smoker = 'yes') / COUNT(*), "
        "100.0 * COUNT(*) FILTER(WHERE ill = 'yes') / COUNT(*) FROM t",
    "SELECT sex, RISK_RATIO(smoker = 'yes', ill = 'yes') AS r FROM t GROUP BY sex":
        "SELECT sex, 100.0 * COUNT(*) FILTER(WHERE smoker = 'yes') / COUNT(*), "
        "100.0 * COUNT(*) FILTER(WHERE ill = 'yes') / COUNT(*) FROM t GROUP BY sex",
}  # fmt: skip


@pytest.mark.parametrize("sql", KEPT)
def test_a_suggestion_keeps_what_can_be_told_of_each_column(screening: Case, sql: str) -> None:
    with pytest.raises(Refusal) as refused:
        asked(screening, sql)
    assert refused.value.suggestion == KEPT[sql]
    assert asked(screening, KEPT[sql])


def test_a_dry_run_names_the_views(study: Case) -> None:
    def views(sql: str) -> list[list[str]]:
        return check(Request(RESEARCHER, "t", sql), study.opened.gate)["views"]

    assert views("SELECT COUNT(*) FROM t WHERE sex = 'F'") == [["age", "sex"]]
    assert views("SELECT sex, AVG(sbp) FROM t WHERE race = 'a' GROUP BY sex") == [["age", "sex"], ["age", "race"]]
    assert check(Request(RESEARCHER, "t", "SELECT AVG(sbp) FROM t"), study.opened.gate)["width"] == "outer"


def test_answers_are_replayed_from_the_store(study: Case) -> None:
    request = Request(
        RESEARCHER, "t", "SELECT race, sex, COUNT(*), AVG(sbp), MEDIAN(age) FROM t GROUP BY ROLLUP (race, sex)"
    )
    body = ask(request, study.opened.gate)
    entry = {"id": "q", "dataset": "t", "version": 1, "mode": "interval", "outcome": "answered", "sql": request.sql}
    release = study.opened.store.current("t")
    found = replay([{**entry, "answer": body}], study.opened.gate, lambda *_: release)  # type: ignore[typeddict-item]
    assert (found.same, found.different) == (1, ())


def test_an_answer_in_a_hurry_says_so_and_holds_the_truth(study: Case) -> None:
    """Every reading of a range has its share of the time."""
    sql = "SELECT race, CORR(sbp, age) AS c, STDDEV_SAMP(sbp) AS s, SKEWNESS(sbp) AS w FROM t GROUP BY race"
    ticks = itertools.count()
    hurried = in_ten_seconds(study.opened.gate, lambda: next(ticks) * 0.012)
    assert violations(replace(study, opened=replace(study.opened, gate=hurried)), sql) == []
    assert HURRIED in answer(Request(RESEARCHER, "t", sql), hurried).notes
    still = in_ten_seconds(study.opened.gate, lambda: 0.0)
    assert HURRIED not in answer(Request(RESEARCHER, "t", sql), still).notes


# -- never wider than any margin by itself -----------------------------------------------------------------------------


def is_within(inner: Range, outer: Range) -> bool:
    if outer.is_null:
        return inner.is_null
    if inner.is_null:
        return outer.may_be_null
    assert inner.low is not None
    assert inner.high is not None
    ends = outer.low <= inner.low and inner.high <= outer.high  # type: ignore[operator]
    return ends and (outer.may_be_null or not inner.may_be_null)


def alone(sheet: Sheet) -> list[Sheet]:
    """The sheet with each of its blocks by itself."""
    return [
        replace(sheet, blocks=(block,), known=(known,), inside=())
        for block, known in zip(sheet.blocks, sheet.known, strict=True)
    ]


@pytest.mark.parametrize("seed", range(2, 10, 2))
def test_ranges_are_never_wider_than_those_of_any_margin(seed: int, tmp_path: Path) -> None:
    case = view_case(seed + 500, tmp_path) or view_case(seed + 501, tmp_path / "again")
    assert case is not None
    release = case.opened.store.current("t")
    rng = random.Random(seed)
    fields = fields_of(case)
    compared = 0
    for _ in range(14):
        unit = rng.choice(release.catalog.margins).sensitive
        about = [f for f in fields if f.name in unit or not f.name.startswith("s")]
        try:
            plan = understand(Writer(rng, about).plain(), release.catalog, case.opened.gate.native, Limits())
            if plan.having is not None or plan.following or plan.inner:
                continue
            sheets = fetch_sheets(plan, release, Limits())
            met = {(g.keys, g.rolled_up): g for g in answer_groups(plan, sheets, lambda: None)}
        except Refusal:
            continue
        for place, sheet in enumerate(sheets):
            for one in alone(sheet):
                others = [*sheets[:place], one, *sheets[place + 1 :]]
                for group in answer_groups(plan, others, lambda: None):
                    mine = met.get((group.keys, group.rolled_up))
                    if mine is None:
                        assert not group.certain
                        continue
                    pairs = [*zip(mine.ranges, group.ranges, strict=True), (mine.count, group.count)]
                    assert all(is_within(narrow, wide) for narrow, wide in pairs), (plan.canonical, mine, group)
                    compared += len(pairs)
    assert compared
