"""The command policy preview. What reads raw data is imported with it, as for `publish`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from querygate.cli.command import Command
from querygate.cli.output import plain, print_records, progress
from querygate.cli.shared_options import format_option
from querygate.custody.jobs.preview_views import QUESTIONS, PreviewRow, preview
from querygate.custody.policy import load_policy
from querygate.custody.workload.usable_share import KINDS

PAPER = "counts, prevalences and means"
SHORT = {PAPER: "printable", f"{PAPER}, aligned": "aligned", f"{PAPER}, free": "free"}
SHOWN = (*SHORT.values(), *KINDS, "views")
LEGEND = f"""
printable    of the {PAPER} that were asked for, the share whose range is narrow enough to print
aligned      of these, under conditions that follow the cuts of the policy, or under none
free         of these, under conditions that end anywhere
count .. sd  each kind by itself
correlation, odds ratio  of two sensitive columns at once: views tell of those in one `linked` group alone
"""
DIGITS = 3


@click.command("preview", cls=Command, example="querygate policy preview --policy patients.toml --source patients.csv")
@click.option("--policy", "policy_file", required=True, help="Policy file (TOML) with a table [views].",
              type=click.Path(path_type=Path, dir_okay=False))  # fmt: skip
@click.option(
    "--source", required=True, metavar="SOURCE", help="A file, or any source that `querygate publish` accepts."
)
@click.option("--questions", type=click.IntRange(1, 100_000), default=QUESTIONS, metavar="N",
              help=f"Questions to ask of each candidate.  [default: {QUESTIONS}]")  # fmt: skip
@click.option("--candidates", type=click.IntRange(1, 1_000), metavar="N",
              help="Try the first N candidates.  [default: all]")  # fmt: skip
@format_option
def preview_policy(policy_file: Path, source: str, questions: int, candidates: int | None, form: str) -> None:
    """Compare views by what could be printed.

    The candidates are the views of the policy, classes in their place, views that share other columns, and views in
    the frame of each category of few values. Each is published into a folder that is removed afterwards, and asked what
    an ordinary paper would ask, for everybody and by one or two categories, with conditions that follow the cuts of the
    policy (aligned) and that do not (free). The table shows the share of figures whose range is narrow enough to print,
    first of counts, prevalences and means together, then of every kind. Nothing is published, and no site is needed.
    The shares depend on the raw data: they are for the custodian alone.
    """
    with progress() as tell:
        found = preview(
            load_policy(policy_file),
            source,
            base_dir=policy_file.parent,
            questions=questions,
            candidates=candidates,
            progress=tell,
        )
    if form != "table":
        print_records([_record(row) for row in found], form, columns=SHOWN)
        return
    print_records([_record(row) | {"views": _named(row)} for row in found], form, columns=SHOWN)
    click.echo(LEGEND)
    for row in found:
        if row.problem:
            click.echo(plain(f"{row.views} cannot be published: {row.problem}"))


def _named(row: PreviewRow) -> str:
    return f"{row.views} (cannot be published, see below)" if row.problem else row.views


def _record(row: PreviewRow) -> dict[str, Any]:
    shares = {part.name: None if part.share is None else round(part.share, DIGITS) for part in row.shares}
    told = {short: shares.get(name) for name, short in (*SHORT.items(), *zip(KINDS, KINDS, strict=True))}
    figures = row.shares[0].figures if row.shares else 0
    return {"views": row.views, "figures": figures, **told, "problem": row.problem}
