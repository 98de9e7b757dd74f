"""A gate elsewhere, over HTTP: send JSON, get JSON, or the problem that it tells as an error of our own."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

from querygate.core.errors import CODES, ConfigError, NotPermitted, QueryGateError

TIMEOUT_S = 30.0
LARGEST_REPLY = 1_000_000
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class GateClient:
    """One gate. Keys go to it over TLS, or stay on this machine, and no redirection is followed."""

    def __init__(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
            raise ConfigError("QG805", "--url must be an https address.", "Use, for example, https://gate.example.org.")
        self._root = f"{url.rstrip('/')}/api/v1"
        self._opener = urllib.request.build_opener(_NoRedirect)

    def post(self, path: str, body: Mapping[str, object], key: str = "") -> dict[str, Any]:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        data = json.dumps(body).encode()
        request = urllib.request.Request(self._root + path, data, headers, method="POST")  # noqa: S310 - checked above
        try:
            with self._opener.open(request, timeout=TIMEOUT_S) as response:
                found = json.loads(response.read(LARGEST_REPLY))
        except urllib.error.HTTPError as error:
            with error:
                raise _told(error.read(LARGEST_REPLY)) from None
        except OSError:
            raise ConfigError(
                "QG804", "Nothing answers at this address.", "Check --url, and that the gate runs there."
            ) from None
        except ValueError:
            raise _no_gate() from None
        if not isinstance(found, dict):
            raise _no_gate()
        return found


def _told(data: bytes) -> QueryGateError:
    """The gate's own refusal."""
    try:
        body = json.loads(data)
        code, detail, remedy = str(body["code"]), str(body["detail"]), str(body.get("remedy", ""))
    except (ValueError, TypeError, KeyError):
        return _no_gate()
    return NotPermitted(code, detail, remedy) if code in CODES and code.startswith("QG3") else _no_gate()


def _no_gate() -> ConfigError:
    return ConfigError("QG804", "What answers at this address is not a gate.", "Check --url.")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *given: Any) -> None:
        return None
