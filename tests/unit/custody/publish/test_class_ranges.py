"""Tables of more cells than memory holds: made, written and verified some classes at a time, the same to the bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.publish.publish import Report
from querygate.site.open_gate import OpenSite
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from tests.attack.test_verifier_stops import MISWRITTEN, PEOPLE, Change, assert_stopped, miswriter
from tests.attack.test_verifier_stops import POLICY as LIES
from tests.each import each
from tests.engine import reading
from tests.policies import AGE, ILLNESS, SBP, SEX, ZIP, Column, diverse, make_policy, quasi, sensitive
from tests.unit.custody.publish.class_memory import in_ranges
from tests.unit.custody.publish.publications import ask, new_site, put

ROWS = 1_500
POLICY = make_policy(
    "t",
    {
        "age": AGE | {"cuts": [65]},
        "weight": quasi("number", (0, 200), grid=1),
        "county": quasi("category"),
        "sex": SEX,
        "code": ZIP,
        "born": quasi("date", ("1900-01-01", "2020-12-31"), grid=7),
        "sbp": SBP,
        "pulse": sensitive("number", (30, 230), carry="hull", guard=5),
        "disease": ILLNESS | diverse("t-closeness", t=0.45),
    },
)


def people(rows: int = ROWS, seed: int = 1) -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    days = np.datetime64("1930-01-01") + chance.integers(0, 30_000, rows)
    return {
        "age": pa.array(chance.integers(0, 100, rows), mask=chance.random(rows) < 0.05),
        "weight": pa.array(40 + 100 * chance.random(rows) ** 2, mask=chance.random(rows) < 0.1),
        "county": pa.array([f"county {n}" for n in (30 * chance.random(rows) ** 2).astype(int)]),
        "sex": pa.array(chance.choice(["F", "M"], rows), mask=chance.random(rows) < 0.02),
        "code": pa.array([f"{n:03d}" for n in chance.integers(0, 400, rows)]),
        "born": pa.array(days.astype("datetime64[D]"), mask=chance.random(rows) < 0.05),
        "sbp": pa.array(chance.integers(90, 170, rows), mask=chance.random(rows) < 0.03),
        "pulse": pa.array(40 + 100 * chance.random(rows), mask=chance.random(rows) < 0.03),
        "disease": pa.array(chance.choice(["cold", "flu", "gout"], rows)),
    }


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    """Version 1, which no lie gets beyond."""
    opened = new_site(tmp_path_factory.mktemp("lies"))
    put(opened, LIES, PEOPLE)
    return opened


@pytest.fixture
def opened(tmp_path: Path) -> OpenSite:
    return new_site(tmp_path)


def tables_of(opened: OpenSite, version: int) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that a version says of the data, in the order in which it was written."""
    with reading(opened.site.store / "t" / f"v{version:05d}.duckdb") as store:
        names = [name for (name,) in store.execute("SHOW TABLES").fetchall() if name != "catalog"]
        return {name: store.execute(f"SELECT * FROM {name}").fetchall() for name in names}


def asked_ranges(monkeypatch: pytest.MonkeyPatch) -> list[range]:
    """The ranges that the staging tables are asked about from now on."""
    found: list[range] = []
    right = DuckDBStagingTables.of_classes
    monkeypatch.setattr(DuckDBStagingTables, "of_classes", lambda self, one: found.append(one) or right(self, one))
    return found


def is_same(one: Report, other: Report) -> bool:
    """Whether the verifier found the same; sums of doubles are taken in another order."""
    widths = pytest.approx(other.measured.width)
    return bool(replace(one.measured, width={}) == replace(other.measured, width={}) and one.measured.width == widths)


