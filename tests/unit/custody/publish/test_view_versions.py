"""Versions of views beside earlier ones: certified together with them, or refused with a plan."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.publish.publish import Report
from querygate.custody.publish.republication_guard import VersionHandling
from querygate.custody.use_cases.delete_person import delete_from
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.duckdb_store import version_file
from tests.policies import IDENTIFIER, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import copy_site, ends, new_site, put, shelf_of
from tests.unit.custody.verify.view_stores import SURVEY, survey

NUMBER = 60
CLASSES = make_policy(
    "t",
    {"mrn": IDENTIFIER, "age": quasi("integer", (0, 99), grid=1), "sex": quasi("boolean"), "ill": sensitive("boolean")},
    k=3,
    person="mrn",
)
VIEWS = CLASSES.but(views={"mode": "auto"})
RETIRE = VersionHandling("retire")
AS_IT_SAYS = None


def people(number: int = NUMBER, seed: int = 1) -> dict[str, list[Any]]:
    rng = random.Random(seed)
    return {
        "mrn": [f"{i:04d}" for i in range(number)],
        "age": [rng.randrange(100) for _ in range(number)],
        "sex": [rng.random() < 0.5 for _ in range(number)],
        "ill": [rng.random() < 0.4 for _ in range(number)],
    }


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    opened = new_site(tmp_path_factory.mktemp("published"))
    put(opened, VIEWS, people(), handling=AS_IT_SAYS)
    return opened


@pytest.fixture
def opened(published: OpenSite, tmp_path: Path) -> OpenSite:
    """A site with a first version of views."""
    return copy_site(published, tmp_path)


@pytest.fixture
def empty(tmp_path: Path) -> OpenSite:
    return new_site(tmp_path)


def refused(opened: OpenSite, policy: str, rows: dict[str, list[Any]], handling: VersionHandling | None) -> ConfigError:
    with pytest.raises(ConfigError) as found:
        put(opened, policy, rows, handling=handling)
    assert found.value.code == "QG803"
    assert "--on-overlap retire" in found.value.remedy
    return found.value


def retired(report: Report) -> tuple[int, ...]:
    assert report.versions is not None
    return report.versions.retired


def test_the_same_records_under_the_same_policy_tell_the_very_same(opened: OpenSite) -> None:
    rows = {name: values[::-1] for name, values in people().items()}
    again = put(opened, VIEWS, rows, handling=AS_IT_SAYS)
    assert again.versions is not None
    assert (again.versions.same, again.versions.retired) == ((1,), ())
    assert shelf_of(opened).readable("t") == (1, 2)

    some = VersionHandling("refuse", retire=(1,))
    assert "version 2," in refused(opened, VIEWS, people(seed=2), some).detail
    everything = VersionHandling("refuse", retire=(1, 2))
    assert retired(put(opened, VIEWS, people(seed=2), handling=everything)) == (1, 2)


def test_other_records_are_refused_with_a_plan_that_works(opened: OpenSite) -> None:
    for handling in (VersionHandling("refuse"), VersionHandling("sticky")):
        assert "version 1" in refused(opened, VIEWS, people(seed=2), handling).detail
    assert shelf_of(opened).readable("t") == (1,)
    assert retired(put(opened, VIEWS, people(seed=2), handling=RETIRE)) == (1,)
    assert shelf_of(opened).readable("t") == (2,)


def plus(rows: dict[str, list[Any]], more: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: [*values, *more[name]] for name, values in rows.items()}


def newcomers(number: int, **fixed: Any) -> dict[str, list[Any]]:
    found = people(number, seed=5) | {"mrn": [f"n{i}" for i in range(number)]}
    return found | {name: [value] * number for name, value in fixed.items()}


def certified_with(report: Report) -> tuple[int, ...]:
    assert report.versions is not None
    assert report.versions.retired == ()
    return report.versions.certified


def test_many_newcomers_are_certified_together_with_those_before(opened: OpenSite) -> None:
    rows = plus(people(), newcomers(60))
    assert certified_with(put(opened, VIEWS, rows, handling=AS_IT_SAYS)) == (1,)
    rows = plus(rows, newcomers(8, age=45) | {"mrn": [f"o{i}" for i in range(8)]})
    assert certified_with(put(opened, VIEWS, rows, handling=AS_IT_SAYS)) == (1, 2)
    assert opened.store.current("t").catalog.rows == 128


def test_newcomers_fewer_than_k_wait_for_more(opened: OpenSite) -> None:
    few = plus(people(), newcomers(2, age=45))
    error = refused(opened, VIEWS, few, AS_IT_SAYS)
    assert "age from 30 below 50" in error.detail
    assert "wait until at least 3 people" in error.remedy
    assert shelf_of(opened).readable("t") == (1,)
    enough = plus(people(), newcomers(3, age=45) | {"ill": [True, False, True]})
    assert certified_with(put(opened, VIEWS, enough, handling=AS_IT_SAYS)) == (1,)


def test_nobody_leaves_those_who_stay(published: OpenSite) -> None:
    fewer = {name: values[:-1] for name, values in people().items()}
    assert "1 person was removed from frame cells of version 1" in refused(published, VIEWS, fewer, AS_IT_SAYS).detail


def test_a_whole_frame_cell_may_leave(opened: OpenSite) -> None:
    rows = people()
    stay = [i for i, age in enumerate(rows["age"]) if age < 50]
    left = {name: [values[i] for i in stay] for name, values in rows.items()}
    assert certified_with(put(opened, VIEWS, left, handling=AS_IT_SAYS)) == (1,)


def test_a_changed_sensitive_value_is_refused(published: OpenSite) -> None:
    rows = people()
    rows["ill"][0] = not rows["ill"][0]
    assert "sensitive values of 1 person" in refused(published, VIEWS, rows, AS_IT_SAYS).detail


def test_changed_quasi_identifiers_are_hidden(opened: OpenSite) -> None:
    """In the same frame cell, and in one far away: such cells are joined."""
    rows = people()
    for person, years in ((0, 40), (1, 1)):
        rows["age"][person] += years
        rows["sex"][person] = not rows["sex"][person]
    assert certified_with(put(opened, VIEWS, rows, handling=AS_IT_SAYS)) == (1,)


def test_classes_and_views_are_refused_before_anything_is_written(opened: OpenSite) -> None:
    for version, policy in ((1, CLASSES), (2, VIEWS)):
        assert "published as views" in refused(opened, policy, people(), AS_IT_SAYS).detail
        assert retired(put(opened, policy, people(), handling=RETIRE)) == (version,)


OTHER_VIEWS = CLASSES.but(views={"mode": "spanning", "spanning": [["age"], ["sex"]]})


@pytest.mark.parametrize("after", [VIEWS.but(k=4), OTHER_VIEWS])
def test_another_policy_on_the_same_records_is_certified(opened: OpenSite, after: str) -> None:
    assert certified_with(put(opened, after, people(), handling=AS_IT_SAYS)) == (1,)


def test_views_that_have_to_stay_as_they_are_are_refused(published: OpenSite) -> None:
    with pytest.raises(ConfigError) as found:
        put(published, VIEWS.but(k=2, views={"on_uncertified": "refuse"}), people(), handling=AS_IT_SAYS)
    assert "together with earlier versions" in found.value.detail


def test_answers_of_a_second_version_hold_the_truth(empty: OpenSite) -> None:
    """With missing values everywhere, numbers in bins that differ between versions, and two views."""
    policy = SURVEY.but(person="mrn", columns={"mrn": IDENTIFIER, "age": {"cuts": [40]}})
    first, more = (
        survey(number, seed) | {"mrn": list(range(begin, begin + number))}
        for number, seed, begin in ((90, 1, 0), (40, 2, 90))
    )
    put(empty, policy, first, handling=AS_IT_SAYS)
    rows = plus(first, more)
    assert certified_with(put(empty, policy, rows, handling=AS_IT_SAYS)) == (1,)
    for where, name, wanted in (("age < 40", "age", range(40)), ("sex = 'f'", "sex", ["f"])):
        there = [i for i, value in enumerate(rows[name]) if value in wanted]
        known = [rows["sbp"][i] for i in there if rows["sbp"][i] is not None]
        ill = sum(rows["ill"][i] == "yes" for i in there)
        for statistic, condition, truth in (
            ("COUNT(*)", where, len(there)),
            ("COUNT(*)", f"{where} AND ill = 'yes'", ill),
            ("AVG(sbp)", where, sum(known) / len(known)),
        ):
            low, high = ends(empty, statistic, condition)
            assert low <= truth <= high


def test_dates_and_linked_columns_are_certified_together_too(empty: OpenSite) -> None:
    """Of dates no sums are told, and of linked columns each has to be uncertain, in all versions."""
    seen = sensitive("date", ("2020-01-01", "2021-12-31"), bins=90, guard=60)
    policy = SURVEY.but(
        person="mrn",
        columns={"mrn": IDENTIFIER, "age": {"cuts": [40]}, "seen": seen, "bmi": None},
        views={"linked": [["sbp", "ill"]]},
    )
    first, more = (
        survey(number, seed)
        | {"mrn": list(range(begin, begin + number))}
        | {"seen": [date(2020, 1, 1) + timedelta(days=37 * i % 700) for i in range(number)]}
        for number, seed, begin in ((90, 1, 0), (40, 2, 90))
    )
    put(empty, policy, first, handling=AS_IT_SAYS)
    report = put(empty, policy, plus(first, more), handling=AS_IT_SAYS)
    assert certified_with(report) == (1,)
    assert report.views is not None
    assert {one.sensitive for one in report.views.margins if one.withheld < 1} == {(), ("sbp", "ill"), ("seen",)}


def without_names(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: values for name, values in rows.items() if name != "mrn"}


def test_without_a_person_column_records_may_only_come(empty: OpenSite) -> None:
    unnamed = VIEWS.but(person=None, columns={"mrn": None})
    put(empty, unnamed, without_names(people()), handling=AS_IT_SAYS)
    more = without_names(plus(people(), newcomers(8, age=45)))
    assert certified_with(put(empty, unnamed, more, handling=AS_IT_SAYS)) == (1,)
    more["age"][0] += 1
    error = refused(empty, unnamed, more, AS_IT_SAYS)
    assert "not known who is new" in error.detail
    assert "name the column that identifies persons" in error.remedy


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"ill": {"role": "quasi-identifier"}}, "ill was sensitive"),
        ({"sex": {"type": "category", "values": ["false", "true"]}}, "sex was quasi-identifier of type boolean"),
    ],
)
def test_a_column_that_became_something_else(published: OpenSite, columns: Any, reason: str) -> None:
    changed = VIEWS.but(columns={**columns, "fit": sensitive("boolean")})
    rows = people() | {"fit": people(seed=9)["ill"]}
    assert reason in refused(published, changed, rows, AS_IT_SAYS).detail


def test_people_with_several_rows_have_to_be_told_the_very_same(empty: OpenSite) -> None:
    counts = VIEWS.but(columns={"ill": None})  # views of people with several rows tell nothing else
    rows = people(40)
    rows["mrn"] = [f"{i % 20:04d}" for i in range(40)]
    put(empty, counts, rows, handling=AS_IT_SAYS)
    again = put(empty, counts, rows, handling=AS_IT_SAYS)
    assert again.versions is not None
    assert again.versions.same == (1,)
    rows["age"][0] = (rows["age"][0] + 50) % 100
    assert "several rows" in refused(empty, counts, rows, AS_IT_SAYS).detail


def test_a_version_whose_file_is_lost_has_to_be_retired(opened: OpenSite) -> None:
    version_file(opened.site.store / "t", 1).unlink()
    refused(opened, VIEWS, people(), AS_IT_SAYS)
    assert retired(put(opened, VIEWS, people(), handling=RETIRE)) == (1,)


def test_rows_that_are_not_those_of_the_version(opened: OpenSite) -> None:
    vault = version_file(opened.site.vault / "t", 1)
    for change in ("UPDATE rows SET age = (age + 50) % 100 WHERE mrn = '0003'", "DELETE FROM rows WHERE mrn = '0003'"):
        with duckdb.connect(str(vault)) as file:
            file.execute(change)
        assert "raw rows of version 1" in refused(opened, VIEWS, people(), AS_IT_SAYS).detail


def test_classes_go_with_earlier_classes_as_before(empty: OpenSite) -> None:
    put(empty, CLASSES, people(), handling=AS_IT_SAYS)
    again = put(empty, CLASSES, people(), handling=AS_IT_SAYS)
    assert again.versions is not None
    assert list(again.versions.by_version) == [1]


def test_a_person_is_deleted_from_a_dataset_of_views(opened: OpenSite) -> None:
    done = delete_from(opened, VIEWS.parsed(), "0007", user="tester")
    assert (done.version, done.retired, done.rows) == (2, (1,), 1)
    assert opened.store.current("t").catalog.rows == NUMBER - 1
