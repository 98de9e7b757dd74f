"""The file that describes single sign-on: the provider, how the gate is known there, and what groups bring.

The setting `single_sign_on` names it. The secret of the client is not in it, but in a file of its own or in the
environment.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from querygate.control.sign_on.identities import Allowance
from querygate.core.errors import ConfigError
from querygate.site.layout import Site
from querygate.site.sign_on.sign_on_groups import GroupRule, allowance_of, read_group_rules

SECRET_VARIABLE = "QUERYGATE_OIDC_CLIENT_SECRET"  # noqa: S105 - the name of a variable
LOOPBACK = ("127.0.0.1", "::1", "localhost")

KeyValue: TypeAlias = "str | float | tuple[str, ...]"


@dataclass(frozen=True, slots=True)
class SignOnKey:
    """One key of the file: its name, what it is when nobody says (None: it must be said), and what it means."""

    name: str
    default: KeyValue | None
    help: str
    least: float = 0.0
    most: float = 0.0


SIGN_ON_KEYS: tuple[SignOnKey, ...] = (
    SignOnKey("issuer", None, "Address of the provider, exactly as its discovery document has it."),
    SignOnKey("client_id", None, "Name under which the gate is registered there."),
    SignOnKey(
        "client_secret_file",
        "",
        f"File with the secret of the client, readable by the gate alone; or put it in `{SECRET_VARIABLE}`. A client "
        "without a secret needs neither (PKCE protects both).",
    ),
    SignOnKey("name", "single sign-on", "What the button on the sign-in page says after `Sign in with`."),
    SignOnKey("scopes", ("openid", "profile"), "Scopes to request; must include `openid`."),
    SignOnKey("name_claim", "preferred_username", "Claim of the ID token with the name for a new account."),
    SignOnKey("groups_claim", "groups", "Claim of the ID token with the list of groups; `a.b` is `b` inside of `a`."),
    SignOnKey("clock_skew_s", 60.0, "Seconds by which the provider's clock and this one may differ.", 0, 300),
    SignOnKey("timeout_s", 5.0, "Seconds after which the provider counts as unreachable.", 0.1, 30),
    SignOnKey("key_hours", 12.0, "Hours for which a key from `querygate login` is valid.", 0.1, 24 * 31),
)


@dataclass(frozen=True, slots=True)
class SignOn:
    """Single sign-on as the file describes it. `public_url` is where browsers reach the gate."""

    public_url: str
    issuer: str
    client_id: str
    name: str
    scopes: tuple[str, ...]
    name_claim: str
    groups_claim: str
    clock_skew_s: float
    timeout_s: float
    key_hours: float
    rules: tuple[GroupRule, ...] = ()
    client_secret: str = field(default="", repr=False)

    def allowance(self, groups: frozenset[str]) -> Allowance:
        return allowance_of(self.rules, groups)


def load_sign_on(site: Site, environment: Mapping[str, str] | None = None) -> SignOn | None:
    """The file that the settings name; None without one. Raises ConfigError QG805."""
    named, public_url = str(site.settings["single_sign_on"]), str(site.settings["public_url"])
    if not named:
        return None
    if not public_url:
        raise ConfigError(
            "QG805",
            "Single sign-on needs the setting public_url: where browsers come back to.",
            "Set it, for example to https://gate.example.org.",
        )
    if not is_safe_address(public_url, public_url):
        raise ConfigError(
            "QG805",
            "public_url is not an https address.",
            "Put a TLS proxy in front of the gate, and name its address.",
        )
    path = site.folder / named
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise _invalid(path, "cannot be read", "Check the path in the setting single_sign_on.") from None
    except (ValueError, RecursionError):
        raise _invalid(path, "is not valid TOML", "Correct it: one `name = value` per line.") from None
    return _Reader(path, written, os.environ if environment is None else environment).read(public_url.rstrip("/"))


class _Reader:
    """Reads one file, key by key."""

    def __init__(self, path: Path, written: dict[str, Any], environment: Mapping[str, str]) -> None:
        self._path, self._written, self._environment = path, written, environment

    def read(self, public_url: str) -> SignOn:
        known = [key.name for key in SIGN_ON_KEYS]
        unknown = sorted(set(self._written) - {*known, "groups"})
        if unknown:
            raise _invalid(self._path, f"unknown keys {', '.join(unknown)}", f"Accepted: {', '.join(known)}, groups.")
        values: dict[str, Any] = {key.name: self._value(key) for key in SIGN_ON_KEYS}
        self._check_address(values["issuer"])
        if "openid" not in values["scopes"]:
            raise _invalid(self._path, "scopes without openid", 'Add "openid".')
        secret = self._secret(values.pop("client_secret_file"))
        return SignOn(
            public_url,
            rules=read_group_rules(self._path, self._written.get("groups", {})),
            client_secret=secret,
            **values,
        )

    def _value(self, key: SignOnKey) -> KeyValue:
        value = self._written.get(key.name, key.default)
        if value is None:
            raise _invalid(self._path, f"{key.name} is missing", key.help)
        if isinstance(key.default, tuple):
            if isinstance(value, list | tuple) and value and all(isinstance(one, str) and one for one in value):
                return tuple(value)
        elif isinstance(key.default, float):
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if is_number and key.least <= value <= key.most:
                return float(value)
        elif isinstance(value, str) and value.isprintable() and (value or key.default == ""):
            return value
        raise _invalid(self._path, f"{key.name} is not accepted", key.help)

    def _check_address(self, issuer: str) -> None:
        if not is_safe_address(issuer, issuer) or urlsplit(issuer).query or urlsplit(issuer).fragment:
            raise _invalid(self._path, "issuer is not an https address", "Use the address of the provider.")

    def _secret(self, file: str) -> str:
        given = self._environment.get(SECRET_VARIABLE, "").strip()
        if not file or given:
            return given
        try:
            return (self._path.parent / file).read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            raise _invalid(
                self._path, "client_secret_file cannot be read", "Check the path and who may read."
            ) from None


def is_safe_address(address: str, issuer: str) -> bool:
    """Whether a secret may go to an address of the provider: over TLS; or, where the provider itself is on this
    machine, to this machine.

    >>> [is_safe_address(address, "https://b.example") for address in ("https://a.example/x", "http://b.example/x")]
    [True, False]
    """
    parts, own = urlsplit(address), urlsplit(issuer)
    if parts.username or not parts.hostname or not address.isprintable():
        return False
    is_local = own.scheme == parts.scheme == "http" and own.hostname in LOOPBACK and parts.hostname in LOOPBACK
    return parts.scheme == "https" or is_local


def _invalid(path: Path, what: str, remedy: str) -> ConfigError:
    return ConfigError("QG805", f"{path.name}: {what}.", remedy)
