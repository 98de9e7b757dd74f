"""Requests for extracts, as they stand and with all that was done to them.

An act changes the request, adds an event, an entry in the log and what is to be sent, in one transaction. The decision
is made within it, on the request as it stands then. Events are numbered and never changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from querygate.control.alerts import WaitingAlert
from querygate.control.ids import Entropy, new_query_id, stamp_now
from querygate.control.log.entry_chain import canonical
from querygate.control.log.log import Log
from querygate.control.ports import Connection, ControlDatabase, Row
from querygate.core.extracts.approval_states import UNSEEN, Act, Event, ExtractRequest, State, expired, has_expired
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.core.extracts.use_agreement import UseAgreement

KIND = "export"
"""Entries in the log are called `export.` and what was done."""

NOTIFIED = frozenset({"submitted", "returned", "rejected", "approved", "released", "revoked"})
"""States of which somebody is notified when a request comes to them."""

_FIND = "SELECT * FROM export_request WHERE id = ?"
_LIST = """SELECT * FROM export_request
  WHERE (:requester IS NULL OR requester = :requester) AND (:state IS NULL OR state = :state) ORDER BY number DESC"""
_DUE = "SELECT id FROM export_request WHERE state = 'released' AND expires <= ? ORDER BY expires, number"
_CREATE = """INSERT INTO export_request
  (state, wish, changed, expires, approvals, summary, manifest, failure, beside_views, agreement,
   id, requester, dataset, created)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number"""
_UPDATE = """UPDATE export_request
  SET (state, wish, changed, expires, approvals, summary, manifest, failure, beside_views, agreement)
    = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?"""
_EVENT = """INSERT INTO export_event (request, number, time, user, action, before, after, comment)
  VALUES (:request, (SELECT coalesce(max(number), 0) + 1 FROM export_event WHERE request = :request),
          :time, :user, :action, :before, :after, :comment) RETURNING number"""
_EVENTS = """SELECT number, time, user, action, before, after, comment FROM export_event
  WHERE request = ? ORDER BY number"""


class SqliteRequests:
    """The requests of a site. `channels` are notified of what is decided; `via` is the door that the log names, and
    `os_user` the account of the operating system behind it."""

    def __init__(
        self,
        database: ControlDatabase,
        log: Log,
        entropy: Entropy,
        channels: Sequence[str] = (),
        via: str = "console",
        os_user: str | None = None,
    ) -> None:
        self._database, self._log, self._entropy = database, log, entropy
        self._channels, self._via, self._os_user = tuple(channels), via, os_user

    # -- writing -----------------------------------------------------------------------------------------

    def create(self, spec: ExtractSpec, act: Act) -> ExtractRequest:
        """A new draft, with its first event and entry in the log."""
        if act.by is None:
            raise ValueError("a request is somebody's")
        with self._database.writing() as connection:
            now, ident = self._now(), new_query_id(self._log.clock, self._entropy).replace("q_", "x_", 1)
            request = ExtractRequest(ident, 0, act.by.name, spec, "draft", created=now, changed=now)
            made = connection.execute(
                _CREATE, (*_values(request), ident, request.requester, spec.dataset, now)
            ).fetchone()
            request = replace(request, number=int(made["number"]))
            self._record(connection, request, act, None)
        return request

    def change(
        self, request_id: str, act: Act, after: Callable[[ExtractRequest | None], ExtractRequest]
    ) -> ExtractRequest:
        """Replace a request by what `after` makes of it as it stands; together with the event and the entry in the
        log, or, where `after` raises, not at all. Of two at once, the second sees what the first has done."""
        with self._database.writing() as connection:
            return self.change_in(connection, request_id, act, after)

    def change_in(
        self,
        connection: Connection,
        request_id: str,
        act: Act,
        after: Callable[[ExtractRequest | None], ExtractRequest],
    ) -> ExtractRequest:
        """The same within a transaction of the caller."""
        row = connection.execute(_FIND, (request_id,)).fetchone()
        before = None if row is None else _request(row)
        if before is not None and has_expired(before, self._now()):
            before = expired(before)
        request = after(before)
        if act.action not in UNSEEN:  # the requester would see when it was
            request = replace(request, changed=self._now())
        connection.execute(_UPDATE, (*_values(request), request_id))
        self._record(connection, request, act, None if before is None else before.state)
        return request

    def expire_due(self) -> list[ExtractRequest]:
        """Move what has had its time; what was moved."""
        found = []
        for row in self._database.rows(_DUE, (self._now(),)):
            with self._database.writing() as connection:
                before = _request(connection.execute(_FIND, (row["id"],)).fetchone())
                if not has_expired(before, self._now()):
                    continue  # another process was faster
                request = replace(expired(before), changed=self._now())
                connection.execute(_UPDATE, (*_values(request), request.id))
                self._record(connection, request, Act("expire", None), before.state)
            found.append(request)
        return found

    def _record(self, connection: Connection, request: ExtractRequest, act: Act, before: State | None) -> None:
        """The event, the entry in the log, and what is to be sent of it."""
        user = act.by.name if act.by else None
        event = {
            "request": request.id,
            "time": self._now(),
            "user": user,
            "action": act.action,
            "before": before,
            "after": request.state,
            "comment": act.comment,
        }
        number = connection.execute(_EVENT, event).fetchone()[0]
        body = {"id": request.id, "from": before, "to": request.state, "via": self._via if act.by else None}
        if act.by is not None:
            body |= {"os_user": self._os_user} if self._os_user else {}
            body |= {"assumed": "true"} if act.by.assumed else {}  # without a key of theirs
        body |= {"comment": act.comment} if act.comment else {}
        self._log.append(connection, f"{KIND}.{act.action}", None, user, request.spec.dataset, {**body, **act.details})
        if request.state in NOTIFIED and request.state != before:
            for channel in self._channels:
                connection.execute(
                    "INSERT INTO export_outbox (request, event, channel) VALUES (?, ?, ?)",
                    (request.id, number, channel),
                )

    # -- reading -----------------------------------------------------------------------------------------

    def find(self, request_id: str) -> ExtractRequest | None:
        rows = self._database.rows(_FIND, (request_id,))
        return _request(rows[0]) if rows else None

    def listed(self, *, requester: str | None = None, state: str | None = None) -> list[ExtractRequest]:
        """Newest first."""
        return [_request(row) for row in self._database.rows(_LIST, {"requester": requester, "state": state})]

    def events(self, request_id: str) -> list[Event]:
        return [Event(**dict(row)) for row in self._database.rows(_EVENTS, (request_id,))]

    def _now(self) -> str:
        return stamp_now(self._log.clock)


class Notices:
    """What is still to be sent about requests: which one, of what dataset, and its state; nothing that was in it."""

    def __init__(self, database: ControlDatabase) -> None:
        self._database = database

    def waiting(self, channel: str) -> list[WaitingAlert]:
        rows = self._database.rows(
            """SELECT outbox.*, event.time, event.after, request.dataset FROM export_outbox AS outbox
               JOIN export_event AS event ON event.request = outbox.request AND event.number = outbox.event
               JOIN export_request AS request ON request.id = outbox.request
               WHERE channel = ? ORDER BY outbox.number""",
            (channel,),
        )
        return [WaitingAlert(row["number"], row["channel"], row["tries"], _notice(row)) for row in rows]

    def arrived(self, one: WaitingAlert) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM export_outbox WHERE number = ?", (one.number,))

    def failed(self, one: WaitingAlert) -> None:
        with self._database.writing() as connection:
            connection.execute("UPDATE export_outbox SET tries = tries + 1 WHERE number = ?", (one.number,))


def _notice(row: Row) -> Mapping[str, Any]:
    """The id is the same however often it is sent."""
    return {
        "id": f"{row['request']}-{row['event']}",
        "request": row["request"],
        "dataset": row["dataset"],
        "state": row["after"],
        "time": row["time"],
    }


def _values(request: ExtractRequest) -> tuple[Any, ...]:
    """What an act may change, in the order of the columns."""
    return (
        request.state,
        canonical(request.spec.to_dict()),
        request.changed,
        request.expires,
        canonical(list(request.approvals)),
        None if request.summary is None else canonical(request.summary),
        request.manifest,
        request.failure,
        int(request.beside_views),
        None if request.agreement is None else canonical(request.agreement.to_dict()),
    )


def _request(row: Row) -> ExtractRequest:
    return ExtractRequest(
        id=row["id"],
        number=row["number"],
        requester=row["requester"],
        spec=ExtractSpec.of(json.loads(row["wish"])),
        state=cast(State, row["state"]),
        created=row["created"],
        changed=row["changed"],
        approvals=tuple(json.loads(row["approvals"])),
        expires=row["expires"],
        summary=None if row["summary"] is None else json.loads(row["summary"]),
        manifest=row["manifest"],
        failure=row["failure"],
        beside_views=bool(row["beside_views"]),
        agreement=None if row["agreement"] is None else UseAgreement.of(json.loads(row["agreement"])),
    )
