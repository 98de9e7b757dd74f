"""Entries of the log on their way to whoever watches over all of a hospital's systems (a SIEM).

Each entry is one line of JSON, over syslog (RFC 5424; over TCP and TLS framed by length, RFC 6587) or as a body of
lines over HTTP. What has arrived is noted in the control database, so each entry arrives at least once, in order, with
its number and hash; a receiver that gets one twice knows it by these.

Answers are never sent. Statements are sent without the values that stand in them unless the settings want them, and of
entries that may quote people's words (audits, extracts) only that there were any.
"""

from __future__ import annotations

import json
import socket
import ssl
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from querygate.control.log.entry_chain import LogBody, LogEvent, canonical
from querygate.control.log.log import Log
from querygate.control.notifications.webhooks import TIMEOUT_S, NotSent, post_bytes
from querygate.core.errors import ConfigError
from querygate.sql.masked_statement import masked

BATCH = 500
LARGEST_DATAGRAM = 60_000
AUDIT_LOG, INFORMATION, NOTICE = 13, 6, 5
"""The facility and the severities of RFC 5424; a refusal is a notice."""

_PLAIN = frozenset(
    ("publish", "rollback", "store", "version", "dataset", "vault", "user", "key", "log", "site", "grant", "login")
)
_OF_QUERIES = ("version", "mode", "outcome", "code", "epsilon", "canonical_hash", "policy_hash")

Send = Callable[[Sequence[LogEvent]], None]


def ship(log: Log, target: str, *, literals: bool) -> int:
    """Send what has not arrived yet; returns how many entries have now. After NotSent the next call goes on there."""
    send = _sender(target)
    sent = 0
    while batch := list(map(json.loads, islice(log.lines_after(_cursor(log, target)), BATCH))):
        send([told(event, literals=literals) for event in batch])
        with log.database.writing() as connection:
            connection.execute("UPDATE shipment SET seq = ? WHERE target = ?", (batch[-1]["seq"], _name(target)))
        sent += len(batch)
    return sent


def lag(log: Log, target: str) -> int:
    """How many entries have not arrived yet."""
    rows = log.database.rows("SELECT seq FROM shipment WHERE target = ?", (_name(target),))
    return log.head().entries - (int(rows[0]["seq"]) if rows else 0)


def told(event: LogEvent, *, literals: bool) -> LogEvent:
    """The entry as it may be sent."""
    family = event["kind"].partition(".")[0]
    body = event["body"]
    kept: LogBody = {}
    if family in ("query", "dry_run"):
        kept = {name: body[name] for name in _OF_QUERIES if name in body}
        if "sql" in body:
            kept["sql"] = body["sql"] if literals else masked(str(body["sql"]))
    elif family == "budget":
        kept = {"charges": body["charges"]}
    elif family in _PLAIN:
        kept = body
    return {**event, "body": kept}


def _cursor(log: Log, target: str) -> int:
    """The last entry that arrived. That somebody gets the log from now on is on record."""
    name = _name(target)
    with log.database.writing() as connection:
        row = connection.execute("SELECT seq FROM shipment WHERE target = ?", (name,)).fetchone()
        if row is None:
            connection.execute("INSERT INTO shipment (target, seq) VALUES (?, 0)", (name,))
            log.append(connection, "log.ship", None, None, None, {"to": name})
    return int(row["seq"]) if row is not None else 0


def _name(target: str) -> str:
    """The receiver without what may be a secret."""
    parts = urllib.parse.urlsplit(target)
    return f"{parts.scheme}://{parts.hostname or ''}" + (f":{parts.port}" if parts.port else "")


# -- ways out ------------------------------------------------------------------------------------------------------


def _sender(target: str) -> Send:
    try:
        parts = urllib.parse.urlsplit(target)
        port = parts.port
    except ValueError:
        raise _unusable() from None
    if parts.scheme in ("http", "https"):
        post = post_bytes(target, "application/x-ndjson")
        return lambda events: post(b"".join(_line(event) + b"\n" for event in events), {})
    protocol = parts.scheme.removeprefix("syslog+")
    if protocol not in ("tcp", "udp", "tls") or not parts.hostname or port is None:
        raise _unusable()
    address = (parts.hostname, port)
    return (lambda events: _datagrams(address, events)) if protocol == "udp" else (
        lambda events: _stream(address, events, tls=protocol == "tls")
    )  # fmt: skip


def _unusable() -> ConfigError:
    return ConfigError(
        "QG805",
        "The setting `siem` is not a receiver that can be reached.",
        "Use syslog+tcp://host:port, syslog+udp://host:port, syslog+tls://host:port, or an http or https address.",
    )


def _line(event: LogEvent) -> bytes:
    return canonical(event).encode()


def syslog_message(event: LogEvent, host: str) -> bytes:
    """The entry after RFC 5424: facility "log audit", the kind as message id, JSON as the message.

    >>> event = {"seq": 7, "time": "2026-03-01T12:30:00.000000Z", "kind": "user.add", "body": {}}
    >>> syslog_message(event, "gate").decode()[:75]
    '<110>1 2026-03-01T12:30:00.000000Z gate querygate - user.add - {"seq":7,"ti'
    """
    severity = NOTICE if event["body"].get("outcome") in ("refused", "failed") else INFORMATION
    head = f"<{AUDIT_LOG * 8 + severity}>1 {event['time']} {host} querygate - {event['kind'][:32]} - "
    return head.encode() + _line(event)


def _messages(events: Sequence[LogEvent]) -> Iterator[bytes]:
    host = "".join(sign for sign in socket.gethostname() if "!" <= sign <= "~")[:255] or "-"
    return (syslog_message(event, host) for event in events)


def _datagrams(address: tuple[str, int], events: Sequence[LogEvent]) -> None:
    try:
        family = socket.getaddrinfo(*address, type=socket.SOCK_DGRAM)[0][0]
        with socket.socket(family, socket.SOCK_DGRAM) as link:
            link.connect(address)
            for message in _messages(events):
                link.send(message[:LARGEST_DATAGRAM])
    except OSError as error:
        raise NotSent(f"the syslog receiver cannot be reached ({type(error).__name__})") from None


def _stream(address: tuple[str, int], events: Sequence[LogEvent], *, tls: bool) -> None:
    """Syslog has no receipt: what counts is that the receiver took all of it and closed in good order."""
    try:
        with socket.create_connection(address, TIMEOUT_S) as plain:
            link = ssl.create_default_context().wrap_socket(plain, server_hostname=address[0]) if tls else plain
            link.sendall(b"".join(b"%d %b" % (len(message), message) for message in _messages(events)))
            if not tls:
                link.shutdown(socket.SHUT_WR)
                link.settimeout(1.0)
                while link.recv(4096):
                    pass
            else:
                link.close()
    except TimeoutError:
        return  # it goes on listening, as some do; all was taken
    except OSError as error:
        raise NotSent(f"the syslog receiver cannot be reached ({type(error).__name__})") from None
