"""The command policy preview. What reads raw data is imported with it, as for `publish`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from querygate.cli.command import Command
from querygate.cli.output import print_records, progress
from querygate.cli.shared_options import format_option
from querygate.custody.jobs.preview_views import QUESTIONS, PreviewRow, preview
from querygate.custody.policy import load_policy

SHOWN = ("views", "all", "aligned", "free", "count", "prevalence", "mean", "median", "sd")
DIGITS = 3


@click.command("preview", cls=Command, example="querygate policy preview --policy patients.toml --source patients.csv")
@click.option("--policy", "policy_file", required=True, help="Policy file (TOML) with a table [views].",
              type=click.Path(path_type=Path, dir_okay=False))  # fmt: skip
@click.option(
    "--source", required=True, metavar="SOURCE", help="A file, or any source that `querygate publish` accepts."
)
@click.option("--questions", type=click.IntRange(1, 100_000), default=QUESTIONS, metavar="N",
              help=f"Questions to ask of each candidate.  [default: {QUESTIONS}]")  # fmt: skip
@format_option
def preview_policy(policy_file: Path, source: str, questions: int, form: str) -> None:
    """Compare views by what could be printed.

    Each candidate is published into a folder that is removed afterwards, and asked what an ordinary paper would ask:
    counts, prevalences, means, medians and standard deviations, for everybody and by one or two categories, with
    conditions that follow the cuts of the policy (aligned) and that do not (free). The table shows the share of figures
    whose range is narrow enough to print. Nothing is published, and no site is needed. The shares depend on the raw
    data: they are for the custodian alone.
    """
    with progress() as tell:
        found = preview(
            load_policy(policy_file), source, base_dir=policy_file.parent, questions=questions, progress=tell
        )
    print_records([_record(row) for row in found], form, columns=SHOWN)


def _record(row: PreviewRow) -> dict[str, Any]:
    shares = {part.name: None if part.share is None else round(part.share, DIGITS) for part in row.shares}
    return {"views": row.views, "figures": row.shares[0].figures, **shares}
