"""A small site, really published: forty patients, two researchers and a custodian, each with a key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.policies import AGE, IDENTIFIER, SBP, SEX, PolicyText, make_policy

POLICY = make_policy(
    "clinic",
    {"mrn": IDENTIFIER, "age": AGE, "sex": SEX | {"values": ["F", "M"]}, "sbp": SBP},
    title="Blood pressure study",
    unit="person",
)

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
    publish_to(opened, POLICY.parsed(), str(write_inputs(folder)[1]), user="local")
    for name, role in NAMES.items():
        opened.accounts.add_user(name, role)
    return SmallSite(opened, {name: opened.accounts.keys.new(name).secret for name in NAMES})


PEOPLE = {"ann": "researcher", "carl": "custodian", "dora": "custodian"}


def make_reviewed_site(folder: Path, policy: PolicyText, table: pa.Table) -> OpenSite:
    """A site with one table, whose extracts want two reviewers."""
    site = init_site(folder / "site")
    settings = site.folder / "querygate.toml"
    settings.write_text(settings.read_text() + "\nextract_reviewers = 2\n")
    pq.write_table(table, folder / "source.parquet")
    opened = open_gate(open_site(site.folder))
    publish_to(opened, policy.parsed(), str(folder / "source.parquet"), user="carl")
    for name, role in PEOPLE.items():
        opened.accounts.add_user(name, role)
    return opened
