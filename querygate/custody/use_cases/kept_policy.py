"""The policy that a version was published under, kept with the raw rows."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

from querygate.custody.policy import Policy
from querygate.custody.policy.policy_json import read_policy, write_policy
from querygate.custody.policy.policy_writer import write_toml
from querygate.custody.policy.toml_reader import RawTable

_OTHER_TABLES = ("join", "events", "derive")


def write_kept_policy(policy: Policy, base_dir: Path, tables: RawTable | None = None) -> str:
    """The policy, the folder of its file and the lines of that file. Where other tables came from is left out: what
    they bring is in the rows, and a source may have a password in its name.
    """
    body = {"policy": write_policy(replace(policy, joins=(), events=())), "beside": str(base_dir.absolute())}
    if tables is not None:
        body["file"] = write_toml({key: table for key, table in tables.items() if key not in _OTHER_TABLES})
    return json.dumps(body)


def read_kept_policy(text: str) -> tuple[Policy, Path] | None:
    """What `write_kept_policy` wrote; None if it cannot be read."""
    try:
        body = json.loads(text)
        return read_policy(body["policy"]), Path(body["beside"])
    except (KeyError, TypeError, ValueError):
        return None


def read_kept_tables(text: str) -> RawTable | None:
    """The tables of the policy file, without those that name other tables; None if they were not kept."""
    try:
        return tomllib.loads(json.loads(text)["file"])
    except (KeyError, TypeError, ValueError):
        return None
