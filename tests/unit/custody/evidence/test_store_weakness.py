"""The store report on a store of which every class is known, and which classes statements read out."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest

from querygate.core.block import ALL_NULLS, NO_NULLS, SOME_NULLS, Block, CodeColumn, CodeSets, NumberColumn, RowClasses
from querygate.core.types import Catalog, Column
from querygate.custody.evidence.class_reader import ClassReader
from querygate.custody.evidence.store_weakness import Weakness, find_weaknesses
from querygate.custody.use_cases.audits.evidence_reports import report_store, report_users
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate_adapters.vault.cell_classes import ClassedRelease, open_version
from tests.policies import ILLNESS, make_policy, quasi, sensitive

AGE = quasi("integer", (0, 99), grid=1, cuts=[10, 20, 30])
SBP = sensitive("integer", (0, 200), grid=1, bins=1, guard=0)
DX = ILLNESS | {"values": ["cold", "flu", "hiv", "tb"]}
POLICY = make_policy("t", {"age": AGE, "sbp": SBP, "dx": DX}, k=4)

# Four classes by age; in the first all have one diagnosis, in the third all pressures are missing.
PRESSURE = {0: [100, 120, 140, 160], 1: [77, 77, 77, 77], 2: ["", "", "", ""], 3: [10, 12, 14, 90]}
DIAGNOSES = {0: ["flu"] * 4, 1: ["flu", "hiv", "flu", "flu"], 2: ["flu", "hiv", "tb", "cold"], 3: ["tb", "hiv"] * 2}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    folder: Path = tmp_path_factory.mktemp("weak")
    made = open_gate(init_site(folder / "site"))
    rows = [f"{10 * decade + i},{PRESSURE[decade][i]},{DIAGNOSES[decade][i]}" for decade in range(4) for i in range(4)]
    (folder / "t.csv").write_text("age,sbp,dx\n" + "\n".join(rows) + "\n")
    publish_to(made, POLICY.parsed(), str(folder / "t.csv"), user="carl")
    return made


@pytest.fixture(scope="module")
def release(opened: OpenSite) -> ClassedRelease:
    found = open_version(opened.site.store, "t", 1)
    assert found is not None
    return found


def weakness(release: ClassedRelease, column: str) -> Weakness:
    return next(one for one in find_weaknesses(release) if one.column == column)


def test_classes_of_one_diagnosis_are_counted_and_shown(release: ClassedRelease) -> None:
    found = weakness(release, "dx")
    assert (found.classes, found.one_value, found.narrow, found.narrowest) == (4, 1, 1, 1)
    assert (found.dominated, found.largest_share) == (2, 1.0)
    worst = found.weakest[0]
    assert (worst.records, worst.known, worst.published, worst.share) == (4, "age 0 .. 3", "flu", 1.0)


def test_a_class_of_which_all_are_missing_is_of_one_mind(release: ClassedRelease) -> None:
    found = weakness(release, "sbp")
    assert (found.one_value, found.narrow, found.narrowest) == (1, 1, 0)
    assert [(one.published, one.share) for one in found.weakest[:2]] == [("missing", 1.0), ("0 .. 77", 1.0)]


class Made:
    """Cells as they are given: (class, low, high, null state, records)."""

    def __init__(self, *cells: tuple[int, int, int, int, int]) -> None:
        self.cells = np.array(cells, dtype=np.int64)
        column = Column("sbp", 0, "sensitive", "integer", True, low=0, high=200)
        self.catalog = Catalog("t", 1, "", 4, int(self.cells[:, 4].sum()), (column,))

    def by_class(self, names: Collection[str], margin: int | None = None) -> Block:
        labels, low, high, null, n = self.cells.T
        held = {"sbp": NumberColumn(low, high, null)} if "sbp" in names else {}
        return Block(n, held, classified=RowClasses(labels, np.arange(n.size), {}))


def test_numbers_are_measured_by_the_hull_of_their_class() -> None:
    made = Made(
        (1, 77, 77, NO_NULLS, 5),  # one value
        (2, 70, 79, NO_NULLS, 3),
        (2, 80, 89, NO_NULLS, 1),  # 19 wide: narrow on 200
        (3, 77, 77, SOME_NULLS, 4),  # one value, or missing
        (4, 0, 99, NO_NULLS, 1),
        (4, 100, 200, NO_NULLS, 1),
        (4, 0, 0, ALL_NULLS, 2),
    )
    [found] = find_weaknesses(made)  # type: ignore[arg-type]
    assert (found.classes, found.one_value, found.narrow, found.narrowest) == (4, 1, 3, 0.0)
    assert (found.dominated, found.largest_share) == (3, 1.0)
    assert [(one.label, one.records, one.published) for one in found.weakest] == [
        (1, 5, "77"),
        (3, 4, "77 or missing"),
        (2, 4, "70 .. 89"),
        (4, 4, "0 .. 200 or missing"),
    ]


class MadeOfCodes:
    """Cells of code lists: (class, set of items, records). Item 0 has one code, item 1 has two."""

    def __init__(self, *cells: tuple[int, int, int]) -> None:
        self.cells = np.array(cells, dtype=np.int64)
        self.sets = CodeSets.of(["401.1", "250.00", "250.01"], [0, 1, 1], [[], [0], [1], [0, 1]])
        column = Column("dx", 0, "codes", "codes", False, values=("250.00", "250.01", "401.1"))
        self.catalog = Catalog("t", 1, "", 4, int(self.cells[:, 2].sum()), (column,))

    def by_class(self, names: Collection[str], margin: int | None = None) -> Block:
        labels, sets, n = self.cells.T
        held = {"dx": CodeColumn(sets, self.sets)} if "dx" in names else {}
        return Block(n, held, classified=RowClasses(labels, np.arange(n.size), {}))


def test_code_lists_are_known_where_each_item_is_one_code() -> None:
    made = MadeOfCodes((1, 1, 4), (2, 2, 4), (3, 0, 3), (3, 3, 1), (4, 0, 5))
    [found] = find_weaknesses(made)  # type: ignore[arg-type]
    assert (found.classes, found.one_value) == (4, 2)  # all have 401.1; all have nothing
    assert (found.dominated, found.largest_share, found.narrowest) == (3, 1.0, 1)
    assert {one.label for one in found.weakest[:2]} == {1, 4}


def test_the_report_is_a_function_of_the_store(release: ClassedRelease) -> None:
    assert find_weaknesses(release) == find_weaknesses(release)


# -- reading out -----------------------------------------------------------------------------------------------------


@pytest.fixture
def reader(opened: OpenSite, release: ClassedRelease) -> ClassReader:
    return ClassReader(release, opened.gate.native)


@pytest.mark.parametrize(
    ("statements", "classes"),
    [
        ([], 0),
        (["SELECT COUNT(*) FROM t"], 0),  # all classes look alike
        (["SELECT AVG(sbp) FROM t WHERE age < 10"], 1),  # one, against three
        (["SELECT AVG(sbp) FROM t WHERE age < 20"], 0),  # two against two
        (["SELECT AVG(sbp) FROM t WHERE age < 20", "SELECT COUNT(*) FROM t WHERE age >= 10"], 2),
        (["SELECT COUNT(*) FROM t WHERE age < 20", "SELECT COUNT(*) FROM t WHERE age BETWEEN 10 AND 29"], 4),
        (["SELECT age, COUNT(*) FROM t GROUP BY age"], 4),
        (["SELECT COUNT(*) FROM t WHERE age < 10", "SELECT COUNT(*) FROM t WHERE NOT age >= 10"], 1),
        (["SELECT n FROM t"], 0),  # cannot be read any more
    ],
)
def test_classes_that_statements_tell_apart(reader: ClassReader, statements: list[str], classes: int) -> None:
    assert reader.read_out(statements) == classes


def test_how_many_classes_a_condition_concerns(reader: ClassReader) -> None:
    wanted = {"TRUE": 4, "age = 3": 1, "age IN (3, 13)": 2, "sbp > 150": 2, "dx = 'hiv'": 3, "age > 90": 0}
    found = {where: reader.concerned(f"SELECT COUNT(*) FROM t WHERE {where}") for where in wanted}
    assert {where: count for where, count in found.items() if count != wanted[where]} == {}
    assert reader.concerned("SELECT nonsense FROM t") is None


# -- the reports of a site ---------------------------------------------------------------------------------------------


def test_the_site_reports_what_each_user_has_read_and_who_asks_for_few(opened: OpenSite) -> None:
    for number, where in enumerate(("age < 10", "age = 3", "age = 4", "sbp > 150")):
        request = {"user": "eve", "dataset": "t", "version": 1, "mode": "interval", "canonical_hash": f"h{number}"}
        opened.log.intend(f"q_{number}", sql=f"SELECT COUNT(*) FROM t WHERE {where}", **request, policy_hash="")
        opened.log.conclude(f"q_{number}", "answered", answer={})
    report = report_store(opened, "t", None, user="carl")
    assert (report.version, report.classes, report.read_out) == (1, 4, {"eve": 2})
    [eve] = report_users(opened, user="carl", dataset="t", since=None)
    assert (eve.rare, eve.near, eve.score) == (3, 1, 10)
    kinds = [event["kind"] for event in opened.log.events() if event["user"] == "carl"]
    assert kinds[-2:] == ["audit.store", "audit.users"]