def test_ranges_change_nothing(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = put(opened, POLICY, people())
    asked = asked_ranges(monkeypatch)
    in_ranges(monkeypatch, 150)
    report = put(opened, POLICY, people())
    assert len({(one.start, one.stop) for one in asked}) >= 10
    assert tables_of(opened, 1) == tables_of(opened, 2)
    assert report.cells == whole.cells
    assert is_same(report, whole)
    assert report.loss == pytest.approx(whole.loss)
    sql = "SELECT sex, COUNT(*) AS n, AVG(sbp) AS m FROM t WHERE age < 40 GROUP BY sex"
    assert len(ask(opened, sql)) == 3


NOTHING: list[Any] = [None] * 40
HOSTILE: dict[str, tuple[dict[str, Column], dict[str, Any]]] = {
    "categories alone, and a hull": (
        {"sex": SEX, "code": ZIP, "sbp": SBP | {"carry": "hull"}},
        {"sex": list("FM") * 20, "code": ["007", "070"] * 20, "sbp": [*range(90, 128), None, None]},
    ),
    "nothing known": (
        {"age": AGE, "sex": SEX, "sbp": SBP, "disease": ILLNESS},
        {"age": pa.array(NOTHING, pa.int64()), "sex": pa.array(NOTHING, pa.string()),
         "sbp": pa.array(NOTHING, pa.int64()), "disease": pa.array(NOTHING, pa.string())},
    ),
    "one combination": ({"age": AGE, "disease": ILLNESS}, {"age": [7] * 40, "disease": ["flu", "gout"] * 20}),
    "ends of doubles, and unicode": (
        {"weight": quasi("number", (-1e300, 1e300), grid=1e298), "town": quasi("category"), "disease": ILLNESS},
        {"weight": [-1e300, -1e-300, 0.0, 5e-324, 1e300] * 8, "town": ["Łódź", "東京", "", "a'b;--", "\u202e"] * 8,
         "disease": ["flu", None] * 20},
    ),
    "a class of missing numbers": (
        {"age": AGE | {"cuts": [50]}, "sbp": SBP | {"carry": "hull", "guard": 0}},
        {"age": [20] * 20 + [70] * 20, "sbp": pa.array([*range(90, 110), *[None] * 20], pa.int64())},
    ),
}  # fmt: skip


def test_hostile_tables_come_in_ranges(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each as it is in one piece: published alike, or refused alike."""
    version = 0
    for name, (columns, rows) in HOSTILE.items():
        found = []
        for held in (10**9, 10):
            with monkeypatch.context() as patch:
                in_ranges(patch, held)
                try:
                    report = put(opened, make_policy("t", columns, k=4), rows)
                except ConfigError as refused:
                    found.append(refused.detail)
                    continue
            version += 1
            found.append((tables_of(opened, version), replace(report.measured, width={})))
        assert found[0] == found[1], name


# -- the verifier ----------------------------------------------------------------------------------------------------


ABOUT_CELLS = (
    *("a box that misses a row below", "a bin of a neighbour", "missing values denied", "a value left out of a set"),
    *("a record too many", "a cell left out", "a class said to be larger"),
)


@each("promise, change", [MISWRITTEN[name] for name in ABOUT_CELLS])
def test_what_is_caught_in_one_piece_is_caught_in_ranges(
    served: OpenSite, monkeypatch: pytest.MonkeyPatch, promise: str, change: Change
) -> None:
    in_ranges(monkeypatch, 4)
    assert_stopped(served, promise, lambda: put(served, LIES, PEOPLE, shelf=miswriter(served, change)))


def test_rows_of_a_class_that_is_in_no_range_are_missed(served: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vault has a class that the file does not have; its records are told in another class."""
    right = DuckDBStagingTables.seal_classes

    def seal(self: Any) -> None:
        right(self)
        self._db.execute("UPDATE row_class SET class = 77 WHERE row_id = (SELECT MIN(row_id) FROM row_class)")

    monkeypatch.setattr(DuckDBStagingTables, "seal_classes", seal)
    for held in (10**9, 4):
        in_ranges(monkeypatch, held)
        assert_stopped(served, "lies where it is counted", lambda: put(served, LIES, PEOPLE))


def test_a_bin_is_counted_over_all_ranges(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each class has one record in each bin, and each bin has k of them in all."""
    rows = {"age": np.repeat(np.arange(8), 4), "sbp": np.tile([60, 100, 150, 200], 8)}
    policy = make_policy("t", {"age": AGE, "sbp": SBP | {"bins": 20}}, k=4)
    in_ranges(monkeypatch, 4)
    assert put(opened, policy, rows).classes == 8
