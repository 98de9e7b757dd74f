"""Search the log page by page, newest first. Archives are not searched: `querygate log` reads those."""

from __future__ import annotations

from dataclasses import dataclass

from querygate.control.ports import ControlDatabase

PAGE = 50
SPAN = 50_000
"""Entries that are looked through for one page, where no index leads to those that are wanted."""

_ENDS = "SELECT coalesce(min(seq), 1), coalesce(max(seq), 0) + 1 FROM log"
_TIME = "SELECT time FROM log WHERE seq >= ? ORDER BY seq LIMIT 1"

# Of a question its statement is shown, of anything else the beginning of what the entry says.
_SHOWN = """seq, time, kind, query_id, user, dataset,
  CASE WHEN kind LIKE 'query.%' THEN json_extract(body, '$.sql') ELSE substr(body, 1, 400) END AS text,
  CASE WHEN kind = 'query.outcome' THEN json_extract(body, '$.outcome') END AS outcome,
  CASE WHEN kind = 'query.outcome' THEN json_extract(body, '$.code') END AS code"""

_CONDITIONS = {
    "user": "user = :user",
    "dataset": "dataset = :dataset",
    "kind": "kind >= :kind AND kind < :after AND (kind = :kind OR kind LIKE :family)",
    "code": "kind = 'query.outcome' AND instr(body, :coded) > 0",
}
_ELSE = "kind <> 'query.intent'"  # what was asked is in the outcome again
_OTHERS = "kind NOT IN ('query.intent', 'query.outcome')"  # as the index has it


_MODELS = f"""SELECT json_extract(body, '$.query_id') AS query_id, json_extract(body, '$.code') AS code,
         query_id IS NOT NULL AS is_kept,
         json_extract(body, '$.family') || ': ' || json_extract(body, '$.formula') AS text
  FROM log WHERE kind = 'model' AND {_OTHERS} AND (:user IS NULL OR user = :user)"""  # noqa: S608 - of the texts above


@dataclass(frozen=True, slots=True)
class LogFilter:
    """What to look for; empty means everything except intents. `since` and `until` are days, both included."""

    user: str = ""
    dataset: str = ""
    kind: str = ""
    code: str = ""
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry as a list shows it."""

    seq: int
    time: str
    kind: str
    query_id: str | None
    user: str | None
    dataset: str | None
    text: str | None
    outcome: str | None
    code: str | None


@dataclass(frozen=True, slots=True)
class LogPage:
    """Entries, newest first; `older` is where the next page begins, None at the end."""

    entries: tuple[FoundEntry, ...]
    older: int | None


def search_log(database: ControlDatabase, wanted: LogFilter, before: int | None = None) -> LogPage:
    """One page of matching entries, before an entry."""
    first, end = map(int, database.rows(_ENDS)[0])
    low = first_at(database, wanted.since) if wanted.since else first
    high = min(before or end, first_at(database, f"{wanted.until}~") if wanted.until else end)  # after all of a day
    is_rare = bool(wanted.kind) and not wanted.kind.startswith("query")
    least = low if wanted.user or is_rare else max(low, high - SPAN)
    conditions = [text for name, text in _CONDITIONS.items() if getattr(wanted, name)] or [_ELSE]
    conditions += [] if wanted.kind or wanted.code else [_ELSE]
    conditions += [_OTHERS] if is_rare else []
    seq = "+seq" if is_rare else "seq"  # with a plus, SQLite looks for the kind first
    where = " AND ".join([f"{seq} >= :least", f"{seq} < :high", *dict.fromkeys(conditions)])
    values: dict[str, int | str] = {
        "least": least,
        "high": high,
        "user": wanted.user,
        "dataset": wanted.dataset,
        "kind": wanted.kind,
        "family": f"{wanted.kind}.%",
        "after": f"{wanted.kind}/",
        "coded": f'"code":"{wanted.code}"',
    }
    sql = f"SELECT {_SHOWN} FROM log WHERE {where} ORDER BY {seq} DESC LIMIT {PAGE}"  # noqa: S608 - of the texts above
    found = tuple(FoundEntry(**dict(row)) for row in database.settled_rows(sql, values))
    if len(found) == PAGE:
        return LogPage(found, found[-1].seq)
    return LogPage(found, least if least > low else None)


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model in words, the code of its refusal (None if it was fitted), and whether its table was logged."""

    text: str
    code: str | None
    is_kept: bool


def asked_models(database: ControlDatabase, user: str | None = None) -> dict[str, AskedModel]:
    """Models by the id of the query whose answer they were computed from. That query counts as answered even if the
    model was refused and the user got nothing.
    """
    rows = database.settled_rows(_MODELS, {"user": user})
    return {row["query_id"]: AskedModel(row["text"], row["code"], bool(row["is_kept"])) for row in rows}


def first_at(database: ControlDatabase, moment: str) -> int:
    """The number of the first entry at or after a time, found by bisection, because entries are in time order."""
    low, high = map(int, database.rows(_ENDS)[0])
    while low < high:
        middle = (low + high) // 2
        rows = database.rows(_TIME, (middle,))
        if rows and rows[0]["time"] < moment:
            low = middle + 1
        else:
            high = middle
    return low
