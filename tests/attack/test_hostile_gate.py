"""A gate in the wrong hands: what it puts into a job, and what somebody with a worker's key puts back."""

from __future__ import annotations

from pathlib import Path

import pytest

from querygate.core.errors import ExtractRefused, Fault
from querygate.core.jobs import JobOutcome
from querygate.site.extract_requests.extract_package import ExtractFiles
from querygate.site.job_exchange import JobExchange, result_of
from tests.each import each
from tests.unit.custody.noise.site_with_noise import noisy_site

PATHS = ["..", "../../store", "/tmp/elsewhere", "a/b", "", ".", "x_1/../..", "x_1\0", "x" * 100]


@each("path", PATHS)
def test_the_id_of_a_request_leads_nowhere_else(tmp_path: Path, path: str) -> None:
    vault = tmp_path / "vault"
    kept = vault / "study" / "v00001.duckdb"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text("raw rows")
    files = ExtractFiles(vault, tmp_path / "extracts")
    tried = (
        lambda: files.locked(path).__enter__(),
        lambda: files.stage(path, keep=None),
        lambda: files.keep(path, {}),
        lambda: files.sweep(path, keep=None),
        lambda: files.release("x_1", path),
        lambda: files.release(path, "0" * 64),
        lambda: files.read(path, "0" * 64, "report.html", released=False),
        lambda: files.withdraw(path),
    )
    for attempt in tried:
        with pytest.raises(ExtractRefused) as caught:
            attempt()
        assert caught.value.code == "QG603"
    assert kept.read_text() == "raw rows"


FORGED = [
    {},
    {"x": 1},
    {"answer": 5, "epsilon": "x"},
    {
        "answer": {"query_id": "q_forged", "dataset": "patients", "version": 1, "rows": [], "columns": []},
        "epsilon": 0.1,
    },
    {"answer": {"query_id": "q_asked", "dataset": "other", "version": 1, "rows": [], "columns": []}, "epsilon": 0.1},
    {"answer": {"query_id": "q_asked", "dataset": "patients", "version": 1, "rows": [], "columns": []}, "epsilon": -5},
    {"answer": {"query_id": "q_asked", "dataset": "patients", "version": 1}, "epsilon": 0.1},
]


def test_what_a_worker_puts_back_must_be_what_was_asked(tmp_path: Path) -> None:
    opened = noisy_site(tmp_path, each=0.1, total=5.0, user=1.0).opened
    exchange = JobExchange(opened)
    for number, forged in enumerate(FORGED):
        body = {
            "query_id": f"q_asked{number}",
            "version": 1,
            "intent": {"version": 1, "sql": "SELECT 1", "mode": "laplace"},
        }
        forged = {**forged, "answer": _named(forged.get("answer"), number)} if "answer" in forged else forged
        job = exchange._jobs.put("noise.answer", dataset="patients", user="ann", body=body)
        held = exchange.lease("thief", ("noise.answer",))
        assert held is not None
        assert exchange.finish("thief", job.id, JobOutcome(forged))
        ended = exchange.find(job.id)
        assert ended is not None
        assert ended.state == "failed", forged
        with pytest.raises(Fault):
            result_of(ended)
        line = opened.log.query(f"q_asked{number}")
        assert line is not None
        assert (line["outcome"], line["answer"]) == ("failed", None)


def _named(answer: object, number: int) -> object:
    """The answer with the id of this try, where it has the right one."""
    if isinstance(answer, dict) and answer["query_id"] == "q_asked":
        return {**answer, "query_id": f"q_asked{number}"}
    return answer
