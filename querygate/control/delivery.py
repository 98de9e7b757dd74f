"""Telling somebody outside: a webhook over HTTP, or a command that sends mail. One try; whoever asks tries again."""

from __future__ import annotations

import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence

from querygate.control.log.entry_chain import canonical
from querygate.core.errors import ConfigError
from querygate.core.json_body import JsonValue

TIMEOUT_S = 10.0


class NotSent(Exception):
    """Why something could not be sent, without what it was."""


def post_bytes(url: str, media: str) -> Callable[[bytes, Mapping[str, str]], None]:
    """Post bodies of a media type, with more headers. Nothing but HTTP is spoken, and no redirection followed."""
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

    def send(body: bytes, headers: Mapping[str, str]) -> None:
        told = {"Content-Type": media, **headers}
        request = urllib.request.Request(url, body, told, method="POST")  # noqa: S310  (checked above)
        try:
            with opener.open(request, timeout=TIMEOUT_S):
                return
        except urllib.error.HTTPError as error:
            error.close()
            raise NotSent(f"the webhook answered {error.code}") from None
        except (OSError, ValueError) as error:
            raise NotSent(f"the webhook did not answer ({type(error).__name__})") from None

    return send


def post_to(url: str) -> Callable[[Mapping[str, JsonValue]], None]:
    """Post messages as JSON; their id is the Idempotency-Key."""
    send = post_bytes(url, "application/json")
    return lambda message: send(canonical(message).encode(), {"Idempotency-Key": str(message["id"])})


def text_to(command: Sequence[str]) -> Callable[[str], None]:
    """Give texts to a command, by its standard input. There is no shell."""

    def send(text: str) -> None:
        try:
            done = subprocess.run(list(command), input=text.encode(), capture_output=True, timeout=TIMEOUT_S)  # noqa: S603
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise NotSent(f"the mail command cannot be run ({type(error).__name__})") from None
        if done.returncode:
            raise NotSent(f"the mail command exited with {done.returncode}")

    return send
