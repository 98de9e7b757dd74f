"""The small site with people of every role, each at a browser, and a worker that does what waits when it is told to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from flask import Flask

from querygate.custody.worker.job_handlers import JobHandlers
from querygate.custody.worker.worker import Worker
from querygate.site.job_exchange import JobExchange
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.site.open_jobs import with_jobs
from querygate.site.settings import FILE
from querygate.web import create_app
from tests.api.browser import Browser
from tests.api.small_site import SmallSite, make_small_site
from tests.unit.custody.publish.publications import copy_site

PEOPLE = {"rita": "reviewer", "olaf": "auditor", "dora": "admin"}


@dataclass(frozen=True)
class ConsoleSite:
    small: SmallSite
    app: Flask
    worker: Worker
    browsers: dict[str, Browser]

    @property
    def opened(self) -> OpenSite:
        return self.small.opened

    def __getitem__(self, name: str) -> Browser:
        """The browser of somebody, who signs in when it is first needed."""
        if name not in self.browsers:
            self.browsers[name] = Browser(self.app, self.small.keys[name])
        return self.browsers[name]

    def forget_jobs(self) -> None:
        """Nobody does what still waits."""
        exchange = JobExchange(self.opened)
        for row in self.opened.log.database.rows("SELECT id FROM job WHERE finished IS NULL"):
            exchange.cancel(row["id"])

    def kinds(self) -> list[str]:
        """What the log has entries of, in their order."""
        return [event["kind"] for event in self.opened.log.events()]


def make_console_site(folder: Path, settings: str = "") -> ConsoleSite:
    """The site with these settings beside the defaults."""
    small = make_small_site(folder)
    if settings:
        with (small.folder / FILE).open("a") as stream:
            stream.write(f"\n{settings}")
        small = SmallSite(open_gate(open_site(small.folder)), small.keys)
    keys = dict(small.keys)
    for name, role in PEOPLE.items():
        small.opened.accounts.add_user(name, role)
        keys[name] = small.opened.accounts.keys.new(name).secret
    return make_console(small.opened, keys)


def copy_console_site(site: ConsoleSite, folder: Path) -> ConsoleSite:
    """A copy to change, of a site that nobody uses any more."""
    return make_console(copy_site(site.opened, folder), site.small.keys)


def make_console(opened: OpenSite, keys: dict[str, str]) -> ConsoleSite:
    """The pages of a site for whoever has these keys, and a worker that is not at work yet."""
    joined = with_jobs(opened)
    app = create_app(joined.opened, joined.extracts, joined.exchange)
    worker = Worker(joined.exchange, JobHandlers(opened).table(), threads=1, lease_s=30, poll_s=0.01)
    return ConsoleSite(SmallSite(opened, keys), app, worker, {})
