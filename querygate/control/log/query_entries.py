"""The entries of a query: what its intent says, and its line in the query log."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Literal, NamedTuple, NotRequired, TypedDict, cast

from querygate.control.log.entry_chain import LogEvent, storable
from querygate.core.answer_bodies import AnswerBody
from querygate.core.ports import AskedQuery, Outcome
from querygate.core.request_ids import request_id

INTENT = "query.intent"
OUTCOME = "query.outcome"

_TOLD: tuple[Literal["version", "sql", "mode", "canonical_hash", "policy_hash", "method"], ...] = (
    "version", "sql", "mode", "canonical_hash", "policy_hash", "method",
)  # fmt: skip


class QueryLine(TypedDict):
    """A line of the query log."""

    id: str
    time: str
    user: str
    dataset: str | None
    version: int | None
    sql: str
    mode: str | None
    outcome: Outcome
    code: str | None
    answer: AnswerBody | None
    epsilon: float | None
    prev: str
    hash: str
    method: NotRequired[int]


class Intent(NamedTuple):
    """Who asked, about what, and what the outcome repeats."""

    user: str | None
    dataset: str | None
    body: Mapping[str, object]

    @classmethod
    def of(cls, asked: AskedQuery) -> Intent:
        return cls(
            storable(asked["user"]),
            storable(asked["dataset"]),
            {**{name: asked[name] for name in _TOLD if name in asked}, **request_named()},
        )


class RecentIntents:
    """What this process has logged and will soon need again, to save reading it. When there are too many, unused
    ones are dropped."""

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._kept: dict[str, Intent] = {}
        self._lock = threading.Lock()

    def add(self, query_id: str, intent: Intent) -> None:
        with self._lock:
            self._kept[query_id] = intent
            if len(self._kept) > self._most:
                self._kept.pop(next(iter(self._kept)))

    def take(self, query_id: str) -> Intent | None:
        with self._lock:
            return self._kept.pop(query_id, None)


def query_line(fields: LogEvent) -> QueryLine:
    """The entry in the shape of the query log."""
    body = fields["body"]
    return {
        "id": cast(str, fields["query_id"]),  # an entry about a query has one, and a user
        "time": fields["time"],
        "user": cast(str, fields["user"]),
        "dataset": fields["dataset"],
        "version": body["version"],
        "sql": body["sql"],
        "mode": body["mode"],
        "outcome": body.get("outcome", "failed"),
        "code": body.get("code"),
        "answer": body.get("answer"),
        "epsilon": body.get("epsilon"),
        "prev": fields["prev"],
        "hash": fields["hash"],
        **({"method": body["method"]} if "method" in body else {}),  # type: ignore[typeddict-item]
    }


def request_named() -> dict[str, str]:
    """The id of the HTTP request, if there is one."""
    named = request_id.get()
    return {} if named is None else {"request_id": named}
