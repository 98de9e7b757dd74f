"""Figures and ids of requests: what an operator sees, and what nobody gets to see by it."""

from __future__ import annotations

import json
import logging
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from querygate.web import create_app
from querygate.web.json_lines import JsonLines
from querygate.web.metrics import Metrics, SiteFigures
from tests.api.small_site import SmallSite, make_small_site
from tests.unit.custody.noise.site_with_noise import noisy_site
from tests.work import HANG_S

ASK = {"dataset": "clinic", "sql": "SELECT AVG(sbp) FROM clinic WHERE age > 41"}
BAD = {"dataset": "clinic", "sql": "SELECT sbp FROM clinic WHERE age = 41"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    return make_small_site(tmp_path_factory.mktemp("metrics"))


@pytest.fixture
def client(site: SmallSite) -> Iterator[FlaskClient]:
    metrics = Metrics(None)
    yield create_app(site.opened, metrics=metrics).test_client()
    metrics.stop()


def figures(client: FlaskClient, site: SmallSite) -> dict[str, float]:
    text = client.get("/metrics", headers=site.headers("carl")).text
    pairs = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


def test_steps_refusals_requests_and_sizes_are_counted(client: FlaskClient, site: SmallSite) -> None:
    for body in (ASK, {**ASK, "sql": ASK["sql"] + " AND age < 60"}, BAD):
        client.post("/api/v1/query", json=body, headers=site.headers("ann"))
    client.get("/no/such/page")
    found = figures(client, site)
    assert found['querygate_requests_total{route="ask",status="200"}'] == 2
    assert found['querygate_requests_total{route="unknown",status="404"}'] == 1
    assert found['querygate_refusals_total{code="QG201"}'] == 1
    assert found['querygate_step_seconds_count{step="understand"}'] == 3
    assert found['querygate_step_seconds_count{step="record"}'] == 2
    assert found['querygate_bytes{what="store"}'] > 1000
    assert found["querygate_log_entries"] >= 6
    assert found["querygate_requests_in_progress"] == 1  # this one
    assert found["querygate_requests_queued"] == 0


def test_no_figure_names_a_person_or_quotes_a_text(client: FlaskClient, site: SmallSite) -> None:
    client.post("/api/v1/query", json=ASK, headers=site.headers("ann"))
    client.get("/api/v1/answers/Smith.json", headers=site.headers("ann"))
    client.get("/Smith?x=Smith")
    text = client.get("/metrics", headers=site.headers("carl")).text
    assert not re.search(r"ann|carl|sbp|41\b.*age|Smith|SELECT", text)


def test_figures_are_for_custodians(client: FlaskClient, site: SmallSite) -> None:
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers=site.headers("ann")).status_code == 403
    unmeasured = create_app(site.opened).test_client()
    assert unmeasured.get("/metrics", headers=site.headers("carl")).status_code == 503


def test_budgets_and_lags_are_told_by_dataset(tmp_path: Path) -> None:
    noisy = noisy_site(tmp_path, each=0.5, total=4.0, user=2.0)
    noisy.ask("SELECT COUNT(*) AS n FROM patients")
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for metric in SiteFigures(noisy.opened).collect()
        for sample in metric.samples
    }
    assert found["querygate_budget_spent_epsilon", "patients"] == 0.5
    assert found["querygate_budget_limit_epsilon", "patients"] == 4.0
    assert found["querygate_mark_age_seconds",] >= 0


# -- ids of requests -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "kept"), [("trace-7", True), ("a:b.c_D", True), ("", False), ("x" * 65, False), ("two words", False)]
)
def test_an_id_is_taken_where_it_is_plain_and_given_else(
    client: FlaskClient, site: SmallSite, sent: str, kept: bool
) -> None:
    answer = client.post("/api/v1/query", json=ASK, headers={**site.headers("ann"), "X-Request-ID": sent})
    named = answer.headers["X-Request-ID"]
    assert (named == sent) is kept
    (*_, outcome) = (event for event in site.opened.log.events() if event["kind"] == "query.outcome")
    assert outcome["body"]["request_id"] == named


def test_a_refusal_carries_the_id(client: FlaskClient, site: SmallSite) -> None:
    for path, headers in (("/api/v1/query", site.headers("ann")), ("/nowhere", {})):
        refused = client.post(path, json=BAD, headers={**headers, "X-Request-ID": "trace-8"})
        assert refused.json["request_id"] == refused.headers["X-Request-ID"] == "trace-8"
        refused = client.post(path, json=BAD, headers=headers)
        assert "request_id" not in refused.json
        assert refused.headers["X-Request-ID"].startswith("r_")


def test_each_request_is_a_line_without_its_statement(
    client: FlaskClient, site: SmallSite, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "querygate.access"):
        client.post("/api/v1/query", json=BAD, headers={**site.headers("ann"), "X-Request-ID": "trace-9"})
    line = json.loads(JsonLines().format(caplog.records[-1]))
    assert (line["request_id"], line["route"], line["status"], line["code"]) == ("trace-9", "ask", 422, "QG201")
    assert "41" not in json.dumps({**line, "ms": 0, "time": ""})


def test_an_error_is_told_by_its_kind_alone() -> None:
    try:
        raise ValueError("Smith, 51")
    except ValueError:
        record = logging.LogRecord("querygate", logging.ERROR, "", 0, "incident %s", ("i_1",), sys.exc_info())
    line = JsonLines().format(record)
    assert json.loads(line)["error"] == "ValueError"
    assert "Smith" not in line


# -- several processes -----------------------------------------------------------------------------------------------

FORKS = """
import os, sys
from pathlib import Path
os.environ["PROMETHEUS_MULTIPROC_DIR"] = sys.argv[1]
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.web.metrics import Metrics
metrics = Metrics(Path(sys.argv[1]))
children = []
for child in range(3):
    pid = os.fork()
    if not pid:
        metrics.refusals.labels("QG201").inc(2)
        metrics.running.inc()
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
for pid in children[:2]:
    metrics.ended(pid)
print(metrics.text(open_gate(open_site(Path(sys.argv[2])))).decode())
"""


def test_what_several_processes_count_is_added_up(site: SmallSite, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKS, str(tmp_path), str(site.folder)], capture_output=True, text=True, timeout=HANG_S
    )
    assert done.returncode == 0, done.stderr
    assert 'querygate_refusals_total{code="QG201"} 6.0' in done.stdout
    assert "querygate_requests_in_progress 1.0" in done.stdout  # of the one that was not told to have ended


def test_a_server_tells_its_figures_on_a_port_of_their_own(site: SmallSite) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {"QUERYGATE_METRICS_PORT": str(port), "QUERYGATE_JSON_LINES": "true"}
    command = [sys.executable, "-m", "querygate", "serve", "--port", "0", "--store-only", "--site", str(site.folder)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**_environment(), **settings}
    ) as server:
        try:
            assert server.stdout is not None
            address = next(re.search(r"http://\S+", line) for line in server.stdout if "QueryGate is at" in line)
            assert address is not None
            with urllib.request.urlopen(f"{address[0]}/healthz", timeout=HANG_S) as answer:
                assert answer.headers["X-Request-ID"]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=HANG_S) as answer:
                assert b'querygate_requests_total{route="healthz",status="200"} 1.0' in answer.read()
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/other", timeout=HANG_S)
        finally:
            server.terminate()
            _, told = server.communicate(timeout=HANG_S)
    lines = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    assert [(line["route"], line["status"]) for line in lines if line["logger"] == "querygate.access"] == [
        ("healthz", 200)
    ]


def _environment() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if not name.startswith("QUERYGATE_")}
