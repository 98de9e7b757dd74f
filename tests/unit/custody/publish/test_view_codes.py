"""Groups of codes in views: what is told of them is true, what is not is refused, what betrays is not published."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from querygate.core.errors import ConfigError, QueryGateError, UnsupportedSQL
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.audit.audit import AuditOptions
from querygate.custody.code_lists import code_groups
from querygate.custody.extract.extract_scope import narrowed
from querygate.custody.publish.republication_guard import VersionHandling
from querygate.custody.use_cases.audits.log_audit import audit_site
from querygate.gate.description import make_description
from querygate.site.extract_requests.extracts import Extracts
from tests.extract_site import CsvBuilder
from tests.policies import PolicyText
from tests.unit.custody.publish.grouped_codes import GROUPS, POLICY, Rows, held, parsed, people, published
from tests.unit.custody.publish.publications import RESEARCHER, Miswriter, ask, ends, new_site, put, shelf_of
from tests.unit.custody.publish.view_stores import ViewStore


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ViewStore:
    return published(tmp_path_factory.mktemp("codes"), people())[0]


def test_every_margin_of_a_flag_is_true_of_every_record(store: ViewStore) -> None:
    assert list(store.wrong()) == []
    assert [margin.sensitive for margin in store.catalog.margins[:5]] == [
        *((), ("sbp",), ("diabetes",), ("high pressure",), ("giardia",)),
    ]
    for row, text in zip(sorted(store.rows, key=lambda row: row["row_id"]), people()["dx"], strict=True):
        assert {name for name in GROUPS if row[name] == "true"} == held(text)


def test_nothing_of_the_list_itself_is_stored(store: ViewStore) -> None:
    (dx,) = [column for column in store.catalog.columns if column.name == "dx"]
    assert dict(dx.groups) == {
        "diabetes": ("250.00", "250.01"), "high pressure": ("401.1", "401.9"), "giardia": ("007",)
    }  # fmt: skip
    assert not [name for name in store.cells[0] if name.startswith(f"c{dx.index}_")]


TESTS = {
    "has_code_under(dx, '250')": {"diabetes"},
    "has_any(dx, '250.01', '250.00')": {"diabetes"},
    "has_any(dx, '401.1', '401.9')": {"high pressure"},
    "has_code(dx, '007')": {"giardia"},
    "diabetes": {"diabetes"},
    '"high pressure" = TRUE': {"high pressure"},
}


@pytest.mark.parametrize("test", TESTS)
def test_the_truth_is_in_every_range(store: ViewStore, test: str) -> None:
    rows = people()
    chosen = {"age < 50": [age < 50 for age in rows["age"]], "sex = 'F'": [sex == "F" for sex in rows["sex"]]}
    for more, mine in chosen.items():
        for negated in ("", "NOT "):
            wanted = [not held(text) & TESTS[test] for text, own in zip(rows["dx"], mine, strict=True) if own]
            low, high = ends(store.opened, "COUNT(*)", f"{negated}{test} AND {more}")
            assert low <= wanted.count(bool(negated)) <= high
            assert high - low < 60
    (low, high) = ends(store.opened, f"AVG(CASE WHEN {test} THEN 1 ELSE 0 END)")
    assert low <= sum(bool(held(text) & TESTS[test]) for text in rows["dx"]) / 120 <= high


@pytest.mark.parametrize(
    ("test", "code", "said"),
    [
        ("has_code(dx, '250.00')", "QG217", "Ask for a whole group: diabetes."),
        ("has_any(dx, '250.00', '250.01', '401.1')", "QG217", 'Ask for a whole group: diabetes, "high pressure".'),
        ("has_code_under(dx, 'V')", "QG217", 'Ask for a whole group: diabetes, "high pressure", giardia.'),
        ("has_any(dx, '250.00', '250.01', '007')", "QG217", 'linked = [["diabetes", "giardia"]]'),
        ("has_code(dx, '250.02')", "QG207", "Did you mean '250.01'?"),
        ("dx IS NULL", "QG209", "Write, for example, diabetes, a group of its codes."),
    ],
)
def test_what_is_told_nowhere_is_refused_with_what_is(store: ViewStore, test: str, code: str, said: str) -> None:
    with pytest.raises(UnsupportedSQL) as caught:
        ask(store.opened, f"SELECT COUNT(*) FROM t WHERE {test}")
    assert caught.value.code == code
    assert said in caught.value.remedy


def test_a_test_for_some_codes_of_a_group_suggests_the_group(store: ViewStore) -> None:
    with pytest.raises(UnsupportedSQL) as caught:
        ask(store.opened, "SELECT sex, COUNT(*) FROM t WHERE NOT has_code(dx, '401.9') AND age < 50 GROUP BY sex")
    assert caught.value.suggestion is not None
    assert 'NOT "high pressure"' in caught.value.suggestion
    assert ask(store.opened, caught.value.suggestion)


def test_the_description_names_groups_with_their_codes(store: ViewStore) -> None:
    gate = store.opened.gate
    told = make_description(store.catalog, gate.native, gate.limits)
    (dx,) = [column for column in told["columns"] if column["name"] == "dx"]
    assert dx["groups"]["giardia"] == ["007"]
    assert any("dx (diabetes, high pressure, giardia)" in line for line in told["policy"])
    assert "SELECT COUNT(*) FROM t WHERE diabetes" in told["examples"]


def test_the_auditor_knows_what_a_test_selected(store: ViewStore) -> None:
    ask(store.opened, "SELECT COUNT(*) FROM t WHERE has_code_under(dx, '250')")
    outcomes = audit_site(store.opened, "t", AuditOptions(k=3), reveal=False)
    assert [one.found.unread for one in outcomes] == [()]


def test_records_leave_with_their_list_and_without_flags(store: ViewStore, tmp_path: Path) -> None:
    assert [column.name for column in narrowed(parsed(tmp_path), ExtractSpec("t", "a study")).columns] == [
        *("age", "sex", "town", "job", "sbp", "dx"),
    ]
    extracts = Extracts(store.opened, CsvBuilder)
    with pytest.raises(QueryGateError, match="diabetes is not a column"):
        extracts.request(RESEARCHER, {"dataset": "t", "purpose": "a study", "columns": ["age", "diabetes"]})


def test_linked_groups_may_have_codes_in_common_and_are_asked_about_together(tmp_path: Path) -> None:
    nested = {"diabetes": ["250"], "plain": ["250.00"]}
    policy = POLICY.but(views={"codes": {"dx": nested}, "linked": [["diabetes", "plain"]]})
    store, _ = published(tmp_path, people(), policy)
    assert list(store.wrong()) == []
    texts = [{code.strip() for code in (text or "").split(";")} for text in people()["dx"]]
    plain, only = (
        sum("250.00" in codes for codes in texts),
        sum({"250.00", "25001"} & codes == {"25001"} for codes in texts),
    )
    low, high = ends(store.opened, "COUNT(*)", "has_code(dx, '250.00')")
    assert low <= plain <= high
    low, high = ends(store.opened, "COUNT(*)", "has_code_under(dx, '250') AND NOT has_code(dx, '250.00')")
    assert low <= only <= high


# -- what is not published ---------------------------------------------------------------------------------------------

FEW = 60


def few() -> Rows:
    return people(FEW)


def problem(folder: Path, rows: Rows, **views: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        published(folder, rows, POLICY.but(views=views))
    return caught.value


NESTED = {"codes": {"dx": {"diabetes": ["250"], "plain": ["250.00"]}}}
ALL = {"codes": {"dx": {"a": ["250", "401"], "b": ["007", "V"]}}}


def test_groups_that_tell_of_each_other_are_not_told_apart(tmp_path: Path) -> None:
    found = problem(tmp_path / "1", few(), **NESTED)
    assert found.code == "QG801"
    assert 'link both: views.linked = [["diabetes", "plain"]]' in found.remedy
    single = few() | {"dx": random.Random(3).choices(["250.00", "401.1", "V10", None], k=FEW)}
    found = problem(tmp_path / "2", single)
    assert found.code == "QG803"
    assert "no list has more than 1 code, and 3 groups of them are separate" in found.detail
    several = few() | {"dx": [text if (text or "").strip(" ;") else "V10" for text in few()["dx"]]}
    found = problem(tmp_path / "3", several, **ALL)
    assert found.code == "QG803"
    assert "every list has a code, and every code is in a group" in found.detail


def test_what_is_no_code_is_told_before_the_source_is_read(tmp_path: Path) -> None:
    unread = {name: ["?"] for name in people(1)}
    found = problem(tmp_path, unread, codes={"dx": {"x": ["999"]}})
    assert found.code == "QG801"
    assert "views.codes.dx.x: 999 is neither a code nor a group" in found.detail


def refused(folder: Path, policy: PolicyText, rows: Rows, change: Any = None) -> str:
    opened = new_site(folder)
    shelf = Miswriter(shelf_of(opened), change) if change else None
    with pytest.raises(ConfigError) as caught:
        put(opened, parsed(folder, policy), rows, shelf=shelf)
    assert caught.value.code == "QG803"
    return caught.value.detail


def test_the_verifier_makes_flags_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = code_groups._flags

    def wrong(*given: Any) -> Any:
        flags = right(*given)
        flags[7] = not flags[7]
        return flags

    monkeypatch.setattr(code_groups, "_flags", wrong)
    assert "is true of those who have one of its codes" in refused(tmp_path, POLICY, few())


def test_the_verifier_reads_groups_from_the_policy(tmp_path: Path) -> None:
    def change(catalog: Any, *rest: Any) -> Any:
        *others, dx = catalog.columns
        groups = (("diabetes", ("250.00",)), *dx.groups[1:])
        return replace(catalog, columns=(*others, replace(dx, groups=groups))), *rest

    assert "of dx the catalog has the right groups" in refused(tmp_path, POLICY, few(), change)


def test_the_verifier_knows_what_must_be_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_groups, "check_groups", lambda policy: None)
    monkeypatch.setattr(code_groups, "_check_apart", lambda *given: None)
    assert "have no code in common, or are linked" in refused(tmp_path / "1", POLICY.but(views=NESTED), few())
    single = few() | {"dx": random.Random(3).choices(["250.00", "401.1", "V10", None], k=FEW)}
    assert "as many codes as groups are told apart" in refused(tmp_path / "2", POLICY, single)
    several = few() | {"dx": [text if (text or "").strip(" ;") else "V10" for text in few()["dx"]]}
    assert "or some list is empty" in refused(tmp_path / "3", POLICY.but(views=ALL), several)


# -- versions ----------------------------------------------------------------------------------------------------------


def test_a_new_version_keeps_the_groups_of_the_one_before(tmp_path: Path) -> None:
    opened, rows = new_site(tmp_path), few()
    handling = VersionHandling("refuse")
    put(opened, parsed(tmp_path), rows)
    other = POLICY.but(views={"codes": {"dx": {"diabetes": ["250"], "old": ["V10"]}}})
    with pytest.raises(ConfigError, match="groups of the codes of dx in version 1"):
        put(opened, parsed(tmp_path, other), rows, handling=handling)
    more = POLICY.but(views={"codes": {"dx": GROUPS | {"old": ["V10"]}}})
    assert put(opened, parsed(tmp_path, more), rows, handling=handling).version == 2
