"""The group of all commands."""

from __future__ import annotations

from pathlib import Path

import click

from querygate.cli import proofs, releasing, watching  # noqa: F401  (add their commands to `audit` and `policy`)
from querygate.cli.anonymising import anonymise
from querygate.cli.asking import query
from querygate.cli.audits import audit
from querygate.cli.budgets import budget
from querygate.cli.datasets import datasets, publish, retire, rollback, versions
from querygate.cli.describing import describe
from querygate.cli.doctor import doctor
from querygate.cli.exports import export
from querygate.cli.frame import Group
from querygate.cli.logs import log
from querygate.cli.people import key, user
from querygate.cli.persons import person
from querygate.cli.policies import policy
from querygate.cli.reports import report
from querygate.cli.risks import risk
from querygate.cli.sites import demo, init, serve
from querygate.cli.stores import store


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="querygate", message="QueryGate %(version)s")
@click.option("--site", type=click.Path(path_type=Path, file_okay=False), help="Folder of the site.  [default: ./site]")
@click.option("--debug", is_flag=True, hidden=True)
def main(site: Path | None, debug: bool) -> None:
    """Ordinary SQL in, guaranteed ranges out.

    A site is a folder with settings, a store, a vault and a log. Make one with `querygate init`, publish a table
    into it, then query or serve it.
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
