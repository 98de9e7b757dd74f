"""audit watch: what is found as the log grows, that each alert is there once, and that none is lost on its way."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from querygate.control import Log, load_key, rotate
from querygate.control.alerts import KIND, Alerts
from querygate.control.notifications.mail import mail_by
from querygate.control.notifications.outbox import MAIL, TRIES, WEBHOOK, deliver
from querygate.control.notifications.webhooks import NotSent, post_to
from querygate.core.errors import ConfigError
from querygate.custody.audit.answer_ledger import AnswerLedger, ViewFinding
from querygate.custody.use_cases.audits.live_audit import LiveAudit, LogLook, explain_alert, write_alert
from querygate.custody.use_cases.audits.site_coalitions import views_of
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.audited_site import AND_ONE_MORE, FORTIES, ask, make_audited_site, notes_of
from tests.webhook import Receiver, receiving


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site that only alerts, whose gate has no auditor: the usual one."""
    opened = make_audited_site(tmp_path_factory.mktemp("watched"), "alert")
    opened.log.database.close()
    folder = opened.site.folder
    (folder / "querygate.toml").write_text("")
    return folder


@pytest.fixture
def site(made: Path, tmp_path: Path) -> OpenSite:
    return open_gate(open_site(Path(shutil.copytree(made, tmp_path / "site"))))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


def watch(opened: OpenSite, *channels: str) -> LiveAudit:
    return LiveAudit(opened, "clinic", user="local", channels=channels)


def alerts_of(opened: OpenSite) -> Alerts:
    return Alerts(opened.log.database, opened.log)


def test_a_finding_appears_when_its_second_query_is_answered(site: OpenSite) -> None:
    watching = watch(site)
    first = ask(site, "ann", FORTIES).query_id
    assert watching.look().alerts == ()
    second = ask(site, "ann", AND_ONE_MORE).query_id
    seen = watching.look()
    [alert] = seen.alerts
    assert (alert["query"], alert["with"], alert["view"], alert["rule"]) == (second, first, "ann", "pair")
    assert (seen.queries, seen.unread) == (1, ())
    assert watching.look().alerts == ()
    assert notes_of(site, KIND) == [alert]
    assert "1 record" in explain_alert(alert)


def test_alerts_have_no_values(site: OpenSite) -> None:
    ask(site, "ann", FORTIES)
    ask(site, "ann", AND_ONE_MORE)
    [alert] = watch(site).look().alerts
    assert set(alert) == {"id", "dataset", "version", "time", "query", "with", "user", "view", "rule", "records"}
    said = json.dumps(alert) + explain_alert(alert)
    assert "BETWEEN" not in said
    assert "sbp" not in said


def test_each_is_told_in_the_smallest_view(site: OpenSite) -> None:
    ask(site, "ann", FORTIES)
    ask(site, "bob", AND_ONE_MORE)  # of ann's project
    ask(site, "cyd", "SELECT COUNT(*) FROM clinic WHERE age < 52")  # of their organisation
    ask(site, "eve", "SELECT COUNT(*) FROM clinic WHERE age BETWEEN 32 AND 49")  # of another
    views = [alert["view"] for alert in watch(site).look().alerts]
    assert views == ["project heart", "organisation uni a", "everybody"]


def test_a_new_watch_goes_on_where_the_last_one_ended(site: OpenSite) -> None:
    ask(site, "ann", FORTIES)
    watch(site).look()
    ask(site, "ann", AND_ONE_MORE)
    seen = watch(site).look()
    assert (seen.queries, len(seen.alerts)) == (1, 1)  # it knows the first query, and does not tell of it
    assert watch(site).look().alerts == ()


def test_the_same_finding_is_there_once_whoever_finds_it(site: OpenSite) -> None:
    ask(site, "ann", FORTIES)
    ask(site, "ann", AND_ONE_MORE)
    one, other = watch(site, WEBHOOK), watch(site, WEBHOOK)
    with site.log.database.writing() as connection:
        connection.execute("DELETE FROM watch")
    assert len(one.look().alerts) == 1
    with site.log.database.writing() as connection:
        connection.execute("DELETE FROM watch")  # as if both had begun at the same time
    assert other.look().alerts == ()
    assert len(notes_of(site, KIND)) == 1
    assert len(alerts_of(site).waiting(WEBHOOK)) == 1


def test_archived_queries_are_followed_too(site: OpenSite) -> None:
    from datetime import timedelta

    ask(site, "ann", FORTIES)
    later = Log(site.log.database, lambda: site.log.clock() + timedelta(days=9), site.log.archives.folder)
    assert rotate(later, load_key(site.site.folder), timedelta(days=1), user="local")
    ask(site, "ann", AND_ONE_MORE)
    [alert] = watch(site).look().alerts
    assert alert["rule"] == "pair"


def test_what_cannot_be_audited_is_told(site: OpenSite) -> None:
    query = ask(site, "ann", "SELECT COUNT(*) FROM clinic WHERE age > sbp").query_id
    seen = watch(site).look()
    assert seen.alerts == ()
    assert [one for one, _ in seen.unread] == [query]


