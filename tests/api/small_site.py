"""A small site, really published: forty patients, two researchers and a custodian, each with a key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from querygate.custody.policy import parse_policy
from querygate.custody.roots.publish_version import publish_to
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate

POLICY = """
dataset = "clinic"
title = "Blood pressure study"
k = 5
unit = "person"
[columns.mrn]
role = "identifier"
[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 120]
grid = 1
[columns.sex]
role = "quasi-identifier"
type = "category"
values = ["F", "M"]
[columns.sbp]
role = "sensitive"
type = "integer"
domain = [40, 300]
"""

NAMES = {"ann": "researcher", "bob": "researcher", "carl": "custodian"}


def csv_text(rows: int = 40) -> str:
    lines = [f"MRN-{7000 + i},{30 + i},{'FM'[i % 2]},{101 + 37 * i % 71}" for i in range(rows)]
    return "\n".join(["mrn,age,sex,sbp", *lines]) + "\n"


def write_inputs(folder: Path) -> tuple[Path, Path]:
    """The policy and the source, as files."""
    policy, source = folder / "clinic.toml", folder / "clinic.csv"
    policy.write_text(POLICY)
    source.write_text(csv_text())
    return policy, source


@dataclass(frozen=True)
class SmallSite:
    opened: OpenSite
    keys: dict[str, str]

    @property
    def folder(self) -> Path:
        return self.opened.site.folder

    def headers(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.keys[name]}"}


def make_small_site(folder: Path) -> SmallSite:
    opened = open_gate(init_site(folder / "site"))
    publish_to(opened, parse_policy(POLICY), str(write_inputs(folder)[1]), user="local")
    for name, role in NAMES.items():
        opened.accounts.add_user(name, role)
    return SmallSite(opened, {name: opened.accounts.new_key(name).secret for name in NAMES})
