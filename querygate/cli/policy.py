"""Commands about policies: draft. Those about release policies are in `policy_search`, about costs `policy_preview`."""

from __future__ import annotations

from pathlib import Path

import click

from querygate.cli.shared.command import Command, LazyGroup
from querygate.cli.shared.output import print_json, print_records, progress
from querygate.cli.shared.shared_options import format_option
from querygate.core.errors import ConfigError
from querygate.custody.policy.drafts.column_proposal import Proposal
from querygate.custody.use_cases.omop_draft import draft_omop
from querygate.custody.use_cases.policy_draft import draft_from

ELSEWHERE = {
    "preview": ("querygate.cli.policy_preview:preview_policy", "Measure what a policy costs, before publishing."),
    "search": ("querygate.cli.policy_search:search", "Find alternatives to Safe Harbor."),
    "safe-harbor": ("querygate.cli.policy_search:safe_harbor", "Apply Safe Harbor to a policy."),
    "limited-data-set": (
        "querygate.cli.policy_search:limited_data_set",
        "Prepare a policy for limited data sets (45 CFR 164.514(e)).",
    ),
}

SHOWN = ("column", "role", "type", "found")


@click.group(cls=LazyGroup, later=ELSEWHERE)
def policy() -> None:
    """Write the policy of a dataset."""


@policy.command(cls=Command, example="querygate policy draft --source patients.csv --out patients.toml")
@click.option(
    "--source",
    required=True,
    metavar="SOURCE",
    help="A .csv, .tsv or .parquet file, duckdb:FILE#table, or postgresql://user@host/database#schema.table.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="New file to write.")
@format_option
def draft(source: str, out: Path | None, form: str) -> None:
    """Propose a policy from a source.

    The draft proposes roles, types, public domains, bins, guards and views, points out likely identifiers and free
    text, and gives reasons in comments. It can be published as it stands, but its figures come from the raw data, and
    only you know what others know: check every column before you publish. Nothing is published, and no site is needed.
    """
    with progress(elsewhere=False) as tell:
        drafted = draft_from(source, tell)
    if out is not None:
        write_new(out, drafted.text)
    columns = [_shown(column) | {"why": " ".join(column.why)} for column in drafted.columns]
    if form == "json":
        head = {"dataset": drafted.dataset, "k": drafted.k, "rows": drafted.rows}
        print_json({**head, "policy": drafted.text, "columns": columns})
    elif form != "table" or out is not None:
        print_records(columns, form, columns=SHOWN)
    else:
        click.echo(drafted.text, nl=False)


@policy.command(cls=Command, example="querygate policy omop --source cdm/ --out omop.toml")
@click.option(
    "--source",
    required=True,
    metavar="SOURCE",
    help="A folder of .csv or .parquet files, one per table; duckdb:FILE; or postgresql://user@host/database#schema.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="New file to write.")
@format_option
def omop(source: str, out: Path, form: str) -> None:
    """Propose a policy over an OMOP common data model.

    The records are persons. Sex, race and ethnicity, the last value of the commonest measurements, the commonest
    conditions as yes or no, and counts of visits and drugs are worked out from the tables of events when you publish.
    Check every column before you publish. Nothing is published, and no site is needed.
    """
    drafted = draft_omop(source, out.parent)
    write_new(out, drafted.text)
    print_records([_shown(column) for column in drafted.columns], form, columns=SHOWN)


def _shown(column: Proposal) -> dict[str, str | None]:
    """What a custodian sees first of a proposed column."""
    return dict(zip(SHOWN, (column.name, column.role, column.type or None, column.warning or None), strict=True))


def write_new(path: Path, text: str) -> None:
    """A file of the custodian's alone, never over another: a policy may hold days of work."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError("QG801", f"{path}: cannot be written: {reason}", "Name a new file with --out.") from None
