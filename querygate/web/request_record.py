"""What the door notes of every request: its id, how long it took and how it ended. Never what was sent."""

from __future__ import annotations

import logging
from time import perf_counter

from flask import Response, g, request

from querygate.core.request_ids import HEADER, begin_request
from querygate.web.metrics import Metrics

access = logging.getLogger("querygate.access")

UNKNOWN = "unknown"
"""The route of what has no route: a path would be a text of somebody's choice."""


def begin(metrics: Metrics | None) -> None:
    g.request_id = begin_request(request.headers.get(HEADER))
    g.began_s, g.code = perf_counter(), None
    if metrics is not None:
        g.is_counted = True
        metrics.running.inc()
        metrics.queued.set(metrics.queue())


def end(response: Response, metrics: Metrics | None) -> Response:
    """The response with its id; the request is counted, and noted where the settings want a line for each."""
    response.headers[HEADER] = g.request_id
    route, seconds = request.endpoint or UNKNOWN, perf_counter() - g.began_s
    if metrics is not None and g.pop("is_counted", False):
        metrics.running.dec()
        metrics.requests.labels(route, response.status_code).inc()
        metrics.seconds.labels(route).observe(seconds)
        if g.code is not None:
            metrics.refusals.labels(g.code).inc()
    if access.isEnabledFor(logging.INFO):
        told = {"method": request.method, "route": route, "status": response.status_code, "code": g.code}
        access.info("request", extra={"told": {**told, "ms": round(seconds * 1000, 1)}})
    return response
