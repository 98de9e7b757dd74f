"""A session after sign-in: message after message, in PostgreSQL's simple and extended protocols.

    simple     Query: each statement of a text, one after the other
    extended   Parse a statement, Bind values to it, Describe its columns, Execute it, Sync

After an error, everything up to the next Sync is skipped; in a transaction, everything up to its end.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from querygate.core.errors import NotPermitted, QueryGateError
from querygate.core.jobs import JobUnderway
from querygate.core.limits.cancellation import cancellable
from querygate.gate.incidents import make_failure
from querygate.site.open_gate import OpenSite
from querygate.sql.postgres.client_statement import split_statements
from querygate.sql.postgres.copy_statement import read_copy
from querygate.wire import messages
from querygate.wire.channel import Channel
from querygate.wire.copy_lines import copy_line
from querygate.wire.formats import as_text, write
from querygate.wire.messages import Body, malformed
from querygate.wire.parameters import literal
from querygate.wire.prepared_statements import Kept, Portal, Prepared
from querygate.wire.problems import error_message, notice, plain_error
from querygate.wire.session_commands import ends_transaction, fields_of_command, is_command, run_command
from querygate.wire.session_settings import SessionSettings
from querygate.wire.startup import SignedIn
from querygate.wire.statements import Asker, Result, StatementRefused, Statements
from querygate.wire.types import Field, PgType, Value

T = TypeVar("T")
FAILED = "25P02"
LOOK_S = 0.1
MOST_LOOKS = 36_000
"""How often one looks whether a noisy answer is there, and how often at most: an hour and more."""


class SessionOver(Exception):
    """The key does not open any more."""

    def __init__(self, error: QueryGateError) -> None:
        super().__init__(error.code)
        self.error = error


class TransactionFailed(Exception):
    """Something was sent in a transaction that has failed."""


class Session:
    """One client that has signed in."""

    def __init__(
        self,
        channel: Channel,
        who: SignedIn,
        opened: OpenSite,
        statements: Statements,
        in_thread: Callable[..., Awaitable[object]],
    ) -> None:
        self._channel, self._who, self._opened = channel, who, opened
        self._statements, self._in_thread = statements, in_thread
        self.settings = SessionSettings(who.principal.name, who.settings)
        self._kept = Kept()
        self._status = b"I"
        self._is_skipping = False
        self.called_off = threading.Event()

    async def run(self) -> None:
        """Until the client leaves. Raises what ends the connection."""
        while True:
            await self._channel.flush()
            kind, data = await self._channel.read()
            self.called_off = threading.Event()
            if kind == b"X":
                return
            if kind == b"S":
                self._is_skipping = False
                await self._channel.write(messages.ready(self._status))
            elif kind == b"Q":
                self._is_skipping = False
                await self._guarded(self._simple(data))
                await self._channel.write(messages.ready(self._status))
            elif kind in _EXTENDED:
                if not self._is_skipping:
                    self._is_skipping = not await self._guarded(_EXTENDED[kind](self, Body(data)))
            elif kind not in b"HdcfF":  # flush; leftovers of a COPY; function calls are refused below
                raise malformed("A message of an unknown kind was sent.")
            elif kind == b"F":
                await self._channel.write(error_message(malformed("Functions cannot be called by number.")))
                await self._channel.write(messages.ready(self._status))

    async def _guarded(self, work: Awaitable[None]) -> bool:
        """Whether it went well. What did not is told, and the transaction has failed."""
        try:
            await work
            return True
        except StatementRefused as refused:
            place = refused.place
            told = error_message(refused.error, None if place is None else lambda span: place + 1)
        except TransactionFailed:
            told = plain_error(
                FAILED, "The transaction has failed: no statement is accepted until it ends.", "Send ROLLBACK."
            )
        except QueryGateError as error:
            told = error_message(error)
        except (SessionOver, OSError, TimeoutError, EOFError):
            raise
        except Exception as error:
            told = error_message(make_failure(error))
        await self._channel.write(told)
        self._status = b"E" if self._status == b"T" else self._status
        return False

    # -- the simple protocol ---------------------------------------------------------------------------------

    async def _simple(self, data: bytes) -> None:
        body = Body(data)
        text = body.text()
        body.end()
        self._statements.check_length(len(text))
        found = split_statements(text)
        self._kept.portals.pop("", None)
        self._kept.statements.pop("", None)
        if not found:
            await self._channel.write(messages.EMPTY_QUERY)
        for begin, statement in found:
            result = await self._execute(statement, (), None, begin)
            await self._tell(result.notes)
            if result.fields is not None and result.form is None:
                await self._channel.write(_described(result.fields, None))
            await self._give(result, result.rows, lambda place: False)
            await self._channel.write(messages.command_complete(result.tag))

    async def _execute(
        self, text: str, values: tuple[str, ...], expected: tuple[Field, ...] | None, begin: int = 0
    ) -> Result:
        """The result of a statement, which begins so many characters after what was sent."""
        if self._status == b"E" and not ends_transaction(text):
            raise TransactionFailed
        if is_command(text):
            return await self._command(text)
        copy = read_copy(text)
        query = text if copy is None else copy.query
        try:
            result = await self._computed(self._statements.run, await self._asker(), query, values, expected)
        except JobUnderway as job:
            result = await self._awaited(job, expected)
        except StatementRefused as refused:
            at = begin + (0 if copy is None else copy.begin)
            raise StatementRefused(refused.error, None if refused.place is None else refused.place + at) from None
        return result if copy is None else replace(result, tag=f"COPY {len(result.rows)}", form=copy.form)

    async def _awaited(self, job: JobUnderway, expected: tuple[Field, ...] | None) -> Result:
        """A noisy answer that takes long, once it is there. Of one that nobody waits for any more nothing is lost."""
        for _ in range(MOST_LOOKS):
            found = await self._computed(self._statements.find_result, await self._asker(), job, expected)
            if found is not None:
                return found
            if self._channel.has_ended:
                raise EOFError
            await asyncio.sleep(LOOK_S)
        raise NotPermitted(
            "QG314",
            "No worker with access to the raw rows has computed the noisy answer yet.",
            f"Fetch it later over HTTP: GET /api/v1/jobs/{job.job_id}.",
        )

    async def _command(self, text: str) -> Result:
        before = self.settings.reported()
        done = run_command(text, self.settings, self._status)
        self._status = done.status or self._status
        self._kept.close(done.closes)
        for name, value in self.settings.reported().items():
            if before[name] != value:
                await self._channel.write(messages.parameter_status(name, value))
        return Result(done.tag, done.fields, done.rows)

    async def _asker(self) -> Asker:
        """Whoever signed in, as they are now: a key that was revoked ends the session."""
        principal = self._opened.accounts.keys.proofs.principal
        found = await self._computed(principal, self._who.key_id)
        if found is None:
            raise SessionOver(
                NotPermitted("QG301", "Your key was revoked or has expired.", "Connect again with another key.")
            )
        return Asker(found, self.settings)

    async def _computed(self, work: Callable[..., T], *args: object) -> T:
        """In a thread, until it is done or called off."""

        def compute() -> T:
            with cancellable(self.called_off):
                return work(*args)

        return await self._in_thread(compute)  # type: ignore[return-value]

    async def _tell(self, notes: Sequence[str]) -> None:
        for note in notes:
            await self._channel.write(notice(note))

    async def _give(self, result: Result, rows: Sequence[Sequence[Value]], is_binary: Callable[[int], bool]) -> None:
        """Rows of a table as data, or as lines of a copy."""
        fields, form = result.fields or (), result.form
        if form is None:
            for row in rows:
                cells = enumerate(zip(row, fields, strict=True))
                data = [write(cell, each.type, binary=is_binary(i)) for i, (cell, each) in cells]
                await self._channel.write(messages.data_row(data))
            return
        await self._channel.write(messages.copy_begins(len(fields)))
        if form.header:
            await self._channel.write(messages.copy_data(copy_line([each.name for each in fields], form)))
        for row in rows:
            texts = [None if cell is None else as_text(cell, each.type) for cell, each in zip(row, fields, strict=True)]
            await self._channel.write(messages.copy_data(copy_line(texts, form)))
        await self._channel.write(messages.COPY_DONE)

    # -- the extended protocol -------------------------------------------------------------------------------

    async def _parse(self, body: Body) -> None:
        name, text = body.text(), body.text()
        told = [body.int32() for _ in range(body.count())]
        body.end()
        self._statements.check_length(len(text))
        found = split_statements(text)
        if len(found) > 1:
            raise NotPermitted("QG306", "Several statements cannot be prepared as one.", "Prepare them one by one.")
        if not name:
            self._kept.statements.pop("", None)
        types: tuple[PgType, ...] = ()
        if not is_command(text):
            types = await self._computed(self._statements.parameter_types, await self._asker(), text, told)
        self._kept.prepare(name, Prepared(text, types))
        await self._channel.write(messages.PARSE_COMPLETE)

    async def _bind(self, body: Body) -> None:
        name, prepared = body.text(), self._kept.statement(body.text())
        formats = [body.int16() for _ in range(body.count())]
        data = [body.value() for _ in range(body.count())]
        wanted = [body.int16() for _ in range(body.count())]
        body.end()
        if len(data) != len(prepared.types) or len(formats) not in (0, 1, len(data)):
            raise malformed("The number of values is not that of the parameters.")
        binary = (formats or [0]) * (len(data) if len(formats) < 2 else 1)
        values = tuple(
            literal(value, type_, binary=bool(form))
            for value, type_, form in zip(data, prepared.types, binary, strict=True)
        )
        self._statements.check_length(sum(map(len, values)))
        self._kept.bind(name, Portal(prepared, values, wanted))
        await self._channel.write(messages.BIND_COMPLETE)

    async def _describe(self, body: Body) -> None:
        kind, name = body.take(1), body.text()
        body.end()
        if kind == b"S":
            prepared = self._kept.statement(name)
            await self._channel.write(messages.parameter_description([one.oid for one in prepared.types]))
            prepared.fields = await self._fields(prepared, None)
            await self._channel.write(_described(prepared.fields, None))
        elif kind == b"P":
            portal = self._kept.portal(name)
            portal.fields = await self._fields(portal.prepared, portal)
            _check_formats(portal)
            await self._channel.write(_described(portal.fields, portal))
        else:
            raise malformed("Only statements and portals can be described.")

    async def _fields(self, prepared: Prepared, portal: Portal | None) -> tuple[Field, ...] | None:
        if not split_statements(prepared.text):
            return None
        if is_command(prepared.text):
            return fields_of_command(prepared.text)
        if read_copy(prepared.text) is not None:
            return None
        if self._status == b"E":
            raise TransactionFailed
        values = None if portal is None else portal.values
        asker = await self._asker()
        return await self._computed(self._statements.describe, asker, prepared.text, prepared.types, values)

    async def _run_portal(self, body: Body) -> None:
        portal, most = self._kept.portal(body.text()), body.int32()
        body.end()
        if not split_statements(portal.prepared.text):
            await self._channel.write(messages.EMPTY_QUERY)
            return
        if portal.result is None:
            expected = portal.fields or portal.prepared.fields
            result = await self._execute(portal.prepared.text, portal.values, expected)
            self._kept.hold(portal, result, most)
            portal.fields = result.fields
            _check_formats(portal)
            await self._tell(result.notes)
        else:
            result = portal.result
            await self._asker()  # whose key may have been revoked since the rows before
        await self._give_portal(portal, result, most)

    async def _give_portal(self, portal: Portal, result: Result, most: int) -> None:
        is_whole = most <= 0 or result.form is not None
        end = len(result.rows) if is_whole else min(len(result.rows), portal.given + most)
        await self._give(result, result.rows[portal.given : end], portal.is_binary)
        given, portal.given = portal.given, end
        if end < len(result.rows):
            await self._channel.write(messages.PORTAL_SUSPENDED)
            return
        portal.result, portal.given = replace(result, rows=()), 0
        is_table = result.tag.startswith("SELECT ")
        await self._channel.write(messages.command_complete(f"SELECT {end - given}" if is_table else result.tag))

    async def _close(self, body: Body) -> None:
        kind, name = body.take(1), body.text()
        body.end()
        kept: dict[str, Prepared] | dict[str, Portal]
        kept = self._kept.statements if kind == b"S" else self._kept.portals
        kept.pop(name, None)
        await self._channel.write(messages.CLOSE_COMPLETE)


_EXTENDED: dict[bytes, Callable[[Session, Body], Awaitable[None]]] = {
    b"P": Session._parse,
    b"B": Session._bind,
    b"D": Session._describe,
    b"E": Session._run_portal,
    b"C": Session._close,
}


def _check_formats(portal: Portal) -> None:
    if len(portal.formats) > 1 and len(portal.formats) != len(portal.fields or ()):
        raise malformed("The number of formats is not that of the columns.")


def _described(fields: tuple[Field, ...] | None, portal: Portal | None) -> bytes:
    if fields is None:
        return messages.NO_DATA
    binary = [portal is not None and portal.is_binary(i) for i in range(len(fields))]
    return messages.row_description(
        (each.name, each.type.oid, each.type.size, int(form)) for each, form in zip(fields, binary, strict=True)
    )
