"""A policy with the tables of its file: edits start from what the file says, not from its resolved meaning."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from querygate.custody.policy.policy_reader import load_policy, parse_policy
from querygate.custody.policy.policy_types import Policy
from querygate.custody.policy.policy_writer import moved, write_toml
from querygate.custody.policy.toml_reader import RawTable


@dataclass(frozen=True)
class PolicyFile:
    """A policy as its custodian wrote it."""

    path: Path
    policy: Policy
    raw: RawTable

    @classmethod
    def read(cls, path: Path) -> PolicyFile:
        policy = load_policy(path)
        return cls(path, policy, tomllib.loads(path.read_bytes().decode("utf-8-sig")))

    @property
    def folder(self) -> Path:
        return self.path.parent

    def written(self, raw: RawTable, to: Path, head: str) -> str:
        """The text of another file in the folder `to`; checked to be a policy."""
        text = f"{head}\n{write_toml(moved(raw, self.folder, to))}"
        parse_policy(text, "the generated policy", to)
        return text

    def order(self) -> dict[str, list[str]]:
        """The values of each category in the order of the file."""
        return {name: table["values"] for name, table in self.raw["columns"].items() if "values" in table}
