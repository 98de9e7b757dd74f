"""Alerts on their way out: to a webhook over HTTP, and to a command that sends mail. What fails stays in the outbox.

One try for each channel and turn, after two quick ones; the rest of the channel waits for the next turn, so that alerts
arrive in their order. A receiver may get one twice, under the same id, where a process ended between sending it and
noting that.
"""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from querygate.control.alerts import WaitingAlert
from querygate.core.errors import ConfigError
from querygate.custody.jobs.live_audit import Alert, explain_alert

WEBHOOK, MAIL = "webhook", "mail"
TIMEOUT_S = 10.0
TRIES = 3
PAUSE_S = 0.2

Send = Callable[[Alert], None]


class Outbox(Protocol):
    """What waits to be sent, by channel."""

    def waiting(self, channel: str) -> list[WaitingAlert]: ...

    def arrived(self, one: WaitingAlert) -> None: ...

    def failed(self, one: WaitingAlert) -> None: ...


class NotSent(Exception):
    """Why something could not be sent, without what it was."""


def post_to(url: str) -> Send:
    """Post alerts as JSON; the id is the Idempotency-Key. Nothing but HTTP is spoken, and no redirection followed."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            "QG805", "A webhook must be an http or https address.", "Use, for example, https://example.org/hook."
        )
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())

    def send(alert: Alert) -> None:
        body = json.dumps(alert, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": str(alert["id"])}
        request = urllib.request.Request(url, body, headers, method="POST")  # noqa: S310  (checked above)
        try:
            with opener.open(request, timeout=TIMEOUT_S):
                return
        except urllib.error.HTTPError as error:
            error.close()
            raise NotSent(f"the webhook answered {error.code}") from None
        except (OSError, ValueError) as error:
            raise NotSent(f"the webhook did not answer ({type(error).__name__})") from None

    return send


def write_alert(alert: Alert) -> str:
    """The alert as a mail."""
    return f"Subject: QueryGate: {alert['dataset']}, {alert['rule']} ({alert['id']})\n\n{explain_alert(alert)}\n"


def mail_by(command: Sequence[str], write: Callable[[Alert], str] = write_alert) -> Send:
    """Give each alert as text to a command, by its standard input. There is no shell."""

    def send(alert: Alert) -> None:
        text = write(alert)
        try:
            done = subprocess.run(list(command), input=text.encode(), capture_output=True, timeout=TIMEOUT_S)  # noqa: S603
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise NotSent(f"the mail command cannot be run ({type(error).__name__})") from None
        if done.returncode:
            raise NotSent(f"the mail command exited with {done.returncode}")

    return send


def deliver(
    alerts: Outbox, channels: Mapping[str, Send], wait: Callable[[float], None] = time.sleep
) -> list[tuple[str, int, str]]:
    """Send what waits. Returns (channel, how many still wait, why) of each channel that did not get through."""
    failures = []
    for channel, send in channels.items():
        waiting = alerts.waiting(channel)
        for number, one in enumerate(waiting):
            why = _tried(send, one.alert, wait)
            if why:
                alerts.failed(one)
                failures.append((channel, len(waiting) - number, why))
                break
            alerts.arrived(one)
    return failures


def _tried(send: Send, alert: Alert, wait: Callable[[float], None]) -> str:
    for turn in range(TRIES):
        try:
            send(alert)
            return ""
        except NotSent as problem:
            why = str(problem)
        if turn + 1 < TRIES:
            wait(PAUSE_S * 2**turn)
    return why
