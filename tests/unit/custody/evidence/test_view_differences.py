"""The store report on views: what their file alone tells, which is true of the raw rows and about k people or more."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.block import NO_NULLS, SOME_NULLS, Block, NumberColumn, RowClasses
from querygate.core.types import Catalog, Column, Margin
from querygate.custody.evidence.class_reader import ClassReader
from querygate.custody.evidence.store_weakness import find_weaknesses
from querygate.custody.evidence.view_differences import read_views
from querygate.custody.use_cases.audits.evidence_reports import replay_site, report_store, report_users
from querygate.methods.audit import class_differences
from querygate.methods.audit.class_differences import least_difference
from querygate.site.open_gate import OpenSite
from querygate_adapters.vault.cell_classes import ClassedRelease, open_version
from tests.seeds import seeds
from tests.unit.custody.publish.publications import ask, new_site, put
from tests.unit.custody.verify.view_stores import SURVEY, survey

PEOPLE = survey(240)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    made = new_site(tmp_path_factory.mktemp("views"))
    put(made, SURVEY, PEOPLE)
    return made


@pytest.fixture(scope="module")
def release(opened: OpenSite) -> ClassedRelease:
    found = open_version(opened.site.store, "t", 1)
    assert found is not None
    return found


def test_a_published_version_tells_of_k_people_or_more(release: ClassedRelease) -> None:
    found = read_views(release)
    assert found is not None
    assert found.frames == 4
    assert [(one.quasi, one.sensitive) for one in found.margins[:2]] == [
        (("age", "sex", "race"), ()),
        (("age", "sex", "race"), ("sbp",)),
    ]
    assert all(one.smallest >= 5 for one in found.margins)
    assert found.difference is not None
    assert found.difference >= 5


def test_withheld_classes_are_not_called_weak(release: ClassedRelease) -> None:
    for found in find_weaknesses(release):
        assert found.classes > 0
        assert found.one_value == 0  # nobody's value is certain
        assert all("race" in one.known or "school" in one.known for one in found.weakest)
        assert not any("race" in one.known and "school" in one.known for one in found.weakest)


def test_statements_read_classes_of_the_margins_that_have_their_columns(
    opened: OpenSite, release: ClassedRelease
) -> None:
    reader = ClassReader(release, opened.gate.native)
    margins = release.catalog.margins
    assert reader.labels.size == sum(
        np.unique(release.by_class((), i).classified.label).size for i in range(len(margins))
    )  # type: ignore[union-attr]
    alone = [
        f"SELECT COUNT(*) FROM t WHERE age <= {age} AND sex = '{sex}' AND race = '{race}'"
        for age, sex, race in product(range(20, 60), "fm", "abcd")
    ]
    read = reader.read_out(alone)
    assert 0 < read < reader.labels.size
    assert reader.read_out([*alone, "SELECT sex, school, ill, COUNT(*) FROM t GROUP BY sex, school, ill"]) >= read
    assert reader.read_out([]) == 0
    assert reader.concerned("SELECT COUNT(*) FROM t WHERE race = 'a' AND school = 'low'") is None  # no margin has both
    assert (reader.concerned("SELECT COUNT(*) FROM t WHERE age = 20 AND sex = 'f'") or 0) >= 1


def test_the_report_of_a_site(opened: OpenSite) -> None:
    ask(opened, "SELECT sex, COUNT(*) FROM t GROUP BY sex")
    report = report_store(opened, "t", None, user="carl")
    assert report.views is not None
    assert [one.column for one in report.columns] == ["sbp", "bmi", "ill"]
    assert report.classes == sum(one.classes for one in report.views.margins)
    assert report_users(opened, user="carl", dataset="t", since=None)
    replayed = replay_site(opened, user="carl", dataset="t")
    assert replayed.answers == replayed.same > 0


# -- by hand -----------------------------------------------------------------------------------------------------------


class Made:
    """Two views of one frame cell over ages, as intervals with a null state and a number of records."""

    def __init__(self, *views: list[tuple[int, int, int, int]]) -> None:
        self.views = [np.array(view, dtype=np.int64) for view in views]
        age = Column("age", 0, "quasi-identifier", "integer", True, low=0, high=99)
        margins = tuple(Margin(view, ("age",)) for view in range(len(views)))
        self.catalog = Catalog("t", 1, "", 5, int(self.views[0][:, 3].sum()), (age,), margins=margins)

    def by_class(self, names: Any, margin: int | None = None) -> Block:
        low, high, null, n = self.views[margin or 0].T
        labels = np.arange(n.size) + 100 * (margin or 0)
        held = {"age": NumberColumn(low, high, null)} if "age" in names else {}
        return Block(n, held, classified=RowClasses(labels, np.arange(n.size), {}), frame=np.zeros(n.size, np.int64))


def test_classes_inside_others_leave_their_difference() -> None:
    """The second view's first class ends three records after the first view's."""
    one = [(0, 49, NO_NULLS, 20), (50, 99, NO_NULLS, 20)]
    assert read_views(Made(one, [(0, 59, NO_NULLS, 23), (60, 99, NO_NULLS, 17)])).difference == 3  # type: ignore[arg-type, union-attr]
    assert read_views(Made(one, one)).difference == 20  # type: ignore[arg-type, union-attr]
    assert read_views(Made(one)).difference is None  # type: ignore[arg-type, union-attr]
    missing = [(0, 49, NO_NULLS, 20), (50, 99, SOME_NULLS, 20)]
    assert read_views(Made(missing, [(0, 99, NO_NULLS, 38), (0, 0, 2, 2)])).difference == 2  # type: ignore[arg-type, union-attr]


@pytest.mark.parametrize("seed", seeds(30))
def test_what_is_told_is_the_size_of_a_group(seed: int) -> None:
    """Brute force: people with ages, two random partitions by age; every difference is one of unions of classes."""
    random = np.random.default_rng(seed)
    age = random.integers(0, 12, 30)
    views = []
    for _ in range(2):
        cuts = [0, *sorted(random.choice(np.arange(1, 12), int(random.integers(1, 4)), replace=False).tolist()), 12]
        members = [age[(age >= a) & (age < b)] for a, b in pairwise(cuts)]
        views.append([(int(one.min()), int(one.max()), NO_NULLS, one.size) for one in members if one.size])
    found = read_views(Made(*views))  # type: ignore[arg-type]
    assert found is not None
    sums = [
        {sum(one[3] for one in chosen) for size in range(len(view) + 1) for chosen in combinations(view, size)}
        for view in views
    ]
    possible = {abs(a - b) for a in sums[0] for b in sums[1]} - {0}
    assert found.difference in possible
    sizes = [one[3] for view in views for one in view]
    assert found.difference in sizes or any(age_group(age, views, found.difference))


@pytest.mark.parametrize("seed", seeds(60))
def test_the_least_difference_is_that_of_all_unions_of_classes(seed: int) -> None:
    """Brute force over sizes and pairs that can meet, some of which share nobody."""
    random = np.random.default_rng(seed)
    shared = random.integers(0, 4, (int(random.integers(1, 5)), int(random.integers(1, 5)))) * 2
    shared[0, 0] = 2
    shared = shared[shared.sum(axis=1) > 0][:, shared.sum(axis=0) > 0]
    meet = (shared > 0) | (random.random(shared.shape) < 0.15)
    first, second = shared.sum(axis=1), shared.sum(axis=0)
    differences = [*first.tolist(), *second.tolist()]
    for taken in product([False, True], repeat=first.size):
        outside = meet[~np.array(taken)].any(axis=0)  # classes that may have people who are not in the union
        differences.append(int(first[np.array(taken)].sum() - second[~outside].sum()))
    least = min(one for one in differences if one > 0)
    assert least_difference(meet, first, second) == least
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_differences, "MOST_CLASSES", 1)
        assert least_difference(meet, first, second) >= least


def age_group(age: Any, views: list[Any], size: int) -> list[bool]:
    """Is there a union of classes inside one of the other view that leaves so many people?"""
    found = []
    for inner, outer in (views, views[::-1]):
        unions = [
            [
                set(np.flatnonzero(np.any([(age >= a) & (age <= b) for a, b, _, _ in chosen], axis=0)).tolist())
                for chosen in chosen_of(view)
            ]
            for view in (inner, outer)
        ]
        found += [one <= other and len(other - one) == size for one in unions[0] for other in unions[1]]
    return found


def chosen_of(view: list[Any]) -> list[Any]:
    return [chosen for size in range(1, len(view) + 1) for chosen in combinations(view, size)]


def test_a_version_of_classes_has_no_views(tmp_path: Path) -> None:
    made = new_site(tmp_path)
    tables = {key: value for key, value in SURVEY.tables.items() if key != "views"}
    put(made, type(SURVEY)(tables), PEOPLE)
    assert report_store(made, "t", None, user="carl").views is None
