"""The replay proof: every range that was ever given is recomputed from its store version alone, and must be the same.

In interval mode an answer is a function of the published store, so nothing but the store can be learned from any number
of answers. That is a claim about the program; this checks what the program did. The gate's own steps lead from the
version that the log names to the answer in the log, without admission or logging, and without access to a vault.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, NotRequired, TypedDict

from querygate.core.answer_bodies import AnswerBody
from querygate.core.errors import Refusal
from querygate.core.ports import Limits, PublishedVersion
from querygate.core.types import Principal, Request
from querygate.custody.evidence.rounding import encloses, number, rounded_alike
from querygate.gate.likely_values import TOO_LONG
from querygate.gate.query_record import METHOD
from querygate.gate.query_state import Gate, State
from querygate.gate.render import make_body
from querygate.gate.steps.arrange import arrange
from querygate.gate.steps.estimate import estimate
from querygate.gate.steps.fetch import fetch
from querygate.gate.steps.protect import HURRIED, protect
from querygate.gate.steps.understand import understand

Step = Callable[[State, Gate], State]
STEPS: tuple[Step, ...] = (understand, fetch, protect, estimate, arrange)

OF_THE_MOMENT = ("query_id", "elapsed_ms", "notes", "explanation")
"""Keys that identify the request, and texts beside the figures that another version of QueryGate may word differently:
notes and suggestions. All else must be equal to the byte, except for the rounding of ends: see `rounding`."""

NOBODY = Principal("replay", "custodian")

WIDE = Limits(timeout_s=600.0, memory_mb=4096, max_groups=1_000_000, max_sql_chars=1_000_000, max_nesting=40)
"""Answered statements are replayed whatever today's limits are."""

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Difference:
    """An answer that the store does not give. `where` is the first difference, or why there is no answer now."""

    query_id: str
    dataset: str
    version: int
    where: str


class LoggedQuery(TypedDict):
    """The parts of a logged query that are used, with the answer if there was one."""

    id: str
    dataset: str
    version: int
    mode: str
    outcome: str
    sql: str
    answer: AnswerBody
    method: NotRequired[int]


@dataclass(frozen=True, slots=True)
class Replay:
    """The result: answers examined, how many were the same, which were not, and which could not be computed."""

    answers: int
    same: int
    sharper: int  # where the range is now narrower, inside the one that an earlier method gave
    different: tuple[Difference, ...]
    gone: Mapping[tuple[str, int], int]  # (dataset, version) -> number of answers whose version no longer exists
    noisy: int  # answers in other modes, which are not functions of the store


def replay(
    entries: Iterable[LoggedQuery],
    gate: Gate,
    open_version: Callable[[str, int], PublishedVersion | None],
    progress: Progress = lambda done: None,
) -> Replay:
    """Recompute every answered query of a log. `open_version` returns None for a version that is gone."""
    releases: dict[tuple[str, int], PublishedVersion | None] = {}
    known: dict[tuple[str, int, str], bytes] = {}
    gone: Counter[tuple[str, int]] = Counter()
    different: list[Difference] = []
    answers = same = sharper = noisy = 0
    for entry in entries:
        if entry["outcome"] != "answered":
            continue
        answers += 1
        progress(answers)
        if entry["mode"] != "interval":
            noisy += 1
            continue
        at = (str(entry["dataset"]), int(entry["version"]))
        if at not in releases:
            releases[at] = open_version(*at)
        release = releases[at]
        if release is None:
            gone[at] += 1
            continue
        # A text always means the same on one version, so it is computed once and compared each time.
        if known.get((*at, entry["sql"])) == _digest(entry["answer"]):
            same += 1
            continue
        made = _computed(entry["sql"], release, gate)
        if not isinstance(made, str):
            known[(*at, entry["sql"])] = _digest(made)
        where = made if isinstance(made, str) else _difference(entry["answer"], made)
        if not where:
            same += 1
        elif not isinstance(made, str) and _became_sharper(entry, made):
            sharper += 1
        else:
            different.append(Difference(str(entry["id"]), *at, where))
    return Replay(answers, same, sharper, tuple(different), dict(gone), noisy)


def _computed(sql: str, release: PublishedVersion, gate: Gate) -> AnswerBody | str:
    """The answer as JSON, or why there is none."""
    try:
        return compute_again(sql, release, replace(gate, limits=WIDE))
    except Refusal as refusal:
        return f"it is refused now ({refusal.code})"
    except Exception as error:  # the engine's message may quote what it read
        return f"it fails now ({type(error).__name__})"


