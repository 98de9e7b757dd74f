"""What a serving site does by itself: marks, entries for a SIEM, archives. Real receivers on this machine take it."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from querygate.control.log.signature import load_key
from querygate.control.notifications.webhooks import NotSent
from querygate.core.errors import ConfigError
from querygate.site import serving_tasks
from querygate.site.folder_lock import alone, present
from querygate.site.layout import Site, open_site
from querygate.site.log_anchors import anchor
from querygate.site.open_gate import OpenSite, open_gate
from querygate.site.settings import FILE
from querygate.site.siem_export import lag, ship, told
from querygate.sql.masked_statement import masked
from tests.empty_site import empty_site
from tests.webhook import receiving
from tests.work import HANG_S

Make = Callable[..., OpenSite]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[OpenSite] = []

    def opened(**settings: Any) -> OpenSite:
        site: Site = empty_site(tmp_path / f"site{len(made)}")
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        (site.folder / FILE).write_text("\n".join(lines))
        made.append(open_gate(open_site(site.folder)))
        made[-1].log.note("user.add", user="local", body={"name": "ann"})
        return made[-1]

    yield opened
    for one in made:
        one.log.database.close()


def ask(opened: OpenSite, number: int, sql: str) -> None:
    hashes = {"canonical_hash": "", "policy_hash": ""}
    opened.log.intend(f"q_{number}", user="ann", dataset="p", version=1, sql=sql, mode="interval", **hashes)
    opened.log.conclude(f"q_{number}", "answered", answer={"rows": [{"secret": 4711}]})  # type: ignore[typeddict-item]


# -- marks -----------------------------------------------------------------------------------------------------------


def test_a_mark_goes_to_a_file_a_webhook_and_by_mail_once(make: Make, tmp_path: Path) -> None:
    letter = tmp_path / "letter"
    command = f"{sys.executable} -c \"import sys; open('{letter}', 'a').write(sys.stdin.read())\""
    with receiving() as hook:
        opened = make(anchor_file=str(tmp_path / "marks"), anchor_webhook=hook.url, anchor_mail_command=command)
        mark, failures = anchor(opened)
        assert failures == []
        assert mark is not None
        assert anchor(opened) == (None, [])
        assert [one["head"] for one in hook.received] == [opened.log.head().head]
    lines = (tmp_path / "marks").read_text().splitlines()
    assert [json.loads(line)["entries"] for line in lines] == [1]
    said = load_key(opened.site.folder).public.read(json.loads(lines[0])["signed"].encode())
    assert (said.last, said.head) == (1, mark.head)
    assert f"querygate log verify --known 1:{mark.head}" in letter.read_text()


def test_what_did_not_arrive_is_sent_with_the_next_mark(make: Make, tmp_path: Path) -> None:
    with receiving() as hook:
        opened = make(anchor_webhook=hook.url)
        hook.status = 500
        assert anchor(opened)[1] == ["anchor_webhook: the webhook answered 500"]
        hook.status = 204
        assert anchor(opened)[1] == []
        assert [one["entries"] for one in hook.received] == [1]


def test_a_site_behind_its_mark_is_not_marked_anew(make: Make) -> None:
    opened = make()
    (opened.site.folder / "head.mark").write_text('{"entries": 99, "head": "f", "time": "then"}')
    with pytest.raises(ConfigError, match="ends at entry 1, but had 99"):
        anchor(opened)


# -- a SIEM ----------------------------------------------------------------------------------------------------------


class Syslog:
    """Takes what comes over UDP or TCP."""

    def __init__(self, kind: socket.SocketKind) -> None:
        self.socket = socket.socket(socket.AF_INET, kind)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(HANG_S)
        self.taken = b""
        if kind == socket.SOCK_STREAM:
            self.socket.listen()
            self.thread = threading.Thread(target=self._take)
            self.thread.start()

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    def _take(self) -> None:
        link, _ = self.socket.accept()
        with link:
            while piece := link.recv(65536):
                self.taken += piece


def frames(data: bytes) -> list[bytes]:
    """Messages framed by their length (RFC 6587)."""
    found = []
    while data:
        length, _, data = data.partition(b" ")
        found.append(data[: int(length)])
        data = data[int(length) :]
    return found


SQL = "SELECT AVG(x) FROM p WHERE name = 'Smith' AND note = \"O''Hara\" AND age > 51 /* Smith */ -- Smith"


def test_over_tcp_each_entry_is_one_message_without_values(make: Make) -> None:
    opened, receiver = make(), Syslog(socket.SOCK_STREAM)
    ask(opened, 1, SQL)
    target = f"syslog+tcp://127.0.0.1:{receiver.port}"
    assert ship(opened.log, target, literals=False) == 4
    receiver.thread.join()
    receiver.socket.close()
    messages = frames(receiver.taken)
    assert [message.split(b" ")[5] for message in messages] == [
        b"user.add",
        b"query.intent",
        b"query.outcome",
        b"log.ship",
    ]
    assert all(message.startswith(b"<110>1 20") for message in messages)
    assert not [word for word in (b"Smith", b"Hara", b" 51", b"secret") if word in receiver.taken]
    entry = json.loads(messages[2].partition(b" - query.outcome - ")[2])
    assert entry["body"]["sql"] == "SELECT AVG ( x ) FROM p WHERE name = ? AND note = ? AND age > ?"
    assert lag(opened.log, target) == 0


def test_over_udp_each_entry_is_one_datagram(make: Make) -> None:
    opened, receiver = make(), Syslog(socket.SOCK_DGRAM)
    assert ship(opened.log, f"syslog+udp://127.0.0.1:{receiver.port}", literals=False) == 2
    assert b" user.add - {" in receiver.socket.recv(65536)
    assert b" log.ship - {" in receiver.socket.recv(65536)
    receiver.socket.close()


def test_over_http_entries_arrive_at_least_once_and_in_order(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate.site.siem_export.BATCH", 1)
    with receiving() as hook:
        opened = make()
        hook.status = 503
        with pytest.raises(NotSent, match="503"):
            ship(opened.log, hook.url, literals=False)
        assert lag(opened.log, hook.url) == 2
        hook.status = 204
        assert ship(opened.log, hook.url, literals=False) == 2
        ask(opened, 1, SQL)
        assert ship(opened.log, hook.url, literals=True) == 2
        assert [one["seq"] for one in hook.received] == [1, 2, 3, 4]
        assert hook.received[2]["body"]["sql"] == SQL
        assert "4711" not in json.dumps(hook.received)
        assert ship(opened.log, hook.url, literals=True) == 0


@pytest.mark.parametrize(
    "target", ["", "siem", "ftp://x", "syslog+tcp://host", "syslog+udp://:514", "syslog+tcp://h:99999999"]
)
def test_a_receiver_that_is_none_is_refused(make: Make, target: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        ship(make().log, target, literals=False)
    assert refusal.value.code == "QG805"


def test_a_receiver_that_is_not_there_keeps_entries_waiting(make: Make) -> None:
    opened = make()
    with pytest.raises(NotSent):
        ship(opened.log, "syslog+tcp://127.0.0.1:1", literals=False)
    assert lag(opened.log, "syslog+tcp://127.0.0.1:1") == 2


def test_of_what_people_wrote_only_that_they_did_is_sent(make: Make) -> None:
    opened = make()
    opened.log.note("export.comment", user="ann", body={"comment": "about Mr Smith"})
    opened.log.note("audit.findings", user="local", body={"cases": [{"where": "age = 51"}]})
    assert [told(event, literals=True)["body"] for event in opened.log.events()][1:] == [{}, {}]


@pytest.mark.parametrize(
    "sql", ["", "SELECT 'x", 'SELECT "', "/* open", "SELECT $$Smith$$, E'Smith', 0x51, :age", "\ud800"]
)
def test_whatever_the_text_no_value_is_left(sql: str) -> None:
    assert not [word for word in ("Smith", "51", "x'") if word in masked(sql)]


# -- retention and the thread ----------------------------------------------------------------------------------------


def test_entries_are_archived_and_deleted_as_the_settings_say(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    assert serving_tasks.retain(make()) == ([], [])
    opened = make(log_rotate_days=1, log_discard_days=2)
    later = opened.log.clock
    monkeypatch.setattr(opened.log, "clock", lambda: later() + serving_tasks.timedelta(days=3))
    made, gone = serving_tasks.retain(opened)
    assert (len(made), len(gone)) == (1, 1)
    assert [event["kind"] for event in opened.log.events()] == ["log.rotate", "log.discard"]
    assert [event["user"] for event in opened.log.events()] == ["upkeep", "upkeep"]
    opened.log.verify()


def test_a_serving_site_is_kept_up_and_nobody_exchanges_it(make: Make, tmp_path: Path) -> None:
    with receiving() as hook:
        opened = make(siem=hook.url, anchor_file=str(tmp_path / "marks"))
        with present(opened.site.folder), serving_tasks.kept_up(opened):
            with pytest.raises(ConfigError, match="being served"), alone(opened.site.folder):
                pass
            opened.log.note("user.add", user="local", body={"name": "bob"})
        kinds = sorted(one["kind"] for one in hook.received)  # what came until the end
        assert kinds == ["log.ship", "user.add", "user.add"]
        assert json.loads((tmp_path / "marks").read_text().splitlines()[-1])["entries"] == 3
        with alone(opened.site.folder):
            pass


def test_what_fails_is_told_and_does_not_stop_the_rest(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened = make(siem="syslog+tcp://127.0.0.1:1", anchor_file=str(tmp_path / "marks"))
    with serving_tasks.kept_up(opened):
        pass
    assert "upkeep (siem): the syslog receiver cannot be reached" in caplog.text
    assert (tmp_path / "marks").exists()
