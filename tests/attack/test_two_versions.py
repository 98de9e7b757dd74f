"""Somebody keeps what an earlier version answered and lays it over the new one.

With the comparison of versions switched off, people are found: alone in what their two classes share, or as the
difference of two versions. With it on, the publication is refused; with sticky classes it goes through and finds none.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from querygate.core.errors import ConfigError
from querygate.site.open_gate import OpenSite
from tests.engine import reading
from tests.policies import REGISTER
from tests.unit.custody.publish.publications import ask, copy_site, new_site, put

K = 5
POLICY = REGISTER.but(k=K)
CHANGED = POLICY.but(columns={"age": {"weight": 1}})
STICKY = {"on_overlap": "sticky"}


def register(people: int = 600) -> dict[str, list[Any]]:
    """Everybody, as the attacker knows them; apart from the ward, which is the secret."""
    rng = np.random.default_rng(7)
    return {
        "mrn": [f"m{i}" for i in range(people)],
        "age": rng.integers(18, 90, people).tolist(),
        "zip": rng.integers(0, 1000, people).tolist(),
        "ward": [f"w{ward:02d}" for ward in rng.integers(0, 30, people)],
    }


PEOPLE = register()


def read_store(opened: OpenSite, version: int) -> list[tuple[tuple[int, int, int, int], Counter[str]]]:
    """Box and wards of every class, as the file in the store has them."""
    file = opened.site.store / "t" / f"v{version:05d}.duckdb"
    with reading(file) as store:
        cells = store.execute(
            "SELECT c0_lo, c0_hi, c1_lo, c1_hi, text, n FROM cells JOIN set_value ON column_id = 2 AND set_id = c2_set "
            "JOIN value_text USING (column_id, value_id)"
        ).fetchall()
    found: dict[tuple[int, int, int, int], Counter[str]] = {}
    for *box, ward, n in cells:
        found.setdefault(tuple(box), Counter())[ward] += n
    return list(found.items())


def found_by_intersection(opened: OpenSite, versions: tuple[int, int]) -> tuple[int, int]:
    """How many people share both their classes with fewer than k - 1 others, and of how many the ward is certain."""
    stores = [read_store(opened, version) for version in versions]
    where = []
    for age, zip_code in zip(PEOPLE["age"], PEOPLE["zip"], strict=True):
        boxes = [
            [i for i, ((a, b, c, d), _) in enumerate(store) if a <= age <= b and c <= zip_code <= d] for store in stores
        ]
        where.append(tuple(map(tuple, boxes)))
    together = Counter(where)
    certain = 0
    for boxes, ward in zip(where, PEOPLE["ward"], strict=True):
        possible = [set().union(*(store[i][1] for i in found)) for store, found in zip(stores, boxes, strict=True)]
        certain += set.intersection(*possible) == {ward}
    return sum(1 for boxes in where if together[boxes] < K), certain


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    opened = new_site(tmp_path_factory.mktemp("published"))
    put(opened, POLICY, PEOPLE, handling=None)
    return opened


@pytest.fixture
def opened(published: OpenSite, tmp_path: Path) -> OpenSite:
    return copy_site(published, tmp_path)


def test_one_version_alone_hides_everybody(opened: OpenSite) -> None:
    assert found_by_intersection(opened, (1, 1)) == (0, 0)


def test_with_the_comparison_off_two_versions_find_people(opened: OpenSite) -> None:
    put(opened, CHANGED, PEOPLE)
    few, certain = found_by_intersection(opened, (1, 2))

    assert few > 100
    assert certain > 20


def test_with_it_on_the_second_version_is_not_published(opened: OpenSite) -> None:
    with pytest.raises(ConfigError) as refused:
        put(opened, CHANGED, PEOPLE, handling=None)

    assert refused.value.code == "QG803"
    assert "version 1" in refused.value.detail
    assert opened.store.versions("t") == (1,)


def test_sticky_classes_find_nobody(opened: OpenSite) -> None:
    report = put(opened, CHANGED.but(republish=STICKY), PEOPLE, handling=None)

    assert report.versions is not None
    assert report.versions.sticky
    assert report.versions.together.smallest >= K
    with duckdb.connect() as database:  # by persons and classes, since boxes of sticky classes may lie over each other
        for version in (1, 2):
            file = opened.site.vault / "t" / f"v{version:05d}.duckdb"
            database.execute(f"ATTACH '{file}' AS v{version} (READ_ONLY)")
        both = " JOIN ".join(
            f"(SELECT mrn, class AS c{v} FROM v{v}.rows JOIN v{v}.row_class USING (row_id))" for v in (1, 2)
        )
        smallest = database.execute(
            f"SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM {both} USING (mrn) GROUP BY c1, c2)"
        ).fetchall()
    assert smallest[0][0] >= K


# -- the difference of two versions -------------------------------------------------------------------------------


def wards(opened: OpenSite) -> Counter[str]:
    rows = ask(opened, "SELECT ward, COUNT(*) AS n FROM t GROUP BY ward")
    return Counter({row["ward"]: row["n"]["low"] for row in rows})


@pytest.mark.parametrize("who", ["comes", "leaves"])
def test_a_single_change_is_read_off_unless_it_is_refused(opened: OpenSite, who: str) -> None:
    fewer = {name: values[:-1] for name, values in PEOPLE.items()}
    first, second = (fewer, PEOPLE) if who == "comes" else (PEOPLE, fewer)
    site = new_site(opened.site.folder.parent / who)
    put(site, POLICY, first, handling=None)
    before = wards(site)

    with pytest.raises(ConfigError) as refused:
        put(site, POLICY.but(republish=STICKY), second, handling=None)
    assert "few_changes" in refused.value.remedy
    assert wards(site) == before

    put(site, POLICY, second)  # the comparison off
    after = wards(site)
    assert (after - before) + (before - after) == Counter([PEOPLE["ward"][-1]])
