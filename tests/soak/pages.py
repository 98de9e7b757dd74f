"""Every page of the console in every state, for everybody, wide and narrow, light and dark, in one Chromium: axe-core
finds nothing serious, no rule of the content policy is broken, no other host is asked, nothing is complained of, pages
fit their width and weigh less than 300 kB with all they need. A page that is not visited fails. Writes
build/pages.json; with SOAK_PICTURES, a picture of each state into that folder.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import requests
from flask import Flask, request
from werkzeug.exceptions import HTTPException

from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from querygate.web import create_app, fill_stock
from querygate.web.console.page_session import COOKIE
from querygate.web.manual.library import Library
from tests.api.pages.test_every_page import PAGES, PEOPLE
from tests.browser.crawl import states
from tests.browser.crawl.crawler import MOST_BYTES, PROBLEMS, Crawler, State, Visit, chromium
from tests.browser.crawl.shown_site import ShownSite, make_shown_site
from tests.report import row
from tests.waitress_server import waitress

BROKEN = "/signed-out?broken"
SLOWEST_MS = 100


def run() -> list[dict[str, Any]]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise SystemExit("Chromium is not installed (tests/install_tools.sh installs it on Debian).")
    os.environ["QUERYGATE_LOGIN_FAILURES_PER_MINUTE"] = "10"  # as a site has it; tests have none
    with tempfile.TemporaryDirectory() as folder, chromium(path) as browser:
        fill_stock()  # as `querygate serve` does
        site = make_shown_site(Path(folder) / "filled")
        empty, keys = _empty_app(Path(folder))
        app, seen = site.console.app, Seen(site.console.app)
        with waitress(seen, threads=6) as filled_at, waitress(empty, threads=6) as empty_at:
            cookies = {("filled", who): _cookie(site.cookie(who), filled_at) for who in PEOPLE}
            cookies |= {("empty", who): _cookie(token, empty_at) for who, token in keys.items()}
            gc.freeze()  # as `querygate serve` does, once everything is there
            crawler = Crawler(browser, {"filled": filled_at, "empty": empty_at}, cookies, _pictures())
            visits = [_looked(crawler, state) for state in _all(site)]
            fetched = _fetch(filled_at, site)
    return _report(visits, fetched, seen, app)


def _all(site: ShownSite) -> Iterator[State]:
    site.at["job"] = site.at["waiting"].replace("/publish/work/", "/jobs/")
    yield from states.states_of_questions(site)
    yield from states.states_of_work(site)
    yield from states.states_of_roles(PAGES, site)
    yield State("failure", BROKEN, "ann", statuses=(500,))
    yield from states.states_of_emptiness()
    yield from states.states_of_nobody()
    for name in sorted(Library().documents):
        yield State(f"documentation {name}", f"/docs/{name}" if name else "/docs", looks=states.DOCS)
    yield states.throttled()


def _looked(crawler: Crawler, state: State) -> Visit:
    try:
        return crawler.look(state)
    except Exception as error:  # a state that could not be reached is a finding, not the end of the crawl
        visit = Visit(state.name, state.who, state.path)
        visit.errors.append(f"not reached: {str(error)[:300]}")
        return visit


def _fetch(origin: str, site: ShownSite) -> list[str]:
    """What is downloaded rather than looked at."""
    answer, model, book = (site.at[f"{kind} ann"] for kind in ("answer clinic", "model", "notebook"))
    paths = [f"{kind}/{form}" for kind in (answer, model) for form in ("csv", "json", "parquet", "arrow")]
    paths += [f"{answer}/chart-0.svg", f"{model}/chart.svg", *(f"{book}/{form}" for form in ("ipynb", "html", "md"))]
    paths += [f"{site.at['released']}/{form}" for form in ("zip", "report")]
    paths += ["/datasets/patients/budget", "/tour/over"]
    own = {"carl": [f"{site.at['map']}/map.svg", f"{site.at['case']}/file", f"{site.at['job']}/events"], "ann": paths}
    own["rita"] = [f"{site.at['in_review']}/risk-report"]  # a worker draws it: the page shows how far it is
    wrong = []
    for who, all_of in own.items():
        for path in all_of:
            with requests.get(origin + path, cookies={COOKIE: site.cookie(who)}, timeout=60, stream=True) as response:
                if response.status_code != 200:
                    wrong.append(f"{response.status_code} {path}")
    return wrong


class Seen:
    """Which pages were asked for, and how long the server was at each. It stands before the application."""

    def __init__(self, app: Flask) -> None:
        self._app, self.endpoints, self.slowest_ms = app, set[str](), dict[str, float]()
        shown = app.view_functions["page:signed_out"]

        def fail_if_told(**path: str) -> Any:
            if "broken" in request.args:
                raise RuntimeError("as it would be by mistake")
            return shown(**path)

        app.view_functions["page:signed_out"] = fail_if_told

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        began_s = time.thread_time()
        given = self._app(environ, start)
        took_ms = 1000 * (time.thread_time() - began_s)
        if environ["REQUEST_METHOD"] == "GET":
            with suppress(HTTPException):
                endpoint = str(self._app.url_map.bind_to_environ(environ).match()[0])
                self.endpoints.add(endpoint)
                if endpoint == "page:budget":  # a part that waits for a worker, in one state for one that never comes
                    return given
                self.slowest_ms[endpoint] = max(took_ms, self.slowest_ms.get(endpoint, 0))
        return given


def unvisited(app: Flask, seen: Seen) -> list[str]:
    """Pages to look at that nobody has looked at."""
    rules = (rule for rule in app.url_map.iter_rules() if "GET" in (rule.methods or ()))
    pages = {rule.endpoint: rule.rule for rule in rules if rule.endpoint.startswith(("page:", "docs:"))}
    return sorted(rule for endpoint, rule in pages.items() if endpoint not in seen.endpoints)


def _empty_app(folder: Path) -> tuple[Flask, dict[str, str]]:
    """A site with people and nothing else, and what lets each of them in."""
    opened = open_gate(init_site(folder / "empty"))
    for name, role in PEOPLE.items():
        opened.accounts.add_user(name, role)
    app = create_app(opened)
    tokens = {}
    for name in PEOPLE:
        client = app.test_client()
        client.post("/sign-in", data={"key": opened.accounts.keys.new(name).secret})
        cookie = client.get_cookie(COOKIE)
        assert cookie
        tokens[name] = cookie.value
    return app, tokens


def _pictures() -> Path | None:
    folder = os.environ.get("SOAK_PICTURES")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder) if folder else None


def _cookie(token: str, origin: str) -> dict[str, Any]:
    return {"name": COOKIE, "value": token, "url": origin}


def _report(visits: list[Visit], fetched: list[str], seen: Seen, app: Flask) -> list[dict[str, Any]]:
    left = unvisited(app, seen)
    looks, heaviest = sum(visit.looks for visit in visits), max(visits, key=lambda visit: visit.bytes)
    counts = {name: sum(len(getattr(visit, name)) for visit in visits) for name in PROBLEMS}
    counts |= {"not visited": len(left), "not fetched": len(fetched)}
    summary = {"states": len(visits), "looks": looks, "heaviest": heaviest.bytes, **counts}
    slowest = dict(sorted(seen.slowest_ms.items(), key=lambda one: -one[1])[:10])
    told = {"summary": summary, "unvisited": left, "not_fetched": fetched, "slowest_ms": slowest}
    Path("build").mkdir(exist_ok=True)
    every = [asdict(visit) for visit in visits]
    Path("build", "pages.json").write_text(json.dumps({**told, "visits": every}, indent=1) + "\n", encoding="utf-8")
    for visit in visits:
        for name, found in visit.wrong().items():
            print(f"{visit.name} ({visit.who or 'nobody'}, {visit.path}): {name}: {'; '.join(found)}")
    print(f"pages: {json.dumps(summary)}", *left, *fetched)
    rows = [row("pages: states, each in widths and colours", len(visits), "states", f"{looks} looks")]
    rows += [row(f"pages: {name.replace('_', ' ')}", n, "findings", target=0, ratio=n) for name, n in counts.items()]
    weight = row("pages: the heaviest", heaviest.bytes, "bytes", heaviest.name, target=MOST_BYTES, ratio=heaviest.bytes)
    return [*rows, weight, *_times(slowest)]


def _times(slowest: dict[str, float]) -> list[dict[str, Any]]:
    """Of the server's own work, as nothing else is the same on every machine."""
    name, took_ms = next(iter(slowest.items()))
    return [row("pages: most processor time for one", round(took_ms), "ms", name, target=SLOWEST_MS, ratio=took_ms)]
