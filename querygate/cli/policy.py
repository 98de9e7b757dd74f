"""Commands about policies: draft. Those about release policies are in `policy_search`, about costs `policy_preview`."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import click

from querygate.cli.shared.command import Command, LazyGroup
from querygate.cli.shared.output import print_json, print_records, progress
from querygate.cli.shared.shared_options import F, format_option
from querygate.core.errors import ConfigError
from querygate.custody.policy.drafts.clinical_models import FHIR, I2B2, OMOP, ClinicalModel
from querygate.custody.policy.drafts.column_proposal import Proposal
from querygate.custody.use_cases.clinical_draft import draft_clinical
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

_out_option = click.option(
    "--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="New file to write."
)

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
    check_unwritten(out)
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


def _clinical_options(command: F) -> F:
    """What the commands for clinical data models share."""
    source = click.option(
        "--source",
        required=True,
        metavar="SOURCE",
        help="A folder of .csv or .parquet files, one per table; duckdb:FILE; or postgresql://user@host/database#schema.",
    )
    return source(_out_option(format_option(command)))


@policy.command(cls=Command, example="querygate policy omop --source cdm/ --out omop.toml")
@_clinical_options
def omop(source: str, out: Path, form: str) -> None:
    """Propose a policy over an OMOP common data model.

    The records are persons. Sex, race and ethnicity, the last value of the commonest measurements, the commonest
    conditions as yes or no, and counts of visits and drugs are worked out from the tables of events when you publish.
    Check every column before you publish. Nothing is published, and no site is needed.
    """
    _propose(OMOP, source, out, form)


@policy.command(cls=Command, example="querygate policy i2b2 --source i2b2/ --out i2b2.toml")
@_clinical_options
def i2b2(source: str, out: Path, form: str) -> None:
    """Propose a policy over an i2b2 star schema.

    As `policy omop`, from patient_dimension, visit_dimension and observation_fact. Measurements are facts with a LOINC
    code and a number, conditions those with a code of ICD or SNOMED CT, drugs those with one of RxNorm, NDC or ATC.
    """
    _propose(I2B2, source, out, form)


@policy.command(cls=Command, example="querygate policy fhir --source resources/ --out fhir.toml")
@click.option(
    "--source",
    required=True,
    metavar="FOLDER",
    help="A folder with Patient.parquet, Observation.parquet and so on; each may be a folder of .parquet files.",
)
@_out_option
@format_option
def fhir(source: str, out: Path, form: str) -> None:
    """Propose a policy over FHIR resources in Parquet files.

    As `policy omop`, from Patient, Encounter, Condition, MedicationRequest and Observation as the Parquet on FHIR
    specification, Pathling or FHIR Data Pipes write them. Publish it from `fhir:FOLDER/Patient.parquet`.
    """
    _propose(FHIR, source, out, form)


def _propose(model: ClinicalModel, source: str, out: Path, form: str) -> None:
    check_unwritten(out)
    drafted = draft_clinical(model, source, out.parent)
    write_new(out, drafted.text)
    print_records([_shown(column) for column in drafted.columns], form, columns=SHOWN)


def _shown(column: Proposal) -> dict[str, str | None]:
    """What a custodian sees first of a proposed column."""
    return dict(zip(SHOWN, (column.name, column.role, column.type or None, column.warning or None), strict=True))


def check_unwritten(path: Path | None) -> None:
    """Said before a source is read, as `write_new` would say it afterwards."""
    if path is None:
        return
    folder = path.absolute().parent
    found = [
        (path.exists() or path.is_symlink(), errno.EEXIST),
        (not folder.exists(), errno.ENOENT),
        (not folder.is_dir(), errno.ENOTDIR),
        (not os.access(folder, os.W_OK | os.X_OK), errno.EACCES),
    ]
    for is_so, number in found:
        if is_so:
            raise _unwritten(path, os.strerror(number))


def write_new(path: Path, text: str) -> None:
    """A file of the custodian's alone, never over another: a policy may hold days of work."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise _unwritten(path, error.strerror or type(error).__name__) from None


def _unwritten(path: Path, reason: str) -> ConfigError:
    return ConfigError("QG801", f"{path}: cannot be written: {reason}", "Name a new file with --out.")
