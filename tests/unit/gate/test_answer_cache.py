"""Answers given again: the same text, the same version, the same person; on record and judged like any other."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from querygate.core.answer_bodies import AnswerBody
from querygate.core.errors import DisclosureRefused, NotPermitted
from querygate.core.types import Catalog, Principal, QueryOptions, Request
from querygate.custody.use_cases.publish_version import publish_to
from querygate.custody.use_cases.withdraw_dataset import withdraw_dataset
from querygate.gate import answer as path
from querygate.gate.answer import ask
from querygate.gate.answer_cache import OVERHEAD, AnswerKey, KeptAnswer, KeptAnswers
from querygate.gate.query_state import Gate
from querygate.gate.steps import understand as step_understand
from querygate.gate.steps.admit import WARNING
from querygate.gate.steps.protect import HURRIED, protect
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate_adapters.store.duckdb_store import DuckDBStore
from tests.api.small_site import POLICY, make_small_site, write_inputs

SQL = "SELECT sex, COUNT(*) AS n, AVG(sbp) FROM clinic WHERE age < 55 GROUP BY sex ORDER BY sex"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    small = make_small_site(tmp_path_factory.mktemp("kept"))
    small.opened.log.database.close()
    return small.folder


@pytest.fixture
def site(made: Path, tmp_path: Path) -> OpenSite:
    return open_gate(open_site(Path(shutil.copytree(made, tmp_path / "site"))))


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that were understood, and not only found."""
    found: list[str] = []
    understood = step_understand.understand_sql

    def understand(sql, *rest):
        found.append(sql)
        return understood(sql, *rest)

    monkeypatch.setattr(step_understand, "understand_sql", understand)
    return found


def asked(gate: Gate, sql: str = SQL, name: str = "ann", **options) -> AnswerBody:
    return ask(Request(Principal(name, "researcher"), "clinic", sql, QueryOptions(**options)), gate)


def told(body: AnswerBody) -> dict[str, object]:
    return {name: value for name, value in body.items() if name not in ("query_id", "elapsed_ms")}


def test_the_same_text_is_answered_again_and_on_record(site: OpenSite, computed: list[str]) -> None:
    first, again = asked(site.gate), asked(site.gate)

    assert computed == [SQL]
    assert told(first) == told(again)
    assert list(first) == list(again)
    assert first["query_id"] != again["query_id"]
    assert site.log.answer(again["query_id"]) == ("ann", again)
    entries = [event for event in site.log.events() if event["query_id"] == again["query_id"]]
    assert [event["kind"] for event in entries] == ["query.intent", "query.outcome"]
    assert entries[0]["seq"] + 1 == entries[1]["seq"]
    before = [event for event in site.log.events() if event["query_id"] == first["query_id"]]
    assert entries[0]["body"] == before[0]["body"]
    site.log.verify()


@pytest.mark.parametrize(
    "other",
    [SQL.replace(" AS n", " AS m"), SQL.replace("ORDER BY sex", "ORDER BY sex DESC"), SQL + " ", SQL.lower()],
)
def test_another_text_is_another_question(site: OpenSite, computed: list[str], other: str) -> None:
    asked(site.gate)
    asked(site.gate, other)
    assert computed == [SQL, other]


@pytest.mark.parametrize("more", [{"name": "bob"}, {"readable": True}, {"mode": "interval"}])
def test_another_person_or_option_is_another_question(
    site: OpenSite, computed: list[str], more: dict[str, object]
) -> None:
    asked(site.gate)
    asked(site.gate, **more)  # type: ignore[arg-type]
    assert len(computed) == 2


def test_explanations_are_always_made_anew(site: OpenSite, computed: list[str]) -> None:
    asked(site.gate, explain=True)
    number = len(computed)
    asked(site.gate, explain=True)
    assert len(computed) == 2 * number


def test_a_new_version_is_never_answered_from_an_old_one(site: OpenSite, tmp_path: Path) -> None:
    asked(site.gate)
    publish_to(site, POLICY.parsed(), str(write_inputs(tmp_path)[1]), user="local")
    assert asked(site.gate)["version"] == 2


def test_a_withdrawn_dataset_is_not_answered(site: OpenSite) -> None:
    asked(site.gate)
    withdraw_dataset(site, "clinic", user="carl")
    with pytest.raises(NotPermitted) as caught:
        asked(site.gate)
    assert caught.value.code == "QG312"


