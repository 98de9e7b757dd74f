"""A site made before the packages moved is read unchanged: answers, log, store, vault, requests and policy file.

kept_site.tar.gz holds the site and the files it was published from, kept_site.json what the code that made it said of
it. Each test has a copy of its own, because asking changes a site. Neither file is ever made anew to make a test pass:
where a later change is meant to be seen in answers, and is more than rounding, that entry alone is recorded again, with
`python -m tests.api.test_kept_site ENTRY`.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from querygate.cli import main
from querygate.custody.evidence.rounding import rounded_alike
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.open_custody import with_vault
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.web import create_app
from tests.own_keys import in_the_name_of
from tests.places import DATA

EXPECTED = DATA / "kept_site.json"
API = "/api/v1"
VOLATILE = ("query_id", "elapsed_ms")
WORDS = ("title", "detail", "remedy", "notes", "words", "explanation", "policy", "signs", "reason")
"""Sentences for people, which may be worded better later; all facts stay."""


class Kept:
    """An unpacked copy, its keys, and the two doors to it."""

    def __init__(self, folder: Path) -> None:
        with tarfile.open(DATA / "kept_site.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        self.folder, self.site, self.inputs = folder, folder / "site", folder / "inputs"
        made = json.loads((folder / "made.json").read_text(encoding="utf-8"))
        self.keys, self.requests, self.asked = made["keys"], made["requests"], made["asked"]

    def client(self) -> FlaskClient:
        opened = open_gate(open_site(self.site))
        return create_app(with_vault(opened)).test_client()

    def call(self, client: FlaskClient, user: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.keys[user]}"}
        return client.open(f"{API}{path}", method="GET" if body is None else "POST", headers=headers, json=body)

    def run(self, *words: str) -> bytes:
        done = CliRunner().invoke(main, ["--site", str(self.site), *words], prog_name="querygate")
        assert done.exit_code == 0, done.output
        return done.stdout_bytes

    def tell(self, *words: str) -> dict[str, Any]:
        """What a command prints as JSON."""
        return {"says": json.loads(self.run(*words, "--format", "json"))}

    def ask(self, questions: Iterable[dict[str, Any]], path: str = "/query") -> list[dict[str, Any]]:
        client = self.client()
        answers: list[dict[str, Any]] = []
        for question in questions:
            body: dict[str, Any] = {name: question[name] for name in ("dataset", "sql", "options") if name in question}
            answer = self.call(client, question["user"], path, body)
            answers.append({"user": question["user"], **body, "status": answer.status_code, "body": steady(answer)})
        return answers

    def served(self) -> list[dict[str, Any]]:
        """What was asked of the version that is served."""
        return [question for question in self.asked if question["version"] == 2]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def steady(answer: Any) -> Any:
    """The body without what differs from one time to the next, and without what answers say since the site was made:
    which keys of a row are rolled up, estimates, and which page helps."""
    body = {name: value for name, value in json.loads(answer.data).items() if name not in (*VOLATILE, "help")}
    for row in body.get("rows", []):
        if isinstance(row, dict):
            for cell in row.values():
                for since in ("rolled_up", "estimate", "estimate_note"):
                    cell.pop(since, None) if isinstance(cell, dict) else None
    if "readable" in body:
        told = body["readable"]["rows"]
        body["readable"]["rows"] = [[re.sub(r" \(about [^)]*\)$", "", cell) for cell in row] for row in told]
    return body


def facts(found: Any) -> Any:
    """Without sentences for people."""
    if isinstance(found, dict):
        return {name: facts(value) for name, value in found.items() if name not in WORDS}
    return [facts(value) for value in found] if isinstance(found, (list, tuple)) else found


# -- what is looked at: each gets a fresh copy, and is compared with what the code that made it said ----------------


def answers(kept: Kept) -> Any:
    """Ranges, refusals and noisy answers, asked again. Noise is the same again, as it was paid for once."""
    return kept.ask(kept.served())


def answers_of_version_1(kept: Kept) -> Any:
    """An earlier version, served again."""
    back = kept.tell("rollback", "clinic", "1")["says"]
    return [back, *kept.ask(question for question in kept.asked if question["version"] == 1)]


def checks(kept: Kept) -> Any:
    """Dry runs, with the hash of what each statement means."""
    return kept.ask(kept.served(), "/query/check")


def budget(kept: Kept) -> Any:
    """What is left, before and after everything is asked once more: nothing is paid twice."""
    client = kept.client()
    before = {user: steady(kept.call(client, user, "/budget?dataset=clinic")) for user in kept.keys}
    kept.ask(kept.served())
    after = {user: steady(kept.call(client, user, "/budget?dataset=clinic")) for user in kept.keys}
    assert before == after
    return {**before, "console": kept.tell("budget", "show", "--dataset", "clinic")}


def fetched_answers(kept: Kept) -> Any:
    """Answers given then, fetched by their ids."""
    client = kept.client()
    logged = json.loads(kept.run("log", "list", "--format", "json"))
    return [
        [one["id"], form, fetched.status_code, sha256(fetched.data) if fetched.status_code == 200 else ""]
        for one in logged
        for form in ("json", "csv")
        for fetched in [kept.call(client, one["user"], f"/answers/{one['id']}.{form}")]
    ]


def description(kept: Kept) -> Any:
    """What researchers are told; of the thousands of public codes only their number is written here."""
    client = kept.client()
    told = kept.call(client, "ann", "/datasets/clinic")
    body = json.loads(told.data)
    for column in body["columns"]:
        if column["type"] == "codes":
            column.update({name: len(value) for name, value in column.items() if isinstance(value, (list, dict))})
    return {
        "datasets": steady(kept.call(client, "ann", "/datasets")),
        "clinic": body,
    }


def versions(kept: Kept) -> Any:
    reports = {number: sha256(kept.run("report", "clinic", number, "--format", "json")) for number in ("1", "2")}
    return {"versions": kept.tell("versions", "clinic"), "datasets": kept.tell("datasets"), "reports": reports}


def log(kept: Kept) -> Any:
    """Whole, and the same entry for entry; only the entry about the export itself is new."""
    verified, listed = kept.tell("log", "verify"), kept.tell("log", "list")
    known = "{entries}:{head}".format(**verified["says"])
    assert kept.tell("log", "verify", "--known", known)["says"]["verified"]
    kept.run("log", "export", "--out", str(kept.folder / "log.jsonl"))
    lines = (kept.folder / "log.jsonl").read_bytes().splitlines()[: verified["says"]["entries"]]
    events = [json.loads(line) for line in lines]
    return {
        "verify": verified,
        "list": listed,
        "kinds": [event["kind"] for event in events],
        "canonical": {e["query_id"]: e["body"]["canonical_hash"] for e in events if e["kind"] == "query.intent"},
        "entries_sha256": sha256(b"\n".join(lines)),
        "key": kept.run("log", "key").decode(),
    }


def replay(kept: Kept) -> Any:
    """Every answer in the log is computed again from its version, and is the same, or contains what is told now."""
    found = kept.tell("audit", "replay", "--dataset", "clinic")
    assert not found["says"]["different"]
    return found


def audits(kept: Kept) -> Any:
    """What was found and put on record then, and what is found now in the raw rows of both versions."""
    noted = steady(kept.call(kept.client(), "carl", "/audit/findings?dataset=clinic"))
    return {"noted": noted, "again": kept.tell("audit", "run", "--dataset", "clinic", "--reveal")}


def accounts(kept: Kept) -> Any:
    return {"users": kept.tell("user", "list"), "keys": kept.tell("key", "list")}


def requests(kept: Kept) -> Any:
    """Requests for extracts where they stood, and the extract that was released, as it was packed."""
    client = kept.client()
    shown = {name: steady(kept.call(client, "carl", f"/exports/{kept.requests[name]}")) for name in kept.requests}
    with kept.call(client, "ann", f"/exports/{kept.requests['released']}/extract.zip") as fetched:
        status, content = fetched.status_code, fetched.data
    (kept.folder / "mine.zip").write_bytes(content)
    kept.run("export", "fetch", "--verify", str(kept.folder / "mine.zip"))
    report = kept.call(client, "ann", f"/exports/{kept.requests['released']}/report.html")
    risk = kept.call(client, "carl", f"/exports/{kept.requests['released']}/risk")
    listed = {user: steady(kept.call(kept.client(), user, "/exports"))["exports"] for user in ("ann", "bob", "carl")}
    return {
        "shown": shown,
        "zip": [status, len(content), sha256(content)],
        "report": [report.status_code, sha256(report.data)],
        "risk": [risk.status_code, sha256(risk.data)],
        "listed": {user: [(one["id"], one["state"], one["may"]) for one in found] for user, found in listed.items()},
    }


def carried_on(kept: Kept) -> Any:
    """The request that waited is taken, approved, built and released by the code of today."""
    ident = kept.requests["submitted"]
    states = []
    for action in ("take", "approve", "build", "release"):
        states.append(kept.tell("export", action, ident, *in_the_name_of("carl", action, kept.site))["says"]["state"])
    kept.run("export", "fetch", ident, "--as", "bob", "--out", str(kept.folder / "mine"))
    files = sorted(path.name for path in (kept.folder / "mine").iterdir())
    table = (kept.folder / "mine" / "extract.csv").read_bytes()
    return {"states": states, "files": files, "lines": sorted(table.decode().splitlines())}


def policy(kept: Kept) -> Any:
    """The hash of the policy file, which stands in every version and log entry."""
    found = load_policy(kept.inputs / "clinic.toml")
    return {"hash": found.hash, "canonical": found.canonical()}


def published_again(kept: Kept) -> Any:
    """The same source under the same policy goes with the versions that are there, into the same classes as then."""
    words = ("--policy", str(kept.inputs / "clinic.toml"), "--source", str(kept.inputs / "clinic_2.csv"))
    said = kept.tell("publish", *words, "--report", "none")["says"]
    ranges = [q for q in kept.served() if q.get("options", {}).get("mode") != "laplace"]
    return {"rows": said["rows"], "version": said["version"], "answers": kept.ask(ranges)}


LOOKS: tuple[Callable[[Kept], Any], ...] = (
    policy,
    log,
    answers,
    answers_of_version_1,
    checks,
    budget,
    fetched_answers,
    description,
    versions,
    replay,
    audits,
    accounts,
    requests,
    carried_on,
    published_again,
)


def write(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False, indent=1)


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.__name__)
def test_kept_site(look: Callable[[Kept], Any], tmp_path: Path) -> None:
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))[look.__name__]
    found = json.loads(write(facts(look(Kept(tmp_path)))))
    assert write(rounded_alike(facts(expected), found)) == write(facts(expected))


def record(names: list[str]) -> None:
    kept = json.loads(EXPECTED.read_text(encoding="utf-8")) if EXPECTED.exists() else {}
    for look in LOOKS:
        if look.__name__ in names:
            with tempfile.TemporaryDirectory() as folder:
                kept[look.__name__] = look(Kept(Path(folder)))
    EXPECTED.write_text(write(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record(sys.argv[1:])
