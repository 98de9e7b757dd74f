"""Traces by OpenTelemetry, where the settings name a collector: a span for each request over HTTP and one for each step
of its answer. Where they name none, nothing of this is loaded or called.

A span has what figures have: route, status, code, the id of the request, times. It never has a text, a value, a path or
the name of a person. What a client says of a trace of its own is believed as far as its ids go, so that a trace goes on
through the gate; whether it is sent is decided here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from flask import Flask, Response, g, has_request_context, request

from querygate.core.errors import ConfigError
from querygate.core.step_times import listen
from querygate.site.settings import Settings
from querygate.web.request_record import UNKNOWN

PARENT = "traceparent"
SAMPLER = "OTEL_TRACES_SAMPLER"
CLOSE_MS = 5000
_NS = 1_000_000_000


@contextmanager
def traced(app: Flask, settings: Settings) -> Iterator[None]:
    """Send traces of what the application answers, for as long as the block takes. Begin it after every fork: what
    sends them is a thread."""
    endpoint = settings["otlp_endpoint"]
    if not endpoint:
        yield
        return
    traces = Traces(endpoint)
    app.before_request(traces.begin)
    app.after_request(traces.note)
    app.teardown_request(lambda error: traces.end())
    stop = listen(traces.step)
    try:
        yield
    finally:
        stop()
        traces.close()


class Traces:
    """The spans of this process, on their way to a collector."""

    def __init__(self, endpoint: str) -> None:
        if not endpoint.startswith(("http://", "https://")):
            raise ConfigError(
                "QG805",
                "The setting `otlp_endpoint` is not the address of a collector.",
                "Use, for example, http://127.0.0.1:4318/v1/traces.",
            )
        self._api, self._provider = _open(endpoint)
        self._tracer = self._provider.get_tracer("querygate", version("querygate"))

    def begin(self) -> None:
        route = request.endpoint or UNKNOWN
        told = {"http.request.method": request.method, "http.route": route, "querygate.request_id": g.request_id}
        parent = self._api.parent({PARENT: request.headers.get(PARENT, "")})
        g.span = self._tracer.start_span(route, context=parent, kind=self._api.server, attributes=told)

    def note(self, response: Response) -> Response:
        """How it ended."""
        span = g.get("span")
        if span is not None:
            span.set_attribute("http.response.status_code", response.status_code)
            if g.get("code"):
                span.set_attribute("querygate.code", g.code)
        return response

    def end(self) -> None:
        span = g.pop("span", None)
        if span is not None:
            span.end()

    def step(self, name: str, seconds: float) -> None:
        """A step that has just ended. Those of other doors belong to no request over HTTP."""
        span = g.get("span") if has_request_context() else None
        if span is not None:
            ended_ns = time.time_ns()
            started_ns = ended_ns - int(seconds * _NS)
            self._tracer.start_span(name.lstrip("_"), context=self._api.within(span), start_time=started_ns).end(
                ended_ns
            )

    def close(self) -> None:
        """What waits is sent, if that takes no longer than a moment."""
        self._provider.force_flush(CLOSE_MS)
        self._provider.shutdown()


class _Api:
    """What is needed of the library, which is loaded where traces are wanted."""

    def __init__(self) -> None:
        from opentelemetry.trace import SpanKind, set_span_in_context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self.server: Any = SpanKind.SERVER
        self.within: Any = set_span_in_context
        self.parent: Any = TraceContextTextMapPropagator().extract


def _open(endpoint: str) -> tuple[_Api, Any]:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ALWAYS_ON
    except ImportError:
        raise ConfigError(
            "QG804", "The libraries for traces are not installed.", "Install them with: pip install 'querygate[otel]'."
        ) from None
    about = Resource.create({"service.name": "querygate", "service.version": version("querygate")})
    provider = TracerProvider(resource=about, sampler=None if SAMPLER in os.environ else ALWAYS_ON)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    return _Api(), provider
