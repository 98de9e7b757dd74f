"""A watch that is killed at any moment: no alert is lost, none is on record twice, and all arrive at the webhook."""

from __future__ import annotations

import random
import shutil
import signal
import time
from pathlib import Path

from querygate.control.alerts import KIND, Alerts
from querygate.control.notifications.outbox import WEBHOOK, deliver
from querygate.control.notifications.webhooks import post_to
from querygate.custody.use_cases.audits.live_audit import LiveAudit
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.audited_site import ask, make_audited_site, notes_of
from tests.forks import forks
from tests.webhook import receiving

WATCH = """
import os, time
from pathlib import Path
from querygate.control.alerts import Alerts
from querygate.control.notifications.outbox import WEBHOOK, deliver
from querygate.control.notifications.webhooks import post_to
from querygate.site.open_gate import open_gate
from querygate.site.layout import open_site
from querygate.custody.use_cases.audits.live_audit import LiveAudit

def act(folder, url):
    opened = open_gate(open_site(Path(folder)))
    watching = LiveAudit(opened, "clinic", user="local", channels=(WEBHOOK,))
    os.write(1, b"begun\\n")
    while True:
        watching.look()
        deliver(Alerts(opened.log.database, opened.log), {WEBHOOK: post_to(url)}, lambda pause: None)
        time.sleep(0.01)
"""


def test_killed_again_and_again(tmp_path: Path) -> None:
    made = make_audited_site(tmp_path, "alert").site.folder
    (made / "querygate.toml").write_text("")
    opened = open_gate(open_site(made))
    for age in range(40, 65):
        ask(opened, random.Random(age).choice(["ann", "bob", "eve"]), f"SELECT AVG(sbp) FROM clinic WHERE age < {age}")
    opened.log.database.close()  # a copy would drop the locks that SQLite has on the file
    undisturbed = open_gate(open_site(Path(shutil.copytree(made, tmp_path / "copy"))))
    wanted = [alert["id"] for alert in LiveAudit(undisturbed, "clinic", user="local").look().alerts]
    assert len(wanted) > 15

    with receiving() as receiver:
        kill_some(made, receiver.url, turns=5)
        opened = open_gate(open_site(made))
        LiveAudit(opened, "clinic", user="local", channels=(WEBHOOK,)).look()
        assert deliver(Alerts(opened.log.database, opened.log), {WEBHOOK: post_to(receiver.url)}) == []
        arrived = [one["id"] for one in receiver.received]

    assert sorted(noted(opened)) == sorted(wanted)  # in the log: each once
    assert set(arrived) == set(wanted)  # at the webhook: each at least once, under its id
    assert opened.log.verify().entries == len(list(opened.log.events()))


def noted(opened: OpenSite) -> list[str]:
    return [body["id"] for body in notes_of(opened, KIND)]


def kill_some(folder: Path, url: str, turns: int) -> None:
    """Start a watch and kill it while it works, a little later each time."""
    with forks(WATCH) as watches:
        for turn in range(turns):
            watches.start(folder, url)
            assert watches.line() == "begun"
            time.sleep(0.1 + 0.15 * turn)
            watches.kill()
            assert watches.end() == (-signal.SIGKILL, [])
