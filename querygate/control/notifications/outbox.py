"""Alerts and notices on their way out: to a webhook, and to a command that sends mail. What fails stays in the outbox.

One try for each channel and turn, after two quick ones; the rest of the channel waits for the next turn, so that alerts
arrive in their order. A receiver may get one twice, under the same id, where a process ended between sending it and
noting that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from querygate.control.alerts import WaitingAlert
from querygate.control.notifications.webhooks import NotSent
from querygate.core.json_body import JsonValue

WEBHOOK, MAIL = "webhook", "mail"
TRIES = 3
PAUSE_S = 0.2

Message: TypeAlias = Mapping[str, JsonValue]
Send: TypeAlias = Callable[[Message], None]


class Outbox(Protocol):
    """What waits to be sent, by channel."""

    def waiting(self, channel: str) -> list[WaitingAlert]: ...

    def arrived(self, one: WaitingAlert) -> None: ...

    def failed(self, one: WaitingAlert) -> None: ...


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


def _tried(send: Send, alert: Message, wait: Callable[[float], None]) -> str:
    for turn in range(TRIES):
        try:
            send(alert)
            return ""
        except NotSent as problem:
            why = str(problem)
        if turn + 1 < TRIES:
            wait(PAUSE_S * 2**turn)
    return why
