"""The file that names the gates of a federation: where each is, which dataset is meant, and where your key lies.

[gates.north]
url = "https://gate.north.example"
dataset = "stroke"
key_file = "north.key"
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from querygate.core.errors import ConfigError

_KEYS = {"url", "dataset", "key_file"}


@dataclass(frozen=True, slots=True)
class MemberEntry:
    """One gate as the file names it."""

    name: str
    url: str
    dataset: str
    key_file: Path


@dataclass(frozen=True, slots=True)
class FederationFile:
    members: tuple[MemberEntry, ...]


def read_federation(path: Path) -> FederationFile:
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise ConfigError("QG805", f"{path.name} cannot be read.", "Name the file that lists the gates.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise ConfigError("QG805", f"{path.name} is not TOML.", "Write a table [gates.NAME] for each gate.") from None
    gates = told.get("gates")
    if set(told) != {"gates"} or not isinstance(gates, dict) or len(gates) < 2:
        raise ConfigError(
            "QG805", f"{path.name} does not list gates.", "Write a table [gates.NAME] for each of two or more gates."
        )
    return FederationFile(tuple(_entry(path, name, gate) for name, gate in gates.items()))


def _entry(path: Path, name: str, gate: object) -> MemberEntry:
    texts = isinstance(gate, dict) and set(gate) == _KEYS and all(isinstance(text, str) for text in gate.values())
    if not texts or not isinstance(gate, dict):
        raise ConfigError(
            "QG805",
            f"{path.name}: gates.{name} is not complete.",
            "Give url, dataset and key_file as texts, and nothing else.",
        )
    return MemberEntry(name, gate["url"], gate["dataset"], path.parent / gate["key_file"])