def test_a_version_without_raw_records_is_told(site: OpenSite) -> None:
    ask(site, "ann", FORTIES)
    for path in (site.site.vault / "clinic").glob("*.duckdb"):
        path.unlink()
    [(_, why)] = watch(site).look().unread
    assert "vault" in why


# -- on their way -----------------------------------------------------------------------------------------------------


def found_two(opened: OpenSite, *channels: str) -> list[str]:
    ask(opened, "ann", FORTIES)
    ask(opened, "ann", AND_ONE_MORE)
    ask(opened, "eve", "SELECT COUNT(*) FROM clinic WHERE age < 33")
    return [alert["id"] for alert in watch(opened, *channels).look().alerts]


def test_a_webhook_gets_them_in_order_with_their_ids(site: OpenSite, receiver: Receiver) -> None:
    ids = found_two(site, WEBHOOK)
    assert len(ids) == 2
    assert deliver(alerts_of(site), {WEBHOOK: post_to(receiver.url)}) == []
    assert [one["id"] for one in receiver.received] == ids
    assert [one["Idempotency-Key"] for one in receiver.headers] == ids
    assert alerts_of(site).waiting(WEBHOOK) == []


def test_what_fails_is_told_and_kept(site: OpenSite, receiver: Receiver) -> None:
    ids = found_two(site, WEBHOOK)
    receiver.status = 500
    pauses: list[float] = []
    failures = deliver(alerts_of(site), {WEBHOOK: post_to(receiver.url)}, pauses.append)
    assert failures == [(WEBHOOK, 2, "the webhook answered 500")]
    assert (receiver.refused, len(pauses)) == (TRIES, TRIES - 1)  # bounded
    assert [one.tries for one in alerts_of(site).waiting(WEBHOOK)] == [1, 0]
    receiver.status = 200
    assert deliver(alerts_of(site), {WEBHOOK: post_to(receiver.url)}) == []
    assert [one["id"] for one in receiver.received] == ids


def test_nobody_there_and_redirections_are_failures(receiver: Receiver) -> None:
    alert = {"id": "a_1", "dataset": "clinic", "rule": "pair"}
    receiver.status = 302
    with pytest.raises(NotSent, match="302"):
        post_to(receiver.url)(alert)
    with pytest.raises(NotSent):
        post_to("http://127.0.0.1:9/hook")(alert)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/x", "example.org", "http://", ""])
def test_only_http_is_spoken(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        post_to(url)
    assert caught.value.code == "QG805"


def test_a_mail_command_gets_a_text_and_no_shell(site: OpenSite, tmp_path: Path) -> None:
    ids = found_two(site, MAIL)
    inbox = tmp_path / "inbox; touch oops"
    command = [sys.executable, "-c", "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())", str(inbox)]
    assert deliver(alerts_of(site), {MAIL: mail_by(command, write_alert)}) == []
    text = inbox.read_text()
    assert [ident in text for ident in ids] == [True, True]
    assert text.startswith("Subject: QueryGate: clinic, ")
    for failing in ([sys.executable, "-c", "raise SystemExit(7)"], ["/nowhere/sendmail"]):
        with pytest.raises(NotSent):
            mail_by(failing, write_alert)(dict(notes_of(site, KIND)[0]))


# -- views ------------------------------------------------------------------------------------------------------------


def test_views_are_users_projects_organisations_and_everybody(site: OpenSite) -> None:
    site.accounts.add_user("zoe", "researcher", "HEART")
    views = views_of(site, {"lunch": ("ann", "eve")})
    assert views["ann"] == ("ann",)
    assert views["project heart"] == ("ann", "bob", "zoe")  # case makes no other project
    assert views["organisation uni a"] == ("ann", "bob", "cyd")
    assert views["lunch"] == ("ann", "eve")
    assert views["everybody"] == ("ann", "bob", "cyd", "eve", "zoe")
    assert list(views)[-1] == "everybody"
    site.accounts.change_user("bob", project="")
    assert views_of(site)["project heart"] == ("ann", "zoe")


def test_a_query_that_the_watch_fails_on_does_not_stop_it(site: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault is planted; the queries after it are watched as ever, and the one before it is not forgotten."""
    judge = AnswerLedger.judge

    def failing(ledger: AnswerLedger, user: str, *more: Any) -> list[ViewFinding]:
        if user == "bob":
            raise ZeroDivisionError("planted: Smith")
        return judge(ledger, user, *more)

    monkeypatch.setattr(AnswerLedger, "judge", failing)
    failed = ask(site, "bob", FORTIES).query_id
    ask(site, "ann", AND_ONE_MORE)
    seen = watch(site).look()
    [(query, why)] = seen.unread
    assert (query, why) == (failed, f"The auditor failed on it (incident {seen.incidents[0]}).")
    assert {alert["with"] for alert in seen.alerts} == {failed}
    assert watch(site).look() == LogLook((), 0, ())
