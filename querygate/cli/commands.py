"""The group of all commands."""

from __future__ import annotations

from pathlib import Path

import click

from querygate.cli import audit_evidence, audit_watch, policy_search  # noqa: F401  (add their commands to `audit` and `policy`)
from querygate.cli.anonymise import anonymise
from querygate.cli.audit import audit
from querygate.cli.budget import budget
from querygate.cli.dataset import datasets, publish, retire, rollback, versions
from querygate.cli.describe import describe
from querygate.cli.doctor import doctor
from querygate.cli.export import export
from querygate.cli.frame import CommandGroup
from querygate.cli.log import log
from querygate.cli.person import person
from querygate.cli.policy import policy
from querygate.cli.query import query
from querygate.cli.report import report
from querygate.cli.risk import risk
from querygate.cli.site import demo, init, serve
from querygate.cli.store import store
from querygate.cli.user import key, user


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="querygate", message="QueryGate %(version)s")
@click.option("--site", type=click.Path(path_type=Path, file_okay=False), help="Folder of the site.  [default: ./site]")
@click.option("--debug", is_flag=True, hidden=True)
def main(site: Path | None, debug: bool) -> None:
    """Ordinary SQL in, guaranteed ranges out.

    A site is a folder with settings, a store, a vault and a log. Create one with `querygate init`, publish a table into
    it, then query or serve it.
    """


for command in (
    init,
    demo,
    policy,
    publish,
    report,
    datasets,
    describe,
    versions,
    rollback,
    retire,
    person,
    store,
    query,
    budget,
    export,
    serve,
    user,
    key,
    log,
    audit,
    anonymise,
    risk,
    doctor,
):
    main.add_command(command)
