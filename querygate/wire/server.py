"""The server: a thread with an event loop that takes connections, and threads in which statements are answered.

All processes of a site listen, on one socket that their parent has opened.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import resource
import secrets
import socket
import ssl
import threading
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from querygate.core.errors import ConfigError, NotPermitted, QueryGateError
from querygate.gate.incidents import make_failure
from querygate.site.client_address import lane_of
from querygate.site.job_exchange import JobExchange
from querygate.site.open_gate import OpenSite
from querygate.site.process_limits import DoorLimits
from querygate.wire import messages
from querygate.wire.cancel_relay import Cancel, CancelMail
from querygate.wire.channel import Channel
from querygate.wire.problems import error_message
from querygate.wire.session import Session, SessionOver
from querygate.wire.startup import read_arrival, sign_in
from querygate.wire.statements import Statements

STOP_S = 5.0
TURN_S = 15.0
OTHER_FILES = 500
MOST_SIGNING_IN = 64
"""Connections of one address that have not signed in yet, at once. The oldest gives way to the next: whoever means to
sign in has done so long before."""

_GONE = (OSError, TimeoutError, EOFError, asyncio.IncompleteReadError)


def open_tls(certificate: str, key: str) -> ssl.SSLContext | None:
    """From the settings: None where there is no certificate; ConfigError QG805 where it cannot be used."""
    if not certificate:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(Path(certificate), Path(key) if key else None)
    except (OSError, ssl.SSLError):
        raise ConfigError(
            "QG805",
            "pg_certificate and pg_certificate_key are not a certificate and its key, or cannot be read.",
            "Name two PEM files that the user of the server can read.",
        ) from None
    return context


class WireDoor:
    """The door for PostgreSQL's clients, in the process at one place of a site's."""

    def __init__(
        self, opened: OpenSite, exchange: JobExchange | None, counted: DoorLimits, mail: CancelMail, place: int
    ) -> None:
        settings = opened.site.settings
        self._opened, self._counted, self._mail, self._place = opened, counted, mail, place
        self._tls = open_tls(settings["pg_certificate"], settings["pg_certificate_key"])
        self._statements = Statements(opened, counted.users, exchange)
        self._pool = ThreadPoolExecutor(settings["threads"], thread_name_prefix="wire")
        self._sessions: dict[Cancel, Session] = {}
        self._connections = 0
        self._signing_in: dict[str, OrderedDict[Channel, None]] = {}
        self._signed_in: Counter[str] = Counter()
        self._numbers = itertools.count(1)
        _allow_files(settings["max_connections"] + settings["pg_max_connections"])

    async def serve(self, listening: Sequence[socket.socket], ready: Callable[[], None], stop: asyncio.Event) -> None:
        """Take connections until told to stop."""
        servers = [await asyncio.start_server(self._enter, sock=one, limit=2**16) for one in listening]
        box = self._mail.box(self._place)
        asyncio.get_running_loop().add_reader(box, self._read_mail)
        ready()
        while not stop.is_set():  # failures of a minute that is over go on record, whoever comes next
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), TURN_S)
            await self._in_thread(self._counted.guard.record.turn)
        asyncio.get_running_loop().remove_reader(box)
        for server in servers:
            server.close()
        for session in list(self._sessions.values()):
            session.called_off.set()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._counted.write()

    async def _enter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        settings = self._opened.site.settings
        channel = Channel(
            reader,
            writer,
            read_s=settings["request_read_s"],
            idle_s=settings["pg_idle_s"],
            longest=settings["max_body_kb"] * 1024,
        )
        self._connections += 1
        try:
            await self._live(channel)
        except (*_GONE, ssl.SSLError):
            pass
        except asyncio.CancelledError:  # the gate stops
            channel.abort()
        except SessionOver as over:
            await _tell(channel, over.error)
        except QueryGateError as error:
            await _tell(channel, error)
        except Exception as error:
            await _tell(channel, make_failure(error))
        finally:
            self._connections -= 1
            await channel.close()

    async def _live(self, channel: Channel) -> None:
        settings = self._opened.site.settings
        async with asyncio.timeout(settings["request_read_s"]):
            with self._arriving(channel):
                arrival = await read_arrival(channel, self._tls, allow_plain=settings["pg_allow_unencrypted"])
                if isinstance(arrival, Cancel):
                    (self._cancel if self._mail.is_for(self._place, arrival) else self._mail.send)(arrival)
                    return
                if self._connections > settings["pg_max_connections"]:
                    raise NotPermitted(
                        "QG318", "There are too many connections to this gate.", "Try again in a moment."
                    )
                who = await sign_in(channel, arrival, self._opened, self._counted.guard, self._in_thread)
        with self._one_more(who.principal.name):
            session = Session(channel, who, self._opened, self._statements, self._in_thread)
            await self._serve_session(channel, session)

    @contextmanager
    def _one_more(self, user: str) -> Iterator[None]:
        """Around a session: nobody has so many that others find no room."""
        if self._signed_in[user] >= self._opened.site.settings["pg_connections_per_user"]:
            raise NotPermitted("QG318", "You have too many connections to this gate.", "Close some of them first.")
        self._signed_in[user] += 1
        try:
            yield
        finally:
            self._signed_in[user] -= 1
            if not self._signed_in[user]:
                del self._signed_in[user]

    @contextmanager
    def _arriving(self, channel: Channel) -> Iterator[None]:
        """Around what comes before sign-in."""
        lane = lane_of(channel.address)
        others = self._signing_in.setdefault(lane, OrderedDict())
        if len(others) >= MOST_SIGNING_IN:
            others.popitem(last=False)[0].abort()
        others[channel] = None
        try:
            yield
        finally:
            others.pop(channel, None)
            if not others:
                self._signing_in.pop(lane, None)

    async def _serve_session(self, channel: Channel, session: Session) -> None:
        key = Cancel(self._mail.number(self._place, next(self._numbers)), secrets.randbits(32))
        self._sessions[key] = session
        try:
            for name, value in session.settings.reported().items():
                await channel.write(messages.parameter_status(name, value))
            await channel.write(messages.backend_key(key.number, key.secret) + messages.ready(b"I"))
            await session.run()
        finally:
            session.called_off.set()
            del self._sessions[key]

    def _cancel(self, asked: Cancel) -> None:
        """Nobody is told whether there was anything to stop."""
        session = self._sessions.get(asked)
        if session is not None:
            session.called_off.set()

    def _read_mail(self) -> None:
        while asked := self._mail.read(self._place):
            self._cancel(asked)

    def _in_thread(self, work: Callable[..., object], *args: object, **named: object) -> Awaitable[object]:
        return asyncio.get_running_loop().run_in_executor(self._pool, partial(work, *args, **named))


def _allow_files(connections: int) -> None:
    """Each connection is a file of this process, which may have only 1,024 unless it asks for more."""
    wanted = connections + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _tell(channel: Channel, error: QueryGateError) -> None:
    try:
        await channel.write(error_message(error, fatal=True))
        await channel.flush()
    except _GONE:
        pass


@contextmanager
def open_wire(
    opened: OpenSite,
    listening: Sequence[socket.socket],
    exchange: JobExchange | None = None,
    counted: DoorLimits | None = None,
    mail: CancelMail | None = None,
    place: int = 0,
) -> Iterator[None]:
    """Serve PostgreSQL's clients in a thread, until the block ends. Raises ConfigError if it cannot begin."""
    boxes = mail or CancelMail()
    door = WireDoor(opened, exchange, counted or DoorLimits(opened), boxes, place)
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    began = threading.Event()

    def run() -> None:
        try:
            loop.run_until_complete(door.serve(listening, began.set, stop))
            loop.run_until_complete(_end(asyncio.all_tasks(loop)))
        except Exception:
            logging.getLogger("querygate.wire").exception("The PostgreSQL door has closed.")
        finally:
            began.set()

    thread = threading.Thread(target=run, name="wire-loop", daemon=True)
    thread.start()
    began.wait()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(STOP_S)
        door.close()
        if not thread.is_alive():
            loop.close()
        if mail is None:
            boxes.close()
