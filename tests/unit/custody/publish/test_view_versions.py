"""Versions of views beside earlier ones: they stand alone, or tell the very same."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.jobs.delete_person import delete_from
from querygate.custody.publish.publish import Report
from querygate.custody.publish.republication_guard import VersionHandling
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.duckdb_store import version_file
from tests.policies import IDENTIFIER, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import new_site, put, shelf_of

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


@pytest.fixture
def opened(tmp_path: Path) -> OpenSite:
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
    put(opened, VIEWS, people(), handling=AS_IT_SAYS)
    rows = {name: values[::-1] for name, values in people().items()}
    again = put(opened, VIEWS, rows, handling=AS_IT_SAYS)
    assert again.versions is not None
    assert (again.versions.same, again.versions.retired) == ((1,), ())
    assert shelf_of(opened).readable("t") == (1, 2)


@pytest.mark.parametrize("on_overlap", ["refuse", "sticky"])
def test_other_records_are_refused_with_a_plan_that_works(opened: OpenSite, on_overlap: Any) -> None:
    put(opened, VIEWS, people(), handling=AS_IT_SAYS)
    error = refused(opened, VIEWS, people(seed=2), VersionHandling(on_overlap))
    assert "version 1" in error.detail
    assert shelf_of(opened).readable("t") == (1,)
    assert retired(put(opened, VIEWS, people(seed=2), handling=RETIRE)) == (1,)
    assert shelf_of(opened).readable("t") == (2,)


def test_one_changed_value_is_another_table(opened: OpenSite) -> None:
    put(opened, VIEWS, people(), handling=AS_IT_SAYS)
    rows = people()
    rows["ill"][0] = not rows["ill"][0]
    refused(opened, VIEWS, rows, AS_IT_SAYS)


@pytest.mark.parametrize(("before", "after"), [(CLASSES, VIEWS), (VIEWS, CLASSES), (VIEWS, VIEWS.but(k=4))])
def test_another_policy_is_refused_before_anything_is_written(opened: OpenSite, before: str, after: str) -> None:
    put(opened, before, people(), handling=AS_IT_SAYS)
    error = refused(opened, after, people(), AS_IT_SAYS)
    assert "another policy" in error.detail
    assert retired(put(opened, after, people(), handling=RETIRE)) == (1,)


def test_a_version_whose_file_is_lost_has_to_be_retired(opened: OpenSite) -> None:
    put(opened, VIEWS, people(), handling=AS_IT_SAYS)
    version_file(opened.site.store / "t", 1).unlink()
    refused(opened, VIEWS, people(), AS_IT_SAYS)
    assert retired(put(opened, VIEWS, people(), handling=RETIRE)) == (1,)


def test_some_retired_are_not_all(opened: OpenSite) -> None:
    for _ in range(2):
        put(opened, VIEWS, people(), handling=AS_IT_SAYS)
    error = refused(opened, VIEWS, people(seed=2), VersionHandling("refuse", retire=(1,)))
    assert "version 2," in error.detail
    everything = VersionHandling("refuse", retire=(1, 2))
    assert retired(put(opened, VIEWS, people(seed=2), handling=everything)) == (1, 2)


def test_classes_go_with_earlier_classes_as_before(opened: OpenSite) -> None:
    put(opened, CLASSES, people(), handling=AS_IT_SAYS)
    again = put(opened, CLASSES, people(), handling=AS_IT_SAYS)
    assert again.versions is not None
    assert list(again.versions.by_version) == [1]


def test_a_person_is_deleted_from_a_dataset_of_views(opened: OpenSite) -> None:
    put(opened, VIEWS, people(), handling=AS_IT_SAYS)
    done = delete_from(opened, VIEWS.parsed(), "0007", user="tester")
    assert (done.version, done.retired, done.rows) == (2, (1,), 1)
    assert opened.store.current("t").catalog.rows == NUMBER - 1
