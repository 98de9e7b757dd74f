"""A site with two datasets and one user of each role, in which nothing is granted yet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from flask.testing import FlaskClient

from querygate.control import Actor, Grant, Grantee
from querygate.core.rights import ROLES
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.open_gate import OpenSite, open_gate
from querygate.site.settings import FILE
from querygate.web import create_app
from tests.api.small_site import csv_text
from tests.granted_site import bare_site
from tests.policies import AGE, IDENTIFIER, SBP, SEX, make_policy

DATASETS = ("clinic", "other")
CARL = Actor("carl")
PEOPLE = {**{role: role for role in ROLES}, "second": "researcher"}
"""Users by name: each is called like their role, and there are two researchers."""


@dataclass(frozen=True)
class RightsSite:
    opened: OpenSite
    keys: dict[str, str]

    @property
    def folder(self) -> Path:
        return self.opened.site.folder

    def client(self) -> FlaskClient:
        return create_app(self.opened).test_client()

    def headers(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.keys[name]}"}

    def grant(self, name: str, dataset: str = "clinic", *modes: str) -> Grant:
        return self.opened.grants.add(Grantee("user", name), dataset, modes, by=CARL)


def make_rights_site(folder: Path, settings: str = "") -> RightsSite:
    """The site with these settings beside the defaults."""
    made = bare_site(folder / "site")
    if settings:
        with (made.folder / FILE).open("a", encoding="utf-8") as stream:
            stream.write(f"\n{settings}")
    opened = open_gate(made)
    source = folder / "clinic.csv"
    source.write_text(csv_text())
    for name in DATASETS:
        columns = {"mrn": IDENTIFIER, "age": AGE, "sex": SEX | {"values": ["F", "M"]}, "sbp": SBP}
        publish_to(opened, make_policy(name, columns, unit="person").parsed(), str(source), user="local")
    for name, role in PEOPLE.items():
        opened.accounts.add_user(name, role)
    return RightsSite(opened, {name: opened.accounts.keys.new(name).secret for name in PEOPLE})
