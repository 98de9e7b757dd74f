"""A command that sends mail. There is no shell, and one try; the outbox tries again."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence

from querygate.control.notifications.outbox import Message, Send
from querygate.control.notifications.webhooks import TIMEOUT_S, NotSent


def text_to(command: Sequence[str]) -> Callable[[str], None]:
    """Give texts to a command, by its standard input."""

    def send(text: str) -> None:
        try:
            done = subprocess.run(list(command), input=text.encode(), capture_output=True, timeout=TIMEOUT_S)  # noqa: S603
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise NotSent(f"the mail command cannot be run ({type(error).__name__})") from None
        if done.returncode:
            raise NotSent(f"the mail command exited with {done.returncode}")

    return send


def mail_by(command: Sequence[str], write: Callable[[Message], str]) -> Send:
    """Give each message as text to a command."""
    run = text_to(command)
    return lambda message: run(write(message))
