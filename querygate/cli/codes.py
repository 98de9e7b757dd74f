"""Commands about codes: import a system, show where a code belongs, and release a list in chunks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from querygate.cli.policy import write_new
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import print_record, progress
from querygate.cli.shared.shared_options import format_option, new_folder
from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.custody.code_lists.imported_files import KINDS, import_system
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.disassociated_codes import release_disassociated
from querygate.methods.code_lists.code_spelling import normalise
from querygate.methods.code_lists.crosswalk import equivalents
from querygate.methods.code_lists.known_code_systems import LEVELS, tree_of
from querygate_adapters.sources.open_source import open_source


@click.group()
def codes() -> None:
    """Import code systems, and release lists of codes in chunks."""


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

    atc and opcs: a list of codes, in the first column. pairs: rows `code;group above it`. snomed: the relationship
    snapshot of a release (RF2). A code with several parent groups is put under one of them. Name the codes that may
    occur, not those that do occur: the list becomes public.
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
        raise ConfigError("QG806", f"This is not a code of {system}.", "Write it as the system does.")
    found = read.codes[0]
    click.echo(" < ".join((found, *tree_of(system, [found]).ancestors(found))))
    same = equivalents().get(found.removeprefix("9:"))
    if same is not None:
        click.echo(f"ICD-10-CM: {same.node if same.node != '*' else 'several chapters, or none'} ({same.kind})")


@codes.command(
    cls=Command, example="querygate codes disassociate --policy bio.toml --source bio.csv --column dx --out chunks"
)
@click.option("--policy", "policy_file", required=True, type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="Policy file (TOML).")  # fmt: skip
@click.option(
    "--source", required=True, metavar="SOURCE", help="A file, or any source that `querygate publish` accepts."
)
@click.option("--column", required=True, metavar="NAME", help="The list of codes.")
@click.option("--m", type=click.IntRange(1, 4), default=2, show_default=True, help="Codes known of a person.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A new folder.")
@format_option
def disassociate(policy_file: Path, source: str, column: str, m: int, out: Path, form: str) -> None:
    """Release a list of codes in chunks: every code unchanged, and fewer links between them.

    Anyone who knows up to m codes of a person finds at least k records. Nothing else about people is included. The
    result is verified before anything is written; no site and no approval are needed.
    """
    policy = load_policy(policy_file)
    with new_folder(out) as staged, progress() as tell:
        made = release_disassociated(
            policy, open_source(source), column, staged, m=m, base_dir=policy_file.parent, progress=tell
        )
    print_record(
        {**asdict(made), "folder": str(out)},
        form,
        lambda: (
            f"{counted(made.records, 'record')} in {counted(made.clusters, 'cluster')}, k = {made.k}, m = {made.m}: "
            f"{made.counted:.1%} of all entries are counted in chunks, the others listed as terms.\n"
            f"See {out / 'codes.csv'}."
        ),
    )
