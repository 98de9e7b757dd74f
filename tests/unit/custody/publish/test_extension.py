"""An increment: classes in which nothing has changed are taken over, all others made anew, and nobody is told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from querygate.cli.dataset import explain_versions
from querygate.core.errors import ConfigError
from querygate.custody.publish.publish import Report
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.open_gate import OpenSite
from querygate_adapters.vault.publication import DuckDBPublication
from tests.engine import reading
from tests.policies import AGE, IDENTIFIER, PolicyText, diverse, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import ask, copy_site, ends, new_site, write_parquet

K = 4
EXTEND = {"on_overlap": "extend"}
POLICY = make_policy(
    "t",
    {
        "mrn": IDENTIFIER,
        "age": AGE | {"weight": 4},
        "zip": quasi("integer", (0, 1000), grid=10),
        "sex": quasi("category"),
        "sbp": sensitive("integer", (60, 260), bins=20, guard=10),
        "ward": sensitive("category") | diverse("distinct", l=2),
    },
    k=K,
    person="mrn",
    republish=EXTEND,
)
LENIENT = POLICY.but(republish=EXTEND | {"few_changes": "report"})
People = dict[str, list[Any]]


def people(number: int, first: int = 0, wards: int = 5) -> People:
    """With ties, missing values and texts that are not ASCII."""
    rng = np.random.default_rng(first + 1)
    some = rng.random(number)
    return {
        "mrn": [f"0{first + i}" for i in range(number)],
        "age": [None if s < 0.05 else int(a) for s, a in zip(some, rng.integers(18, 90, number), strict=True)],
        "zip": (rng.integers(0, 100, number) ** 2 // 10).tolist(),
        "sex": [None if s > 0.95 else "äF"[int(s < 0.5)] for s in some],
        "sbp": [None if 0.5 < s < 0.55 else int(x) for s, x in zip(some, rng.normal(130, 15, number), strict=True)],
        "ward": [f"wörd {ward}" for ward in rng.integers(0, wards, number)],
    }


def both(one: People, other: People) -> People:
    return {name: one[name] + other[name] for name in one}


def without(one: People, which: set[int]) -> People:
    return {name: [value for i, value in enumerate(values) if i not in which] for name, values in one.items()}


def put(opened: OpenSite, columns: People, policy: PolicyText = POLICY) -> Report:
    path = write_parquet(opened.site.folder.parent / "source.parquet", columns)
    return publish_to(opened, policy.parsed(), str(path), user="custodian")


ALL = people(400)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OpenSite]:
    sites = {}
    for name, policy in {"strict": POLICY, "lenient": LENIENT}.items():
        sites[name] = new_site(tmp_path_factory.mktemp(name))
        put(sites[name], ALL, policy)
    return sites


@pytest.fixture
def opened(published: dict[str, OpenSite], tmp_path: Path) -> OpenSite:
    return copy_site(published["strict"], tmp_path)


@pytest.fixture
def lenient(published: dict[str, OpenSite], tmp_path: Path) -> OpenSite:
    return copy_site(published["lenient"], tmp_path)


def classes(opened: OpenSite, version: int) -> dict[frozenset[str], Any]:
    """Who is in which class, with all its cells."""
    name = f"v{version:05d}.duckdb"
    with reading(opened.site.vault / "t" / name) as vault:
        members: dict[int, set[str]] = {}
        for mrn, number in vault.execute("SELECT mrn, class FROM rows JOIN row_class USING (row_id)").fetchall():
            members.setdefault(number, set()).add(mrn)
    with reading(opened.site.store / "t" / name) as store:
        shown = [c for c, *_ in store.execute("DESCRIBE cells").fetchall() if not c.endswith("_null")]
        texts: dict[tuple[int, int], set[str]] = {}
        for column, number, text in store.execute(
            "SELECT column_id, set_id, text FROM set_value LEFT JOIN value_text USING (column_id, value_id)"
        ).fetchall():
            texts.setdefault((column, number), set()).add(str(text))
        cells: dict[int, list[Any]] = {}
        for row in store.execute(f"SELECT {', '.join(shown)} FROM cells ORDER BY ALL").fetchall():
            named = dict(zip(shown, row, strict=True))
            told = [sorted(texts[int(c[1]), v]) if c.endswith("_set") else v for c, v in named.items() if c != "class"]
            cells.setdefault(named["class"], []).append(told)
    assert members.keys() == cells.keys()
    return {frozenset(of): sorted(map(repr, cells[number])) for number, of in members.items()}


def contains_truth(opened: OpenSite, columns: People) -> None:
    """Counts, sums and extremes, whole and in part, are what the raw rows say."""
    rows = list(zip(*(columns[name] for name in ("age", "sbp", "ward", "zip")), strict=True))
    for where, holds in (
        ("", lambda a, s, w, z: True),
        ("age >= 40", lambda a, s, w, z: a is not None and a >= 40),
        ("ward = 'wörd 1'", lambda a, s, w, z: w == "wörd 1"),
        ("zip < 300 AND sbp > 120", lambda a, s, w, z: z < 300 and s is not None and s > 120),
    ):
        found = [row for row in rows if holds(*row)]
        known = [s for _, s, _, _ in found if s is not None]
        for statistic, truth in (("COUNT(*)", len(found)), ("SUM(sbp)", sum(known)), ("MAX(sbp)", max(known))):
            low, high = ends(opened, statistic, where)
            assert low <= truth <= high, (where, statistic)


def made_anew(report: Report) -> int:
    (trial,) = report.comparison
    assert "those of version" in trial.note
    return trial.classes


def is_divided_anew(report: Report) -> None:
    assert not any("those of version" in trial.note for trial in report.comparison)


# -- what is taken over -------------------------------------------------------------------------------------------


def test_newcomers_have_classes_of_their_own_and_all_others_stay(opened: OpenSite) -> None:
    grown = both(ALL, people(40, first=1000))
    report = put(opened, grown)

    before, after = classes(opened, 1), classes(opened, 2)
    assert before.items() <= after.items()
    assert all(len(of) >= K for of in after.keys() - before.keys())
    assert made_anew(report) == len(after) - len(before)
    assert report.classes == len(after)
    assert (report.rows, report.measured.k >= K) == (440, True)
    assert report.versions is not None
    assert report.versions.sticky
    assert "  combined with version 1: nobody in the classes made anew was in it" in explain_versions(report.versions)
    contains_truth(opened, grown)


def test_a_source_that_has_not_changed_is_published_again(opened: OpenSite) -> None:
    shuffled = {name: values[::-1] for name, values in ALL.items()}
    report = put(opened, shuffled)

    assert classes(opened, 2) == classes(opened, 1)
    assert made_anew(report) <= 2
    contains_truth(opened, ALL)


def test_whole_classes_leave_change_and_come(opened: OpenSite) -> None:
    """Of groups that are large enough, all may change; nothing about any other class is told anew."""
    known = sorted(classes(opened, 1), key=sorted)
    place = {mrn: i for i, mrn in enumerate(ALL["mrn"])}
    gone, changed = ({place[mrn] for mrn in of} for of in known[:2])
    now = {name: list(values) for name, values in ALL.items()}
    for number, i in enumerate(sorted(changed)):
        now["ward"][i] = f"wörd {(int(now['ward'][i][-1]) + 1 + number) % 5}"
    now = both(without(now, gone), people(20, first=2000))
    report = put(opened, now)

    before, after = classes(opened, 1), classes(opened, 2)
    stayed = {of: cells for of, cells in before.items() if of not in known[:2]}
    assert stayed.items() <= after.items()
    assert known[0] not in after
    assert made_anew(report) < len(before) / 4
    contains_truth(opened, now)


def test_values_that_nobody_had_and_missing_ones_move_no_carried_cell(tmp_path: Path) -> None:
    """New texts sort before the old ones, and a column had nothing missing."""
    opened = new_site(tmp_path)
    first = people(200) | {"sex": ["f", "m"] * 100, "sbp": [100, 120, 140, 160] * 50}
    put(opened, first)
    more = people(24, first=500) | {
        "sex": ["a", None, "f", "z"] * 6,
        "ward": ["AAA", "wörd 1", "zzz", "ä"] * 6,
        "sbp": [105, None, 141, 166] * 6,
    }
    report = put(opened, both(first, more))

    assert classes(opened, 1).items() <= classes(opened, 2).items()
    assert made_anew(report)
    contains_truth(opened, both(first, more))
    found = {
        row["ward"]: (row["n"]["low"], row["n"]["high"])
        for row in ask(opened, "SELECT ward, COUNT(*) AS n FROM t GROUP BY ward")
    }
    assert found["AAA"] == found["zzz"] == (6, 6)


def test_versions_go_on_from_each_other(opened: OpenSite) -> None:
    now = ALL
    for night in range(3):
        now = both(now, people(12, first=3000 + 100 * night))
        report = put(opened, now)
        assert made_anew(report) <= 3
    contains_truth(opened, now)
    assert classes(opened, 1).items() <= classes(opened, 4).items()
    assert report.versions is not None
    assert sorted(report.versions.by_version) == [1, 2, 3]


def test_few_changes_are_published_where_the_policy_accepts_them(lenient: OpenSite) -> None:
    now = without(ALL, {3, 77})
    now["ward"][5] = "wörd 0" if now["ward"][5] != "wörd 0" else "wörd 1"
    now = both(now, people(9, first=4000))
    report = put(lenient, now, LENIENT)

    assert report.versions is not None
    assert report.versions.together.told > 0
    assert min(map(len, classes(lenient, 2))) >= K
    assert made_anew(report) < len(classes(lenient, 1)) / 2
    contains_truth(lenient, now)


# -- what is not --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["one comes", "one leaves", "one changes"])
def test_a_change_about_few_people_is_refused_as_ever(opened: OpenSite, change: str) -> None:
    now = {name: list(values) for name, values in ALL.items()}
    if change == "one comes":
        now = both(now, people(1, first=5000))
    elif change == "one leaves":
        now = without(now, {11})
    else:
        now["ward"][11] = "wörd 0" if now["ward"][11] != "wörd 0" else "wörd 1"
    with pytest.raises(ConfigError) as refused:
        put(opened, now)
    assert refused.value.code == "QG803"
    assert "few_changes" in refused.value.remedy
    assert opened.store.versions("t") == (1,)


@pytest.mark.parametrize(
    "more",
    [{"columns": {"ward": diverse("t-closeness", t=0.9)}}, {"anonymise": {"statistics": ["mean(sbp)"]}}],
    ids=["compares with the whole", "measured over all"],
)
def test_what_is_judged_over_the_whole_table_is_divided_anew(tmp_path: Path, more: dict[str, Any]) -> None:
    opened = new_site(tmp_path)
    for _ in range(2):
        is_divided_anew(put(opened, people(60), POLICY.but(**more)))


def test_under_another_policy_all_is_divided_anew(opened: OpenSite) -> None:
    is_divided_anew(put(opened, ALL, POLICY.but(title="Register")))


def test_a_whole_table_that_is_replaced_is_divided_anew(opened: OpenSite) -> None:
    is_divided_anew(put(opened, people(300, first=9000)))


def test_a_store_that_is_not_what_was_verified_is_not_gone_on_from(opened: OpenSite) -> None:
    with duckdb.connect(str(opened.site.store / "t" / "v00001.duckdb")) as store:
        store.execute("UPDATE cells SET n = n + 1 WHERE class = 0")
    is_divided_anew(put(opened, both(ALL, people(40, first=1000))))


def test_a_column_that_the_policy_does_not_name_changes_nothing(opened: OpenSite) -> None:
    report = put(opened, both(ALL, people(12, first=6000)) | {"remark": ["x"] * 412})
    assert made_anew(report)


# -- what the verifier finds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "sql", "promise"),
    [
        ("store", "UPDATE cells SET c1_hi = c1_hi + 1 WHERE class = 3", "cells of classes that were carried over"),
        ("store", "DELETE FROM cells WHERE class = 3", "every record is counted once"),
        ("store", "UPDATE cells SET class_n = class_n + 1 WHERE class = 3", "class sizes"),
        ("vault", "UPDATE rows SET zip = 7 WHERE row_id IN (SELECT MIN(row_id) FROM row_class WHERE class = 3)",
         "rows of classes that were carried over"),
        ("vault", "UPDATE row_class SET class = 4 WHERE row_id IN (SELECT MIN(row_id) FROM row_class WHERE class = 3)",
         "class sizes"),
    ],
)  # fmt: skip
def test_carried_classes_that_are_not_what_they_were_are_not_served(
    opened: OpenSite, monkeypatch: pytest.MonkeyPatch, table: str, sql: str, promise: str
) -> None:
    right = DuckDBPublication.prove

    def spoilt(self: DuckDBPublication, *given: Any) -> Any:
        assert self._staging is not None
        if table == "vault":
            self._staging._db.execute(sql)
        else:
            with self._opened(self._staged_store, read_only=False) as store:
                store.execute(sql)
        return right(self, *given)

    monkeypatch.setattr(DuckDBPublication, "prove", spoilt)
    with pytest.raises(ConfigError, match=promise):
        put(opened, both(ALL, people(40, first=1000)))
    assert opened.store.versions("t") == (1,)
