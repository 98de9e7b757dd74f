"""Traces of requests, received by a collector over HTTP: what is in a span, and what never is."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from querygate.core import step_times
from querygate.core.errors import ConfigError
from querygate.site.layout import open_site
from querygate.web import create_app
from querygate.web.traces import traced
from tests.api.small_site import SmallSite, make_small_site
from tests.work import HANG_S

SQL = "SELECT sex, AVG(sbp) FROM clinic WHERE age > 41 AND sex <> 'Zoë-4711' GROUP BY sex"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    return make_small_site(tmp_path_factory.mktemp("traces"))


@contextmanager
def collecting() -> Iterator[tuple[str, list[bytes]]]:
    """A collector on a port of its own, and what arrived there."""
    arrived: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            arrived.append(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", arrived
    finally:
        server.shutdown()
        server.server_close()
        thread.join(HANG_S)


def settings(site: SmallSite, monkeypatch: pytest.MonkeyPatch, endpoint: str) -> Any:
    monkeypatch.setenv("QUERYGATE_OTLP_ENDPOINT", endpoint)
    return open_site(Path(site.folder)).settings


def test_requests_and_steps_are_spans_without_texts(site: SmallSite, monkeypatch: pytest.MonkeyPatch) -> None:
    wire = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    app = create_app(site.opened)
    with collecting() as (endpoint, arrived), traced(app, settings(site, monkeypatch, endpoint)):
        client, key = app.test_client(), site.headers("ann")
        parent = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-00"}
        client.post("/api/v1/query", json={"dataset": "clinic", "sql": SQL}, headers=key | parent)
        client.post("/api/v1/query", json={"dataset": "clinic", "sql": "SELECT age FROM clinic"}, headers=key)
        client.get("/no/such/Zo\u00eb-4711?a=4711")
    spans = [
        span
        for body in arrived
        for resource in wire.ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    asked, refused, unknown = (span for span in spans if span.kind == 2)
    told = [
        {one.key: one.value.string_value or one.value.int_value for one in each.attributes}
        for each in (asked, refused, unknown)
    ]
    assert [(one["http.route"], one["http.response.status_code"]) for one in told] == [
        ("ask", 200),
        ("ask", 422),
        ("unknown", 404),
    ]
    assert (told[1]["querygate.code"], told[0].keys() & {"querygate.code"}) == ("QG201", set())
    steps = [span.name for span in spans if span.parent_span_id == asked.span_id]
    assert steps == ["find", "understand", "admit", "fetch", "protect", "estimate", "arrange", "explain", "record"]
    assert [span.name for span in spans if span.parent_span_id == refused.span_id] == ["find", "understand"]
    assert asked.trace_id.hex() == TRACE
    assert all(span.start_time_unix_nano <= span.end_time_unix_nano for span in spans)
    secret = site.keys["ann"].encode()
    assert not any(text in body for body in arrived for text in (b"4711", b"sbp", b"SELECT", b"ann", b"clinic", secret))


def test_without_a_collector_nothing_is_added(site: SmallSite, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(site.opened)
    before = [len(app.before_request_funcs[None]), len(app.after_request_funcs[None]), len(step_times._listeners)]
    with traced(app, settings(site, monkeypatch, "")):
        now = [len(app.before_request_funcs[None]), len(app.after_request_funcs[None]), len(step_times._listeners)]
    assert now == before


def test_a_collector_that_is_away_keeps_nobody_waiting(site: SmallSite, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opentelemetry.sdk")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    app = create_app(site.opened)
    with traced(app, settings(site, monkeypatch, "http://127.0.0.1:9/v1/traces")):
        body = {"dataset": "clinic", "sql": SQL}
        assert app.test_client().post("/api/v1/query", json=body, headers=site.headers("ann")).status_code == 200


def test_what_is_no_address_is_said_to_be_none(site: SmallSite, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(site.opened)
    with pytest.raises(ConfigError, match="otlp_endpoint"), traced(app, settings(site, monkeypatch, "collector:4318")):
        pass
