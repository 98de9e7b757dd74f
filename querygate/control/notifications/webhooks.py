"""A webhook over HTTP, signed where there is a secret. One try; the outbox tries again."""

from __future__ import annotations

import base64
import hmac
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping

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


def post_to(url: str, secret: bytes = b"") -> Callable[[Mapping[str, JsonValue]], None]:
    """Post messages as JSON; their id is the Idempotency-Key. With a secret they are signed, as Standard Webhooks has
    it, so that a receiver knows who sent them and when."""
    post = post_bytes(url, "application/json")

    def send(message: Mapping[str, JsonValue]) -> None:
        body, ident = canonical(message).encode(), str(message["id"])
        post(body, {"Idempotency-Key": ident, **(signed(secret, ident, int(time.time()), body) if secret else {})})

    return send


def signed(secret: bytes, ident: str, sent_s: int, body: bytes) -> dict[str, str]:
    """The headers that prove where a message comes from; `sent_s` keeps others from sending it again later.

    >>> signed(b"s" * 32, "x_1", 1700000000, b"{}")["Webhook-Signature"]
    'v1,AE8S0Pk0rRs1AOL4RGg2Jzx7Yo1BhvUr7KteonYeV38='
    """
    proof = hmac.digest(secret, f"{ident}.{sent_s}.".encode() + body, "sha256")
    return {
        "Webhook-Id": ident,
        "Webhook-Timestamp": str(sent_s),
        "Webhook-Signature": f"v1,{base64.b64encode(proof).decode()}",
    }
