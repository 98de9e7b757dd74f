"""Answers are a function of the store: with the vault gone, a fresh process gives the same bytes again."""

from __future__ import annotations

import gc
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.core.errors import Refusal
from querygate.core.types import Principal, Request
from querygate.gate.answer import answer
from querygate.gate.query_record import METHOD
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate_adapters.store.duckdb_store import version_file
from tests.property.random_cases import make_case, random_query
from tests.small_release import publish_small
from tests.unit.custody.publish.publications import copy_site
from tests.work import HANG_S

QUERIES = 120

REPLAY = """
import json, sys
from pathlib import Path
from querygate.core.types import Principal, Request
from querygate.gate.answer import answer
from querygate.gate.render import make_body
from querygate.site.open_gate import open_gate
from querygate.site.layout import open_site

gate = open_gate(open_site(Path(sys.argv[1]))).gate
for line in sys.stdin:
    print(json.dumps(make_body(answer(Request(Principal("other", "researcher"), "t", json.loads(line)), gate))))
"""


def told(body: dict) -> str:
    """The bytes of an answer, apart from what names and times this very request."""
    return json.dumps({key: value for key, value in body.items() if key not in ("query_id", "elapsed_ms")})


def test_the_log_replays_without_the_vault(tmp_path: Path) -> None:
    case = make_case(3, tmp_path)
    assert case is not None
    rng = random.Random(4711)
    for _ in range(QUERIES):
        try:
            answer(Request(Principal("tester", "researcher"), "t", random_query(rng, case)), case.opened.gate)
        except Refusal:
            continue
    case.truth.close()
    logged = [query for query in case.opened.log.queries() if query["outcome"] == "answered"]
    assert len(logged) > QUERIES * 0.9

    shutil.rmtree(case.opened.site.vault)
    replayed = subprocess.run(
        [sys.executable, "-c", REPLAY, str(case.opened.site.folder)],
        input="".join(json.dumps(query["sql"]) + "\n" for query in logged),
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )

    assert replayed.returncode == 0, replayed.stderr
    again = [json.loads(line) for line in replayed.stdout.splitlines()]
    assert [told(body) for body in again] == [told(query["answer"]) for query in logged]
    assert not case.opened.site.vault.exists()


# -- the command ---------------------------------------------------------------------------------------------------

SIMPLE = "SELECT sex, COUNT(*) AS n, AVG(sbp) AS mean FROM patients WHERE age BETWEEN {} AND {} GROUP BY sex"


def ask(opened: OpenSite, sql: str) -> str:
    return answer(Request(Principal("ada", "researcher"), "patients", sql), opened.gate).query_id


def replayed(opened: OpenSite, *words: str) -> tuple[int, dict]:
    ended = CliRunner().invoke(main, ["--site", str(opened.site.folder), "audit", "replay", *words, "--format", "json"])
    return ended.exit_code, json.loads(ended.stdout)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    """A site without a vault, of which two versions were asked."""
    folder = tmp_path_factory.mktemp("made")
    opened = open_gate(init_site(folder / "site"))
    for _ in range(2):
        publish_small(opened, folder, rows=600)
        for low in range(20, 40):
            ask(opened, SIMPLE.format(low, low + 10))
    shutil.rmtree(opened.site.vault)
    return opened


@pytest.fixture
def asked(made: OpenSite, tmp_path: Path) -> OpenSite:
    return copy_site(made, tmp_path)


def test_every_answer_comes_from_its_version_again(asked: OpenSite) -> None:
    before = asked.log.verify()
    code, found = replayed(asked)
    assert (code, found["answers"], found["same"], found["different"]) == (0, 40, 40, [])
    assert found["versions_gone"] == []
    events = list(asked.log.events())
    assert len(events) == before.entries + 1  # nothing was asked anew
    assert (events[-1]["kind"], events[-1]["body"]["same"]) == ("audit.replay", 40)
    assert replayed(asked, "--dataset", "nothing")[1]["answers"] == 0
    assert replayed(asked, "--since", "2999-01-01")[1]["answers"] == 0


def test_an_answer_that_the_store_does_not_give_is_found(asked: OpenSite) -> None:
    """The store is altered by one record in one cell, as if the gate had known more than it."""
    gc.collect()  # the gate has let go of version 1
    with duckdb.connect(str(version_file(asked.site.store / "patients", 1))) as connection:
        connection.execute("UPDATE cells SET n = n + 1 WHERE rowid = (SELECT min(rowid) FROM cells WHERE c0_lo >= 25)")
    code, found = replayed(asked)
    assert code == 1
    assert found["same"] + found["sharper"] + len(found["different"]) == 40
    assert {one["version"] for one in found["different"]} == {1}
    assert all(one["where"].startswith("answer.rows") for one in found["different"])
    known = {query["id"] for query in asked.log.queries()}
    assert {one["query_id"] for one in found["different"]} <= known


def test_a_version_that_is_gone_is_told(asked: OpenSite) -> None:
    version_file(asked.site.store / "patients", 1).unlink()
    code, found = replayed(asked)
    assert (code, found["same"]) == (0, 20)
    assert found["versions_gone"] == [{"dataset": "patients", "version": 1, "answers": 20}]


@pytest.mark.parametrize(("method", "counted"), [(METHOD, "different"), (METHOD - 1, "sharper"), (None, "sharper")])
def test_a_wider_answer_is_expected_of_earlier_methods_alone(asked: OpenSite, method: int | None, counted: str) -> None:
    sql = SIMPLE.format(30, 50)
    true = asked.log.answer(ask(asked, sql))
    assert true is not None
    more = {"user": "ada", "dataset": "patients", "version": 2, "sql": sql, "mode": "interval"}
    by = {} if method is None else {"method": method}
    asked.log.intend("q_wider", **more, canonical_hash="", policy_hash="", **by)
    wider = json.loads(json.dumps(true[1]))
    wider["rows"][0]["mean"]["low"] -= 0.001
    asked.log.conclude("q_wider", "answered", answer=wider)
    code, found = replayed(asked)
    assert (code, found["sharper"]) == ((1, 0) if counted == "different" else (0, 1))
    assert [one["query_id"] for one in found["different"]] == (["q_wider"] if counted == "different" else [])


def test_a_forged_answer_in_the_log_is_found(asked: OpenSite) -> None:
    """Even one that is sealed: the chain tells that nobody changed it, the replay that it was never the store's."""
    sql = SIMPLE.format(30, 50)
    true = asked.log.answer(ask(asked, sql))
    assert true is not None
    more = {"user": "ada", "dataset": "patients", "version": 2, "sql": sql, "mode": "interval"}
    asked.log.intend("q_forged", **more, canonical_hash="", policy_hash="")
    forged = json.loads(json.dumps(true[1]))
    forged["rows"][0]["mean"]["low"] += 0.001
    asked.log.conclude("q_forged", "answered", answer=forged)
    code, found = replayed(asked)
    assert code == 1
    [one] = found["different"]
    assert (one["query_id"], one["where"]) == ("q_forged", "answer.rows[0].mean.low")