def test_without_memory_nothing_is_kept(site: OpenSite, computed: list[str]) -> None:
    gate = replace(site.gate, answers=KeptAnswers(0))
    asked(gate)
    asked(gate)
    assert len(computed) == 2


class Suspicious:
    """Says that everything could single people out, from the second time on."""

    def __init__(self) -> None:
        self.judged: list[str] = []
        self.settled: list[str] = []

    def judge(self, query_id: str, catalog: Catalog, user: str, sql: str) -> bool:
        self.judged.append(query_id)
        return len(self.judged) > 1

    def settle(self, query_id: str) -> None:
        self.settled.append(query_id)


@pytest.mark.parametrize("rule", ["refuse", "warn"])
def test_the_auditor_judges_what_is_given_again(site: OpenSite, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    release = site.store.current("clinic")
    monkeypatch.setattr(release, "catalog", replace(release.catalog, on_differencing=rule))
    auditor = Suspicious()
    gate = replace(site.gate, auditor=auditor)
    first = asked(gate)
    if rule == "refuse":
        with pytest.raises(DisclosureRefused) as caught:
            asked(gate)
        line = site.log.query(str(caught.value.query_id))
        assert line is not None
        assert (line["outcome"], line["code"], line["answer"]) == ("refused", "QG501", None)
    else:
        again = asked(gate)
        assert again["notes"] == [WARNING, *first["notes"]]
        assert asked(gate)["notes"] == again["notes"]
    assert auditor.settled == auditor.judged


def test_what_was_cut_short_is_computed_again(
    site: OpenSite, computed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:

    def hurried(state, gate):
        found = protect(state, gate)
        return replace(found, notes=(*found.notes, HURRIED))

    short = tuple(hurried if step is protect else step for step in path.STEPS)
    monkeypatch.setattr(path, "STEPS", short)
    asked(site.gate)
    asked(site.gate)
    assert len(computed) == 2


def test_a_gate_whose_custodian_began_anew_answers_from_the_new_version(site: OpenSite, tmp_path: Path) -> None:
    """It is version 1 again, of the same policy. What the engine has open it gives again under the same name."""
    gate = replace(site.gate, store=DuckDBStore(site.site.store))  # of copied files: the gate's log knows none of them
    anew, fewer = open_gate(init_site(tmp_path / "anew")), tmp_path / "fewer.csv"
    fewer.write_text("".join(write_inputs(tmp_path)[1].read_text().splitlines(keepends=True)[:31]))
    publish_to(anew, POLICY.parsed(), str(fewer), user="local")
    count = "SELECT COUNT(*) AS n FROM clinic"
    assert asked(gate, count)["rows"][0]["n"]["low"] == 40
    shutil.rmtree(site.site.store / "clinic")
    shutil.copytree(anew.site.store / "clinic", site.site.store / "clinic")
    assert asked(gate, count)["rows"][0]["n"]["low"] == 30


# -- what is kept ------------------------------------------------------------------------------------------------------


def key(sql: str) -> AnswerKey:
    return AnswerKey("ann", "clinic", 1, "2026", "p", sql, "interval", QueryOptions())


def kept(json_bytes: int) -> KeptAnswer:
    return KeptAnswer({"notes": []}, "", json_bytes)  # type: ignore[typeddict-item]


def test_the_least_recently_used_make_room() -> None:
    answers = KeptAnswers(3 * OVERHEAD + 1000)
    for sql in ("a", "b", "c"):
        answers.put(key(sql), kept(10))
    assert answers.get(key("a")) is not None
    answers.put(key("d"), kept(10))

    assert answers.get(key("b")) is None
    assert [answers.get(key(sql)) is not None for sql in ("a", "c", "d")] == [True] * 3
    assert 0 < answers.held_bytes <= 3 * OVERHEAD + 1000


def test_what_is_larger_than_all_there_is_pushes_nothing_out() -> None:
    answers = KeptAnswers(2 * OVERHEAD)
    answers.put(key("a"), kept(10))
    answers.put(key("b"), kept(10**6))
    assert answers.get(key("a")) is not None
    assert answers.get(key("b")) is None


def test_an_answer_that_is_put_again_counts_once() -> None:
    answers = KeptAnswers(10 * OVERHEAD)
    answers.put(key("a"), kept(100))
    held = answers.held_bytes
    answers.put(key("a"), kept(100))
    assert answers.held_bytes == held
