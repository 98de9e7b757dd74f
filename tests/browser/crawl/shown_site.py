"""A site on which everything has happened: answers, refusals, models, noise, saved work, extracts in every state, an
audit and its cases, each step of publishing, and names that are long or not Latin."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq

import querygate.demo
from querygate.control import Actor, Grantee
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.open_gate import OpenSite, now
from querygate.web.console.page_session import COOKIE
from tests.api.browser import Browser
from tests.api.console_site import ConsoleSite, make_console_site
from tests.api.small_site import csv_text
from tests.policies import AGE, SBP, make_policy, quasi
from tests.small_release import publish_small
from tests.unit.custody.extract.study import POLICY as TRIAL
from tests.unit.custody.extract.study import records

DEMO = Path(querygate.demo.__file__).parent
SETTINGS = "upload_mb = 5\ntour = true\nextract_reviewers = 2\nrequests_per_minute = 0\nnoise_tick_ms = 0\n"
BUDGET = {"epsilon_per_query": 0.1, "epsilon_total": 10.0, "epsilon_per_user": 5.0}
LONG = "Blutdruckmessungen_in_der_hausärztlichen_Versorgung_" * 2 + "مستشفى " + "🩺" * 5
GROUPED = "SELECT sex, COUNT(*), AVG(sbp) FROM clinic GROUP BY sex"
STATES = ("draft", "submitted", "in_review", "returned", "approved", "built", "released", "rejected", "withdrawn")


@dataclass
class ShownSite:
    """The site, and addresses of what is to be seen there, by what it shows."""

    console: ConsoleSite
    at: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Browser:
        return self.console[name]

    def cookie(self, name: str) -> str:
        found = self[name].client.get_cookie(COOKIE)
        assert found
        return str(found.value)

    def work(self) -> None:
        self.console.worker.work_off()


def make_shown_site(folder: Path) -> ShownSite:
    site = ShownSite(make_console_site(folder, SETTINGS))
    opened = site.console.opened
    _publish(opened, folder)
    _give_access(opened)
    _let_one_expire(site)
    _ask(site)
    _keep(site)
    _request(site)
    _audit(site)
    _draft(site)
    return site


def _publish(opened: OpenSite, folder: Path) -> None:
    publish_to(opened, load_policy(DEMO / "survey.toml"), str(DEMO / "survey.csv"), user="carl")
    publish_small(opened, folder, rows=300, answers={"modes": ["interval", "laplace"]}, laplace=BUDGET)
    pq.write_table(records(), folder / "trial.parquet")
    publish_to(opened, TRIAL.parsed(), str(folder / "trial.parquet"), user="carl")
    wards = {"ward": quasi("category", values=[f"{LONG} {i}" for i in range(3)], title=LONG)}
    policy = make_policy("long", {"age": AGE, **wards, "sbp": SBP | {"title": LONG}}, title=LONG, unit="person")
    rows = "\n".join(f"{30 + i % 40},{LONG} {i % 3},{100 + i % 50}" for i in range(90))
    (folder / "long.csv").write_text(f"age,ward,sbp\n{rows}\n")
    publish_to(opened, policy.parsed(), str(folder / "long.csv"), user="carl")
    publish_to(opened, policy.parsed(), str(folder / "long.csv"), user="carl")  # a second version


def _give_access(opened: OpenSite) -> None:
    for dataset in ("clinic", "survey", "patients", "trial", "long"):
        opened.grants.add(Grantee("user", "ann"), dataset, by=Actor("carl"))
    opened.accounts.add_user("a" * 40, "researcher", LONG[:60], LONG[:60])
    opened.accounts.add_user("eve", "researcher")
    opened.accounts.disable_user("eve")


def _let_one_expire(site: ShownSite) -> None:
    """A request whose time is over: it was released when the clock of the log stood earlier."""
    log = site.console.opened.log
    log.clock = lambda: now() - timedelta(days=400)
    site.at["expired"] = _brought(site, "released")
    log.clock = now


def _ask(site: ShownSite) -> None:
    asked = {"survey": "SELECT ethnicity, COUNT(*), AVG(systolic) FROM survey GROUP BY ethnicity", "clinic": GROUPED}
    asked["long"] = "SELECT ward, COUNT(*), AVG(sbp) FROM long GROUP BY ward"
    for who in ("ann", "carl"):
        for dataset, sql in asked.items():
            answer = re.search(r"q_\w{26}", site[who].ask(sql, dataset=dataset).text)
            assert answer
            site.at[f"answer {dataset} {who}"] = f"/answers/{answer[0]}"
        model = site[who].post("/datasets/clinic/model", family="linear", formula="sbp ~ bands(age) + sex")
        found = re.search(r"/models/q_\w{26}", model.text)
        assert found
        site.at[f"model {who}"] = found[0]
    site["ann"].ask("SELECT age, sbp FROM clinic")
    site["ann"].ask("SELECT COUNT(*) FROM patients", dataset="patients", mode="laplace", epsilon="0.05")
    site.work()


def _keep(site: ShownSite) -> None:
    for who in ("ann", "carl"):
        for name in ("Table 1", LONG[:110]):
            book = site[who].post("/notebooks", part=False, name=name, dataset="clinic").headers["Location"]
            site[who].post(f"{book}/cells", part=False, kind="text", text=f"# Everybody\n\n**2024**: {LONG}")
            for sql in (GROUPED, "SELECT nobody FROM clinic"):
                site[who].post(f"{book}/cells", part=False, kind="query", text=sql)
            site.at[f"notebook {who}"] = book
            form = {"name": name, "description": LONG, "dataset": "clinic", "sql": GROUPED}
            site.at[f"saved {who}"] = site[who].post("/saved", part=False, **form).headers["Location"]
        site[who].post(f"{site.at[f'notebook {who}']}/share", part=False)
        site[who].post(f"{site.at[f'saved {who}']}/share", part=False)


def _request(site: ShownSite) -> None:
    for state in STATES:
        site.at[state] = _brought(site, state)
    site.at["revoked"] = _brought(site, "released")
    site["carl"].post(f"{site.at['revoked']}/revoke", part=False, comment="The consent was withdrawn.")


WAYS: dict[str, tuple[str, ...]] = {
    "draft": (),
    "submitted": ("ann submit",),
    "withdrawn": ("ann submit", "ann withdraw"),
    "in_review": ("ann submit", "rita take", "rita note", "rita approve"),
    "returned": ("ann submit", "rita take", "rita return"),
    "rejected": ("ann submit", "rita take", "rita reject"),
    "approved": ("ann submit", "rita take", "rita approve", "carl approve"),
    "built": ("ann submit", "rita take", "rita approve", "carl approve", "carl build"),
    "released": ("ann submit", "rita take", "rita approve", "carl approve", "carl build", "rita release"),
}


def _brought(site: ShownSite, state: str) -> str:
    """The address of a new request in this state."""
    form = {"purpose": f"{state}: {LONG}", "kind": "k-anonymous", "formats": "csv", "columns": "age"}
    path = str(site["ann"].post("/datasets/trial/request", part=False, **form).headers["Location"])
    for step in WAYS[state]:
        who, action = step.split()
        needs = action in ("note", "return", "reject")
        if action == "release":  # its page waits for it
            threading.Timer(0.2, site.work).start()
        site[who].post(f"{path}/{action}", part=False, **({"comment": f"Why? {LONG}"} if needs else {}))
        if action in ("build", "take"):
            site.work()
    shown = site["carl"].get(path).text
    assert f'class="state {state}"' in shown, (state, re.findall(r'class="state \w+"', shown))
    return path


def _audit(site: ShownSite) -> None:
    for last in (50, 51, 60, 61):
        site["ann"].ask(f"SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 30 AND {last}")
    site["carl"].post("/audits/clinic/run", part=False)
    site.work()
    cases = re.findall(r'href="(/audits/clinic/c_\w+)"', site["carl"].get("/audits/clinic").text)
    site.at["case"], site.at["case resolved"] = cases[0], cases[-1]
    assert cases[0] != cases[-1]
    site["carl"].post(f"{site.at['case resolved']}/resolve", part=False, note=f"We talked. {LONG}")


def _draft(site: ShownSite) -> None:
    """Each step of publishing, and one that failed."""
    carl = site["carl"]
    file = {"proof": carl.proof, "file": (BytesIO(csv_text(60).encode()), "visits.csv")}
    sent = carl.client.post("/publish/sources", data=file, content_type="multipart/form-data")
    site.work()
    site.at["draft policy"] = sent.headers["Location"]
    page = carl.get(site.at["draft policy"]).text
    source = re.search(r'name="source" value="([^"]+)"', page)
    written = re.search(r'<textarea id="policy"[^>]*>(.*?)</textarea>', page, re.S)
    assert source
    assert written
    policy = written[1].replace("&#34;", '"').replace("&#39;", "'").replace("&gt;", ">").replace("&lt;", "<")
    texts = {"check": policy, "check wrong": policy.replace('role = "', 'role = "un', 1), "preview": policy}
    for name, text in texts.items():
        form = {"source": source[1], "policy": text}
        site.at[name] = carl.post(f"/publish/{name.split()[0]}", part=False, **form).headers["Location"]
        site.work()
    for name, form in (("map", {}), ("what-if", {"version": "1", "days": "90"})):
        site.at[name] = carl.post(f"/publish/datasets/clinic/{name}", part=False, **form).headers["Location"]
        site.work()
    form = {"source": source[1], "policy": policy.replace('dataset = "', 'dataset = "x', 1), "sure": "yes"}
    site.at["published"] = carl.post("/publish/version", part=False, **form).headers["Location"]
    site.work()
    site.at["waiting"] = carl.post("/publish/datasets/clinic/map", part=False).headers["Location"]
