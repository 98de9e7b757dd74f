"""The exchange of a gate on another machine: the worker calls it over HTTPS, and nothing listens here."""

from __future__ import annotations

import json
import logging
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

from querygate.core.errors import ConfigError
from querygate.core.jobs import Job, JobKind, JobOutcome, problem_body
from querygate.gate.render import to_json

TIMEOUT_S = 30.0
PATIENCE_S = 60.0
"""How long to retry a result with a gate that does not answer. After that its lease is gone anyway."""

LARGEST_REPLY = 32_000_000
LOOPBACK = ("127.0.0.1", "::1", "localhost")
FORBIDDEN = (401, 403)

logger = logging.getLogger("querygate")


class GateUnreachable(Exception):
    """The gate did not answer, or answered something else."""


class RemoteExchange:
    """Implements `worker.Exchange` for a gate on another machine. Safe to share between threads."""

    def __init__(self, gate: str, key: str) -> None:
        parts = urllib.parse.urlsplit(gate)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
            raise ConfigError(
                "QG805", "--gate must be an https address.", "Use, for example, https://gate.example.org."
            )
        self._root, self._key = f"{gate.rstrip('/')}/api/v1/work", key
        # No redirects are followed: the key goes to this gate and nowhere else.
        self._opener = urllib.request.build_opener(_NoRedirect)

    def lease(self, worker: str, kinds: Sequence[JobKind]) -> Job | None:
        return _job(self._call("POST", "/lease", {"worker": worker, "kinds": list(kinds)})["job"])

    def renew(self, worker: str, job_id: str, progress: str | None = None, fraction: float | None = None) -> Job | None:
        body = {"worker": worker, "progress": progress, "fraction": fraction}
        return _job(self._call("POST", f"/jobs/{job_id}/progress", body)["job"])

    def give_back(self, worker: str, job_id: str) -> None:
        self._call("POST", f"/jobs/{job_id}/return", {"worker": worker})

    def finish(self, worker: str, job_id: str, outcome: JobOutcome) -> bool:
        """A lost reply does no harm: finishing twice is the same as finishing once."""
        body: dict[str, Any] = {"worker": worker}
        if outcome.problem is not None:
            body["problem"] = problem_body(outcome.problem)
        else:
            body["result"] = dict(outcome.result or {})
        until_s, pause_s = time.monotonic() + PATIENCE_S, 0.2
        while True:
            try:
                return bool(self._call("POST", f"/jobs/{job_id}/finish", body)["taken"])
            except GateUnreachable:
                if time.monotonic() > until_s:
                    raise
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 5.0)

    def log_after(self, seq: int) -> Mapping[str, Any]:
        """Entries of the gate's log after this one, and who its people are."""
        return self._call("GET", f"/log?after={seq}")

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else to_json(body)
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._root + path, data, headers, method=method)  # noqa: S310  (checked above)
        try:
            with self._opener.open(request, timeout=TIMEOUT_S) as response:
                found = json.loads(response.read(LARGEST_REPLY))
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in FORBIDDEN:
                logger.error("the gate does not accept the key of this worker (%s)", error.code)
            raise GateUnreachable(f"the gate answered {error.code}") from None
        except (OSError, ValueError) as error:
            raise GateUnreachable(type(error).__name__) from None
        if not isinstance(found, dict):
            raise GateUnreachable("the gate answered something else")
        return found


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *given: Any) -> None:
        return None


def _job(body: Mapping[str, Any] | None) -> Job | None:
    if body is None:
        return None
    try:
        return Job(**body)
    except TypeError:
        raise GateUnreachable("the gate is of another version") from None
