"""Answers are a function of the store: with the vault gone, a fresh process gives the same bytes again."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

from querygate.core.errors import Refusal
from querygate.core.types import Principal, Request
from querygate.gateway.answer import answer
from tests.property.random_cases import make_case, random_query

QUERIES = 250

REPLAY = """
import json, sys
from pathlib import Path
from querygate.core.types import Principal, Request
from querygate.gateway.answer import answer
from querygate.gateway.render import to_dict
from querygate.site.gate import open_gate
from querygate.site.layout import open_site

gate = open_gate(open_site(Path(sys.argv[1]))).gate
for line in sys.stdin:
    print(json.dumps(to_dict(answer(Request(Principal("other", "researcher"), "t", json.loads(line)), gate))))
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
        timeout=120,
    )

    assert replayed.returncode == 0, replayed.stderr
    again = [json.loads(line) for line in replayed.stdout.splitlines()]
    assert [told(body) for body in again] == [told(query["answer"]) for query in logged]
    assert not case.opened.site.vault.exists()
