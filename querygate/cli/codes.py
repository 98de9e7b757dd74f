"""Commands about code systems: import one of others, and show where a code belongs."""

from __future__ import annotations

from pathlib import Path

import click

from querygate.cli.policy import write_new
from querygate.cli.shared.command import Command
from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.custody.code_lists.imported_files import KINDS, import_system
from querygate.methods.code_lists.code_spelling import normalise
from querygate.methods.code_lists.code_systems import LEVELS, tree_of
from querygate.methods.code_lists.crosswalk import equivalents


@click.group()
def codes() -> None:
    """Bring code systems into the form that policies read."""


@codes.command(
    "import",
    cls=Command,
    example="querygate codes import --kind snomed sct2_Relationship_Snapshot.txt --codes used.csv --out snomed.csv",
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--kind", required=True, type=click.Choice(tuple(KINDS)), help="What the file is.")
@click.option("--codes", "wanted", type=click.Path(path_type=Path, dir_okay=False), help="File with the codes to keep.")
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="New file to write.")
def import_codes(file: Path, kind: str, wanted: Path | None, out: Path) -> None:
    """Write the hierarchy of a code system as a file that a policy can name.

    atc and opcs: a list of codes, in the first column. pairs: rows `code;group above it`. snomed: the snapshot of
    relationships of a release (RF2). A code that stands under several groups is put under one of them. Name the codes
    that may occur, not those that do: the list becomes public.
    """
    made = import_system(kind, file, wanted)
    write_new(out, "".join(f"{';'.join(row)}\n" for row in made.rows))
    several = f" {counted(made.several, 'code stands', 'codes stand')} under several groups." if made.several else ""
    levels = len(made.rows[0]) - 1
    click.echo(f"Wrote {counted(len(made.rows), 'code')} in {counted(levels, 'level')} of groups to {out}.{several}")


@codes.command(cls=Command, example="querygate codes show --system icd9cm+icd10cm 250.00")
@click.argument("code")
@click.option("--system", required=True, type=click.Choice(tuple(LEVELS)), help="The code system.")
def show(code: str, system: str) -> None:
    """Show the groups of a code, and what ICD-9-CM codes are equivalent to."""
    read = normalise(system, [code])
    if read.unknown or read.codes[0] is None:
        raise ConfigError("QG806", f"This is not a code of {system}.", "Write it as in the system.")
    found = read.codes[0]
    click.echo(" < ".join((found, *tree_of(system, [found]).ancestors(found))))
    same = equivalents().get(found.removeprefix("9:"))
    if same is not None:
        click.echo(f"ICD-10-CM: {same.node if same.node != '*' else 'several chapters, or none'} ({same.kind})")
