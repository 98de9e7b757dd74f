"""The inline policy: what is refused, warned of or only told, to whom it is blamed, and what a refusal says."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from querygate.core.answer_bodies import ExplanationBody
from querygate.core.errors import ConfigError, DisclosureRefused, Fault
from querygate.core.types import Bools, Principal, QueryOptions, Request
from querygate.custody.audit.query_structure import Structure
from querygate.custody.use_cases.audits.evidence_reports import replay_site
from querygate.custody.use_cases.audits.inline_auditor import NOTE, with_auditor
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate import answer
from querygate.gate.likely_values import NOTE as NOT_GUARANTEED
from querygate.gate.steps import explain as step_explain
from querygate.gate.steps.admit import WARNING
from querygate.gate.width_explanation_text import explanation_lines
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.api.small_site import POLICY, write_inputs
from tests.audited_site import AND_ONE_MORE, FORTIES, ask, make_audited_site, notes_of
from tests.numbers_in import numbers
from tests.work import HANG_S


def refused(opened: OpenSite, user: str, sql: str) -> DisclosureRefused:
    with pytest.raises(DisclosureRefused) as caught:
        ask(opened, user, sql)
    return caught.value


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    opened = make_audited_site(tmp_path_factory.mktemp("audited"))
    opened.log.database.close()
    return opened.site.folder


@pytest.fixture
def site(made: Path, tmp_path: Path) -> OpenSite:
    """A copy of the site, as it was made."""
    return with_auditor(open_gate(open_site(Path(shutil.copytree(made, tmp_path / "site")))))


def told(opened: OpenSite, user: str, sql: str) -> tuple[str, ...]:
    """The notes of an answer but the one about estimates."""
    return tuple(note for note in ask(opened, user, sql).notes if note != NOT_GUARANTEED)


def test_the_classic_is_refused_in_fixed_words(site: OpenSite) -> None:
    ask(site, "ann", FORTIES)
    found = refused(site, "ann", AND_ONE_MORE)
    assert (found.code, found.meaning.status, found.meaning.exit) == ("QG501", 403, 1)
    assert found.suggestion is None
    said = {(e.code, e.detail, e.remedy, e.suggestion, e.span) for e in (found, refused(site, "ann", small()))}
    said |= {(e.code, e.detail, e.remedy, e.suggestion, e.span) for e in (refused(site, "ann", unreadable()),)}
    assert len(said) == 1  # a pair, a small set, and what cannot be decided on
    line = site.log.query(str(found.query_id))
    assert line is not None
    assert (line["outcome"], line["code"], line["answer"]) == ("refused", "QG501", None)


def small() -> str:
    return "SELECT AVG(sbp) FROM clinic WHERE age < 33"


def unreadable() -> str:
    return "SELECT age, COUNT(*) FROM clinic WHERE age > sbp GROUP BY age"


def test_the_reason_is_in_the_custodian_s_log(site: OpenSite) -> None:
    ask(site, "ann", FORTIES)
    refused(site, "ann", AND_ONE_MORE)
    [note] = notes_of(site, NOTE)
    assert note["refused"] is True
    assert {(one["view"], one["rule"], one["records"]) for one in note["found"]} >= {
        ("ann", "pair", 1),
        ("project heart", "pair", 1),
        ("organisation uni a", "pair", 1),
        ("everybody", "pair", 1),
    }
    assert "51" not in numbers(str(note))
    refused(site, "ann", unreadable())
    assert notes_of(site, NOTE)[-1]["undecided"]


def test_a_project_is_one_and_others_only_tell(site: OpenSite) -> None:
    ask(site, "ann", FORTIES)
    refused(site, "bob", AND_ONE_MORE)  # of the same project
    assert ask(site, "cyd", AND_ONE_MORE).groups  # of the same organisation: answered, and told
    note = notes_of(site, NOTE)[-1]
    assert note["refused"] is False
    assert {one["view"] for one in note["found"]} == {"organisation uni a", "everybody"}
    assert ask(site, "eve", AND_ONE_MORE).groups
    assert refused(site, "cyd", FORTIES).code == "QG501"


def test_what_was_refused_is_not_held_against_anybody(site: OpenSite) -> None:
    ask(site, "ann", FORTIES)
    refused(site, "ann", AND_ONE_MORE)
    two_more = AND_ONE_MORE.replace("50", "54")  # five more than the first, four more than the refused one
    assert ask(site, "ann", two_more).groups
    assert ask(site, "ann", FORTIES).groups  # what was answered is answered again, in any words
    assert ask(site, "ann", "SELECT COUNT(*) FROM clinic WHERE NOT (age > 49 OR age < 30)").groups


def test_a_new_process_decides_the_same(site: OpenSite) -> None:
    ask(site, "ann", FORTIES)
    again = with_auditor(open_gate(open_site(site.site.folder)))
    refused(again, "bob", AND_ONE_MORE)
    ask(again, "bob", "SELECT COUNT(*) FROM clinic WHERE age >= 55")
    refused(site, "ann", "SELECT COUNT(*) FROM clinic WHERE age >= 56")  # answered by the other process


def test_a_table_is_judged_with_its_groups_together(site: OpenSite) -> None:
    table = "SELECT sex, COUNT(*) FROM clinic WHERE age {} GROUP BY sex"
    ask(site, "ann", table.format("< 50"))
    refused(site, "ann", table.format("< 52"))  # one more of each sex
    refused(site, "ann", "SELECT age, COUNT(*) FROM clinic GROUP BY age")


@pytest.mark.parametrize(
    "again",
    [
        "SELECT SUM(sbp * 2) FROM clinic WHERE age BETWEEN 30 AND 50",
        "SELECT COUNT(*) FROM clinic WHERE age BETWEEN 30 AND 50 AND NOT sbp <> 120",
        "SELECT MAX(sbp) FROM clinic WHERE NOT (age < 30 OR age * 2 > 100)",
        "SELECT VAR_SAMP(sbp) FROM clinic WHERE age BETWEEN 30 AND 50",
        "SELECT sbp > 120, COUNT(*) FROM clinic WHERE age BETWEEN 30 AND 50 GROUP BY 1",
    ],
)
def test_no_other_words_or_measures_get_round_it(site: OpenSite, again: str) -> None:
    ask(site, "ann", FORTIES)
    refused(site, "ann", again)


def test_warn_answers_with_a_fixed_note_that_a_replay_leaves_out(tmp_path: Path) -> None:
    opened = make_audited_site(tmp_path, "warn")
    assert told(opened, "ann", FORTIES) == ()
    assert told(opened, "ann", AND_ONE_MORE) == (WARNING,)
    assert told(opened, "ann", small()) == (WARNING,)
    assert told(opened, "cyd", FORTIES) == ()  # of a larger view only the custodian hears
    assert [note["refused"] for note in notes_of(opened, NOTE)] == [False, False]
    found = replay_site(opened, user="local")
    assert (found.answers, found.different) == (4, ())


def test_alert_answers_as_if_nothing_were(tmp_path: Path) -> None:
    opened = make_audited_site(tmp_path, "alert")
    ask(opened, "ann", FORTIES)
    assert told(opened, "ann", AND_ONE_MORE) == ()
    [note] = notes_of(opened, NOTE)
    assert note["found"][0]["rule"] == "pair"
    assert "withheld" not in explained(opened)  # nothing is judged, so reasons are told


def test_two_at_the_same_time_do_not_both_get_through(site: OpenSite) -> None:
    """The second is judged while the first is still being computed."""
    store, inside, go_on = site.gate.store, threading.Event(), threading.Event()

    class Slow:
        def __getattr__(self, name: str):
            return getattr(store, name)

        def current(self, dataset: str):
            release = store.current(dataset)

            class Waiting:
                catalog = release.catalog

                def project(self, *args):
                    inside.set()
                    assert go_on.wait(HANG_S)
                    return release.project(*args)

            return Waiting()

    slow = replace(site, gate=replace(site.gate, store=Slow()))
    answers = []
    thread = threading.Thread(target=lambda: answers.append(ask(slow, "ann", FORTIES)))
    thread.start()
    assert inside.wait(HANG_S)
    refused(site, "bob", AND_ONE_MORE)
    go_on.set()
    thread.join()
    assert answers[0].groups


def test_what_failed_is_forgotten(site: OpenSite) -> None:
    class Broken:
        def current(self, dataset: str):
            release = site.store.current(dataset)

            class Failing:
                catalog = release.catalog

                def project(self, *args):
                    raise ValueError

            return Failing()

    with pytest.raises(Fault):
        ask(replace(site, gate=replace(site.gate, store=Broken())), "ann", FORTIES)
    assert ask(site, "ann", AND_ONE_MORE).groups


# -- explanations ------------------------------------------------------------------------------------------------------


def explained(opened: OpenSite) -> ExplanationBody:
    asked = Request(Principal("ann", "researcher"), "clinic", FORTIES, QueryOptions(explain=True))
    return answer.ask(asked, opened.gate)["explanation"]


def test_explanations_tell_nothing_of_questions_that_nobody_judged(
    site: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question nearby may be one that the auditor refuses: neither its width nor whom it is about is told."""
    tried = []
    monkeypatch.setattr(step_explain, "_try", lambda sql, *_: tried.append(sql))
    explanation = explained(site)

    assert tried == []
    assert explanation["straddling"] == explanation["suggestions"] == []
    assert all(column["causes"] == [] for column in explanation["columns"])
    assert "not given" in explanation["withheld"]
    assert list(explanation_lines(explanation))[-1] == explanation["withheld"]