def compute_again(sql: str, release: PublishedVersion, gate: Gate, steps: Sequence[Step] = STEPS) -> AnswerBody:
    """A version's answer to a statement, as JSON, without admission or logging."""
    request = Request(NOBODY, release.catalog.dataset, sql)
    state = State("", request, gate.clock_s(), release=release, version=release.catalog.version)
    for step in steps:
        state = step(state, gate)
    return make_body(state.answer)


def _told(answer: AnswerBody) -> dict[str, object]:
    """The answer without the parts that identify the request."""
    return {name: value for name, value in answer.items() if name not in OF_THE_MOMENT}


def _digest(answer: AnswerBody) -> bytes:
    return sha256(_text(_told(answer)).encode()).digest()


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _difference(logged: AnswerBody, made: AnswerBody, *, may_be_wider: bool = False) -> str:
    """Where the answers differ. An answer that ran out of time may be wider than today's, but not narrower."""
    told, now = _alike(_told(logged), _told(made))
    return first_difference(told, _widened(told, now) if may_be_wider or HURRIED in logged["notes"] else now)


def _became_sharper(entry: LoggedQuery, made: AnswerBody) -> bool:
    """Whether the only difference is that an earlier method gave a wider range."""
    is_earlier = entry.get("method", 0) < METHOD
    return is_earlier and not _difference(entry["answer"], made, may_be_wider=True)


def _widened(logged: object, made: object) -> object:
    """Today's answer, with the logged ranges wherever they enclose its own."""
    if isinstance(logged, dict) and isinstance(made, dict):
        if {"low", "high", "sharp"} <= logged.keys() == made.keys():
            return logged if encloses(logged, made) and _is_inside(logged.get("estimate"), logged) else made
        return {name: _widened(logged.get(name), value) for name, value in made.items()}
    if isinstance(logged, list) and isinstance(made, list) and len(logged) == len(made):
        return [_widened(*pair) for pair in zip(logged, made, strict=True)]
    return made


def _alike(logged: dict[str, object], made: dict[str, object]) -> tuple[object, object]:
    """Both answers; today's without parts that did not exist when the other was logged: rolled-up keys, and
    estimates."""
    pairs: Any = zip(logged.get("rows", ()), made.get("rows", ()), strict=False)  # type: ignore[call-overload]
    rows = [{name: _told_then(before.get(name), cell) for name, cell in row.items()} for before, row in pairs]
    same_rows = len(rows) == len(made.get("rows", ()))  # type: ignore[arg-type]
    return logged, {**made, "rows": rows} if same_rows else made


def _told_then(logged: Any, cell: Any) -> Any:
    """A cell of today's answer, as it would have been logged then."""
    if not isinstance(logged, dict) or not isinstance(cell, dict):
        return cell
    if "certain" in cell and "rolled_up" not in logged:
        return {name: value for name, value in cell.items() if name != "rolled_up"}
    if "sharp" not in cell:
        return cell
    if _is_same_estimate(logged, cell):
        own = {name: value for name, value in cell.items() if name not in ESTIMATE}
        cell = own | {name: logged[name] for name in ESTIMATE if name in logged}
    return rounded_alike(logged, cell)


ESTIMATE = ("estimate", "estimate_note")


def _is_same_estimate(logged: Mapping[str, Any], made: Mapping[str, Any]) -> bool:
    """There was no estimate, or no time for one, or both agree up to the rounding of another processor."""
    if "estimate" not in logged:
        return True
    one, other = logged["estimate"], made.get("estimate")
    if logged.get("estimate_note") == TOO_LONG:
        return one is None
    if isinstance(one, int | float) and isinstance(other, int | float):
        width = (number(made["high"]) or 0) - (number(made["low"]) or 0)
        return math.isclose(one, other, rel_tol=1e-6) or (math.isfinite(width) and abs(one - other) <= 1e-3 * width)
    return bool(one == other)


def _is_inside(value: Any, told: Mapping[str, Any]) -> bool:
    """A range that was wider then may have had another estimate, but inside that range."""
    return value is None or encloses(told, {"low": value, "high": value, "may_be_null": False})


def first_difference(logged: object, made: object, place: str = "answer") -> str:
    """Where two answers differ, compared as the bytes of their JSON; empty if they do not.

    >>> first_difference({"rows": [{"n": {"low": 1}}]}, {"rows": [{"n": {"low": 1.0}}]})
    'answer.rows[0].n.low'
    """
    if _text(logged) == _text(made):
        return ""
    if isinstance(logged, dict) and isinstance(made, dict) and list(logged) == list(made):
        inner = (first_difference(logged[name], made[name], f"{place}.{name}") for name in logged)
    elif isinstance(logged, list) and isinstance(made, list) and len(logged) == len(made):
        inner = (first_difference(*pair, f"{place}[{i}]") for i, pair in enumerate(zip(logged, made, strict=True)))
    else:
        return place
    return next(filter(None, inner), place)
