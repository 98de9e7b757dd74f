"""The command that shows the report on a published version: report."""

from __future__ import annotations

from pathlib import Path

import click

from querygate.cli.shared.command import Command
from querygate.cli.shared.output import explain_problem, print_record, progress
from querygate.cli.shared.shared_options import format_option, new_file, open_here, site_option
from querygate.core.count_text import counted
from querygate.custody.publish_report.kept_report import KeptAttacker, KeptReport, KeptRisk
from querygate.custody.use_cases.publish_with_report import (
    FILES,
    ReportedPublication,
    find_report,
    read_report,
    report_again,
)


@click.command(cls=Command, example="querygate report patients --out report.html")
@click.argument("dataset")
@click.argument("version", required=False, type=click.IntRange(1))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Copy the report to this file: the page, or the JSON if the name ends in .json.",
)
@click.option("--again", is_flag=True, help="Make the report again, from the store and the vault.")
@format_option
@site_option
def report(dataset: str, version: int | None, out: Path | None, again: bool, form: str, site: Path) -> None:
    """Show the report on VERSION of DATASET, by default on the served version.

    The report is for the custodian only: it compares answers with the true values, and one of its charts shows raw
    values. It is kept in the vault with the raw rows. With --again it is made again, for example if publishing was
    interrupted while it was being made.
    """
    opened = open_here(site)
    if again:
        with progress() as tell:
            folder = report_again(opened, dataset, version, tell=tell)
    else:
        folder = find_report(opened, dataset, version)
    if out is not None:
        _copy(folder / FILES["json" if out.suffix == ".json" else "full"], out)
        return
    body = read_report(folder)
    print_record(body, form, lambda: explain_body(body, folder))


def tell_of_report(done: ReportedPublication) -> None:
    """Where the report on a publication is, or why there is none. Either way the publication stands."""
    if done.file is not None:
        click.echo(f"Report: {done.file}", err=True)
        for text in read_report(done.file.parent).get("usable", {}).get("lost", []):
            click.echo(f"Warning: {text}", err=True)
    if done.problem is not None:
        click.echo("Warning: the version is published and served, but its report could not be made.", err=True)
        click.echo(explain_problem(done.problem), err=True)


def explain_body(body: KeptReport, folder: Path) -> str:
    """What to look at first, and where the rest is."""
    head = body["headline"]
    lines = [
        f"{body['dataset']}, version {body['version']}, published {body['published']}",
        "",
        f"  rows      {head['rows']:,}",
        f"  classes   {head['classes']:,}",
        f"  k         {head['k']} (asked: {head['k_asked']})",
        *(explain_views(body) if "views" in body else _risks(body["risk"])),
        "",
        "Look at this first",
    ]
    for warning in body["warnings"]:
        lines += [f"  {warning['text']}", *([f"    {warning['advice']}"] if warning["advice"] else [])]
    lines += [] if body["warnings"] else ["  No warnings."]
    return "\n".join([*lines, "", f"Full report: {folder}"])


def _risks(found: KeptRisk) -> list[str]:
    with_codes = found.get("codes")
    more = [f"            {_risk(with_codes)}, if all codes of a person are known too"] if with_codes else []
    return [f"  risk      {_risk(found['prosecutor'])}", *more]


def _risk(found: KeptAttacker) -> str:
    return f"{found['greatest']:.1%} at most, {found['average']:.1%} on average"


def _copy(file: Path, out: Path) -> None:
    """The copy is closed to others, as the report is."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise click.UsageError(f"This report has no {file.name}: it was made without a page.") from None
    with new_file(out) as stream:
        stream.write(data)
    click.echo(f"Wrote {out}.", err=True)


def explain_views(body: KeptReport) -> list[str]:
    """What views bring, and what is believed and exposed; nothing of a report from before it was measured."""
    if "worth" not in body:
        return []
    views, lines = body["views"], ["", "Counts, prevalences and means that could be printed"]
    for way in body["worth"]["ways"]:
        printed = "-" if way["printed"] is None else f"{way['printed']:.0%}"
        lines.append(f"  {printed:>5}  {way['name']}, k = {way['k']:,}")
    lines += ["", f"Belief in a true value, measured on {counted(views['measured_records'], 'record')}"]
    for one in views["risk"]:
        said = "nothing is told" if one["mean"] is None else f"mean {one['mean']:.0%}, highest {one['highest']:.1%}"
        exposed = "; ".join(
            f"if {part['share']:.0%} tell their values, {part['exposed']:g} others are no longer proved safe"
            for part in one["colluders"]
            if one["records"]
        )
        lines.append(f"  {', '.join(one['unit'])}: {said}{f'; {exposed}' if exposed else ''}")
    return lines