# -- configuration -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", ["warn", "refuse"])
def test_without_the_setting_it_is_a_configuration_error(tmp_path: Path, wanted: str) -> None:
    opened = open_gate(init_site(tmp_path / "site"))
    policy = POLICY.but(audit={"on_differencing": wanted}).parsed()
    with pytest.raises(ConfigError) as caught:
        publish_to(opened, policy, str(write_inputs(tmp_path)[1]), user="local")
    assert caught.value.code == "QG805"
    assert "store alone" in caught.value.detail
    assert "audit watch" in caught.value.remedy
    assert "inline_audit = true" in caught.value.remedy
    assert opened.store.datasets() == ()


def test_a_gate_without_an_auditor_answers_nothing_of_such_a_dataset(site: OpenSite) -> None:
    """A store that was copied to a machine with other settings fails closed."""
    with pytest.raises(Fault):
        ask(replace(site, gate=replace(site.gate, auditor=None)), "ann", FORTIES)
    (site.site.folder / "querygate.toml").write_text("")
    again = open_gate(open_site(site.site.folder))
    with pytest.raises(ConfigError):
        with_auditor(again)


def test_without_the_vault_everything_is_refused(site: OpenSite) -> None:
    for path in (site.site.vault / "clinic").glob("*.duckdb"):
        path.unlink()
    again = with_auditor(open_gate(open_site(site.site.folder)))
    refused(again, "ann", "SELECT COUNT(*) FROM clinic")


def test_only_known_columns_are_read(site: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    from querygate_adapters.vault import raw_records

    held = []
    made = raw_records.DuckDBRecords.__init__

    def spy(self, source, **more):
        held.append(source.columns())
        made(self, source, **more)

    monkeypatch.setattr(raw_records.DuckDBRecords, "__init__", spy)
    ask(site, "ann", FORTIES)
    assert held == [("age", "sex")]


def test_a_logged_query_that_the_auditor_fails_on_stops_no_other(
    site: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: its sets cannot be worked out. It is refused, as what cannot be decided on; the others are answered."""
    sets = Structure.sets

    def failing(structure: Structure, sql: str) -> Bools:
        if sql == FORTIES and planted:
            raise ZeroDivisionError("planted")
        return sets(structure, sql)

    monkeypatch.setattr(Structure, "sets", failing)
    planted = False
    ask(site, "ann", FORTIES)
    planted = True
    fresh = with_auditor(open_gate(open_site(site.site.folder)))
    assert ask(fresh, "ann", "SELECT AVG(sbp) FROM clinic").query_id
    assert refused(fresh, "ann", FORTIES).code == "QG501"
    assert "incident i_" in notes_of(fresh, NOTE)[-1]["undecided"]
