"""What is said to a gate and what is made of its replies, without a word about how it travels.

A conversation is a generator. It yields a `Call` and is sent the `Reply`, or yields a `Pause`; what it returns is the
result. The two clients, one that waits and one that awaits, do nothing but carry these, so whatever is decided (when to
try again, how long to wait for a job) is decided here once.
"""

from __future__ import annotations

import json
import os
import secrets
import urllib.parse
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from querygate.client.answer import Answer
from querygate.client.problem import make_problem, no_gate, read_problem, unreachable
from querygate.core.errors import ConfigError, QueryGateError

API = "/api/v1"
JSON = "application/json"
POLICY_HEADER = "x-querygate-policy"
KEY_VARIABLE = "QUERYGATE_KEY"
LOOPBACK = ("127.0.0.1", "::1", "localhost")

LONGEST_PAUSE_S = 30.0
"""A gate that wants to be left alone for longer is not asked again: the refusal says until when."""

JOB_PAUSES_S = (0.1, 0.2, 0.5, 1.0, 2.0)
"""How long to wait before looking at a job again; the last one then stays."""

_LATER = frozenset({"QG314", "QG317", "QG318", "QG320", "QG325", "QG804"})
"""Refusals that another attempt may not meet."""

_UNAVAILABLE = (429, 502, 503, 504)


class NotArrived(Exception):
    """There was no reply: no connection, or it broke, or it took too long."""


class JobStillRuns(TimeoutError):
    """The job takes longer than the client waits. It goes on: `client.job(id)` waits for it again."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"The job {job_id} still runs.")
        self.job_id = job_id


@dataclass(frozen=True, slots=True)
class Call:
    """A request. `again`: it may be sent twice without harm."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    accept: str = JSON
    key: str = ""
    again: bool = True

    @property
    def headers(self) -> dict[str, str]:
        return {"Accept": self.accept} | ({"Idempotency-Key": self.key} if self.key else {})


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


T = TypeVar("T")
Conversation: TypeAlias = Generator[Call | Pause, Reply | None, T]


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request is tried again, with how long between, and how long a job is waited for."""

    pauses_s: tuple[float, ...] = (0.2, 0.5, 1.0)
    job_s: float = 600.0


# -- addresses and keys --------------------------------------------------------------------------------------


def check_address(url: str) -> str:
    """Keys go out over TLS, or stay on this machine."""
    try:
        parts = urllib.parse.urlsplit(url)
        told = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # brackets without an end, or no port that there is
        told = False
    if not told or (parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK)):
        raise ConfigError(
            "QG805", "The address of the gate must be an https address.", "Use, for example, https://gate.example.org."
        )
    return url.rstrip("/")


def find_key(key: str | Path | None) -> str:
    """The key itself, or from a file; without one, from the environment."""
    if isinstance(key, Path):
        try:
            return key.read_text(encoding="utf-8").strip().partition("\n")[0].rstrip()
        except (OSError, UnicodeDecodeError):
            raise ConfigError("QG805", "The file with the key cannot be read.", "Check its name.") from None
    return key if key is not None else os.environ.get(KEY_VARIABLE, "").strip()


# -- one request ---------------------------------------------------------------------------------------------


def deliver(call: Call, patience: Patience) -> Conversation[Reply]:
    """The reply to a request, tried again where that helps. Raises what the gate refuses."""
    for pause_s in (*(patience.pauses_s if call.again else ()), None):
        try:
            reply = yield call
        except NotArrived:
            if pause_s is None:
                raise unreachable() from None
            yield Pause(pause_s)
            continue
        if reply is None:
            raise TypeError("a call needs a reply")
        if reply.status < 300:
            return reply
        error = read_problem(reply.content)
        wait_s = _wait_s(reply, error, pause_s)
        if wait_s is None:
            raise error
        yield Pause(wait_s)
    raise unreachable()


def _wait_s(reply: Reply, error: QueryGateError, pause_s: float | None) -> float | None:
    """How long to wait before the next attempt; None where there is to be none."""
    may_pass = error.code in _LATER and (reply.status in _UNAVAILABLE or error.code == "QG325")
    if pause_s is None or not may_pass:
        return None
    asked = reply.headers.get("retry-after", "")
    wait_s = float(asked) if asked.isdigit() else pause_s
    if wait_s > LONGEST_PAUSE_S:
        error.retry_after_s = wait_s
        return None
    return wait_s


def fetch(call: Call, patience: Patience) -> Conversation[dict[str, Any]]:
    """The JSON object that comes back."""
    reply = yield from deliver(call, patience)
    return read_object(reply)


def fetch_bytes(call: Call, patience: Patience) -> Conversation[bytes]:
    reply = yield from deliver(call, patience)
    return reply.content


def read_object(reply: Reply) -> dict[str, Any]:
    try:
        body = json.loads(reply.content)
    except ValueError:
        raise no_gate() from None
    if not isinstance(body, dict):
        raise no_gate()
    return body


def quoted(name: str) -> str:
    """A name as a part of a path."""
    return urllib.parse.quote(name, safe="")


def with_query(path: str, **parameters: object) -> str:
    given = {name: value for name, value in parameters.items() if value is not None}
    return f"{path}?{urllib.parse.urlencode(given)}" if given else path


# -- questions -----------------------------------------------------------------------------------------------


def make_question(sql: str, dataset: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    if not dataset:
        raise ValueError("Say which dataset it is about: query(sql, dataset=...), or connect(..., dataset=...).")
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    return {"dataset": dataset, "sql": sql, **({"options": given} if given else {})}


def ask(question: Mapping[str, Any], patience: Patience) -> Conversation[Answer]:
    """An answer. The question has a name of its own, so that it is one question however often it is sent."""
    call = Call("POST", f"{API}/query", question, key=secrets.token_hex(16))
    reply = yield from deliver(call, patience)
    if reply.status != 202:
        return read_answer(reply)
    return (yield from await_job(str(read_object(reply)["job"]), patience))


def fit(question: Mapping[str, Any], patience: Patience) -> Conversation[Answer]:
    """The table of a model. It is sent once: a gate does not know the model of a lost reply again."""
    reply = yield from deliver(Call("POST", f"{API}/model", question, again=False), patience)
    return read_answer(reply)


def fetch_answer(answer_id: str, patience: Patience) -> Conversation[Answer]:
    """An answer from the log."""
    reply = yield from deliver(Call("GET", f"{API}/answers/{quoted(answer_id)}.json"), patience)
    return read_answer(reply)


def read_answer(reply: Reply) -> Answer:
    return Answer(read_object(reply), reply.headers.get(POLICY_HEADER))


def await_job(job_id: str, patience: Patience) -> Conversation[Answer]:
    """The answer of a job, once it is there. Raises what kept it from one."""
    waited_s, number = 0.0, 0
    while True:
        reply = yield from deliver(Call("GET", f"{API}/jobs/{quoted(job_id)}"), patience)
        job = read_object(reply)
        if job["finished"] is not None:
            break
        if waited_s >= patience.job_s:
            raise JobStillRuns(job_id)
        pause_s = JOB_PAUSES_S[min(number, len(JOB_PAUSES_S) - 1)]
        yield Pause(pause_s)
        waited_s, number = waited_s + pause_s, number + 1
    if "problem" in job:
        raise make_problem(job["problem"])
    return Answer(job["result"], reply.headers.get(POLICY_HEADER))
