"""The key with which files at rest are encrypted, and how it is changed.

The key of the site (32 random bytes) encrypts the files. It lies in `sealed.keys`, itself encrypted with a key that is
kept elsewhere: in a file, in the environment, or with a program that prints it (the setting `encryption_key`). So to
change the outer key one small file is written anew and renamed: whenever that is interrupted, one key is good for all
files. While a change is under way the site's key is there twice, under the old one and under the new one.

The secret that signs messages to webhooks is kept elsewhere in the same ways, and encrypts nothing.
"""

from __future__ import annotations

import base64
import json
import os
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from querygate.core.errors import ConfigError
from querygate.site.encrypted_file import FileSeal, aes, derived
from querygate.site.layout import Site
from querygate.site.settings import Settings

KEYS = "sealed.keys"
SETTING = "encryption_key"
WEBHOOKS = "webhook_secret"
SHORTEST = 32
"""Characters of a key: 64 hexadecimal ones are 32 random bytes."""

COMMAND_S = 60.0
_NONCE = 12


def open_seal(site: Site, *, make: bool = False) -> FileSeal | None:
    """What encrypts the files of a site; None where its settings name no key. `make` makes the site's key where there
    is none yet. ConfigError QG805 where the key is not there, or is not the one."""
    where = site.settings[SETTING]
    if not where:
        return None
    outer, path = read_key(where), site.folder / KEYS
    if not path.exists():
        if not make:
            return None
        _write(path, [_wrapped(outer, os.urandom(32))], is_first=True)
    return FileSeal(_unwrapped(path, outer))


def needs_key() -> ConfigError:
    return ConfigError(
        "QG805",
        "This file is encrypted, and the setting `encryption_key` names no key.",
        "Set it to the place of the key: file:PATH, env:NAME or command:PROGRAM.",
    )


def add_key(site: Site, where: str) -> None:
    """From now on a second key opens the site's too."""
    path, present = site.folder / KEYS, read_key(site.settings[SETTING])
    if not path.exists():
        raise _wrong("Nothing on this site is encrypted yet.", "Begin with `querygate encryption apply`.")
    inner = _unwrapped(path, present)
    _write(path, [_wrapped(present, inner), _wrapped(read_key(where), inner)])


def keep_one_key(site: Site) -> int:
    """Only the key that the settings name opens the site's any more; how many others there were."""
    path, present = site.folder / KEYS, read_key(site.settings[SETTING])
    inner, before = _unwrapped(path, present), len(_read(path))
    _write(path, [_wrapped(present, inner)])
    return before - 1


def read_key(where: str, setting: str = SETTING) -> bytes:
    """The key that a setting names, from where it is kept. It is never part of a message."""
    kind, _, place = where.partition(":")
    try:
        if kind == "file" and place:
            path = Path(place)
            if path.stat().st_mode & 0o077:
                raise _wrong("The file of the key is open to other users.", f"chmod go= {place}")
            text = path.read_text(encoding="utf-8")
        elif kind == "env" and place:
            text = os.environ.get(place, "")
        elif kind == "command" and place:
            words = shlex.split(place)
            done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_S, check=True)  # noqa: S603
            text = done.stdout.decode()
        else:
            raise _wrong(f"The setting `{setting}` is not valid.", "Write file:PATH, env:NAME or command:PROGRAM.")
    except (OSError, ValueError, subprocess.SubprocessError):
        raise _wrong(f"The key cannot be read where the setting `{setting}` says.", "Check it there.") from None
    if len(text.strip()) < SHORTEST:
        raise _wrong("The key is missing or too short.", "Make one with: openssl rand -hex 32")
    return text.strip().encode()


def webhook_secret(settings: Settings) -> bytes:
    """What signs messages to webhooks; empty where they are not signed."""
    return read_key(settings[WEBHOOKS], WEBHOOKS) if settings[WEBHOOKS] else b""


# -- the site's key, encrypted -------------------------------------------------------------------------------------


def _wrapped(outer: bytes, inner: bytes) -> str:
    salt, nonce = os.urandom(16), os.urandom(_NONCE)
    return base64.b64encode(salt + nonce + _outer(outer, salt).encrypt(nonce, inner, KEYS.encode())).decode()


def _unwrapped(path: Path, outer: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag

    for text in _read(path):
        data = base64.b64decode(text)
        salt, nonce, sealed = data[:16], data[16 : 16 + _NONCE], data[16 + _NONCE :]
        try:
            return bytes(_outer(outer, salt).decrypt(nonce, sealed, KEYS.encode()))
        except InvalidTag:
            continue
    raise _wrong(
        "The key that the setting `encryption_key` names is not the one that this site is encrypted with.",
        "Name the right key. A key that was replaced may still be needed: see `querygate encryption rotate`.",
    )


def _outer(outer: bytes, salt: bytes) -> Any:
    return aes(derived(outer, salt, b"querygate key"))


def _read(path: Path) -> list[str]:
    try:
        return [str(text) for text in json.loads(path.read_text(encoding="utf-8"))["keys"]]
    except (OSError, ValueError, KeyError, TypeError):
        raise _wrong(
            f"{path.name} cannot be read.", "Restore it from a backup: without it nothing is readable."
        ) from None


def _write(path: Path, keys: list[str], *, is_first: bool = False) -> None:
    """On disk before it takes its place. Of two processes that make the first one, one is heard."""
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
        json.dump({"keys": keys}, stream)
        stream.flush()
        os.fsync(stream.fileno())
    if is_first:
        with suppress(FileExistsError):
            os.link(staged, path)
        staged.unlink()
    else:
        staged.replace(path)


def _wrong(detail: str, remedy: str) -> ConfigError:
    return ConfigError("QG805", detail, remedy)
