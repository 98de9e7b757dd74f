"""Commands about datasets: publish, datasets, versions, rollback.

The custodian's root (`site.custody`) is imported inside the commands that publish, so that a process that serves
never loads code that can open a vault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from querygate.cli.frame import LOCAL, Command, format_option, open_here, site_option
from querygate.cli.printing import print_record, print_records, progress
from querygate.core.errors import NotPermitted
from querygate.gateway.describe import make_summary
from querygate.site.gate import OpenSite

if TYPE_CHECKING:
    from querygate.gateway.publish import Report


@click.command(cls=Command, example="querygate publish --policy patients.toml --source patients.csv")
@click.option("--policy", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Policy file (TOML).")
@click.option(
    "--source",
    required=True,
    metavar="SOURCE",
    help="A .csv, .tsv or .parquet file, duckdb:FILE#table, or postgresql://user@host/database#schema.table.",
)
@format_option
@site_option
def publish(policy: Path, source: str, form: str, site: Path) -> None:
    """Publish a table as the next version of its dataset.

    Nothing is served before the verifier has measured what was written. A publication that fails leaves the version
    before as it is.
    """
    from querygate.policy import load_policy
    from querygate.site.custody import publish_to

    opened = open_here(site)
    rules = load_policy(policy)
    with progress() as tell:
        report = publish_to(opened, rules, source, user=LOCAL.name, beside=policy.parent, progress=tell)
    print_record(asdict(report), form, lambda: explain_report(report))
    _remind_of_copy(opened)


@click.command(cls=Command, example="querygate datasets")
@format_option
@site_option
def datasets(form: str, site: Path) -> None:
    """List the datasets being served."""
    store = open_here(site).store
    found = [make_summary(store.current(name).catalog) for name in store.datasets()]
    columns = ("dataset", "version", "rows", "k", "published", "title")
    print_records(found, form, columns=columns, empty="No dataset is published yet.")


@click.command(cls=Command, example="querygate versions patients")
@click.argument("dataset")
@format_option
@site_option
def versions(dataset: str, form: str, site: Path) -> None:
    """List the versions of DATASET, and which one is served."""
    opened = open_here(site)
    found = make_versions(opened, dataset)
    print_records(found, form, columns=("version", "served", "published", "rows", "k_measured", "user"))


@click.command(cls=Command, example="querygate rollback patients 2")
@click.argument("dataset")
@click.argument("version", type=click.IntRange(1))
@format_option
@site_option
def rollback(dataset: str, version: int, form: str, site: Path) -> None:
    """Serve VERSION of DATASET from now on, an earlier or a later one."""
    from querygate.site.custody import serve_version

    opened = open_here(site)
    before = serve_version(opened, dataset, version, user=LOCAL.name)
    done = {"dataset": dataset, "from": before, "to": version}
    print_record(done, form, lambda: f"{dataset}: version {version} is served now (before: {before}).")
    _remind_of_copy(opened)


def _remind_of_copy(opened: OpenSite) -> None:
    """A site whose gate reads from a server keeps its versions in its folder all the same."""
    if opened.site.settings["store"]:
        click.echo("This site is served from PostgreSQL: bring the change there with `querygate store copy`.", err=True)


def make_versions(opened: OpenSite, dataset: str) -> list[dict[str, Any]]:
    """Versions in the store, with what the log says of their publication."""
    serving = _served(opened, dataset)
    published = {
        event["body"]["version"]: event
        for event in opened.log.events()
        if event["kind"] == "publish" and event["dataset"] == dataset
    }
    found = []
    for version in opened.store.versions(dataset):
        event: Mapping[str, Any] = published.get(version, {"time": None, "user": None, "body": {}})
        found.append(
            {
                "version": version,
                "served": version == serving,
                "published": event["time"],
                "rows": event["body"].get("rows"),
                "k_measured": event["body"].get("k"),
                "user": event["user"],
            }
        )
    return found


def _served(opened: OpenSite, dataset: str) -> int | None:
    """The version being served; None where its file cannot be opened, so that another one can be chosen."""
    try:
        return opened.store.current(dataset).catalog.version
    except NotPermitted:
        raise
    except Exception:  # the engine's own, and it may quote what it read
        return None


def explain_report(report: Report) -> str:
    """What was published, for a person."""
    measured = report.measured
    lines = [
        f"Published {report.dataset}, version {report.version}, in {report.seconds:.1f} s.",
        "",
        f"  rows      {report.rows:,}",
        f"  classes   {report.classes:,}, of {measured.k:,} to {measured.largest:,} records",
        f"  cells     {report.cells:,}",
        f"  k         {measured.k} (measured)",
    ]
    lines += _figures("Sensitive columns, as measured", _sensitive(report))
    lines += _figures("Records with a row in a joined table", {n: f"{found:,}" for n, found in report.joined.items()})
    lines += _figures("Tables that can be joined", {name: digest[:12] for name, digest in report.references.items()})
    lines += _figures("Mean width of a cell", {name: f"{width:.4g}" for name, width in measured.width.items()})
    lines += _figures("Mean share of its domain that a class covers", {n: f"{v:.1%}" for n, v in report.loss.items()})
    if report.warnings:
        lines += ["", "Warnings", *(f"  {warning}" for warning in report.warnings)]
    return "\n".join(lines)


def _sensitive(report: Report) -> dict[str, str]:
    measured = report.measured
    found = {}
    for name, distinct in measured.l.items():
        text = f"l = {distinct}, t = {measured.t[name]:.3f}"
        hull = measured.hull.get(name)
        found[name] = text if hull is None else f"{text}, narrowest class {hull:g} wide"
    return found


def _figures(title: str, figures: Mapping[str, str]) -> list[str]:
    width = max(map(len, figures), default=0)
    return ["", title, *(f"  {name:{width}}  {text}" for name, text in figures.items())] if figures else []
