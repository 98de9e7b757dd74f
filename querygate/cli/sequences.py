"""Commands about sequences: align those of a source before it is published."""

from __future__ import annotations

from pathlib import Path

import click
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from querygate.cli.shared.command import Command
from querygate.cli.shared.output import progress
from querygate.cli.shared.shared_options import check_new, new_file
from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.custody.align.reference_alignment import align_to_reference
from querygate_adapters.sources.open_source import open_source


@click.group()
def sequences() -> None:
    """Align DNA sequences before they are published."""


@sequences.command(
    cls=Command,
    example="querygate sequences align --source bio.csv --column dna --reference hvr1.fasta --out aligned.parquet",
)
@click.option("--source", required=True, metavar="SOURCE", help="Any source that `querygate publish` accepts.")
@click.option("--column", required=True, metavar="NAME", help="The column of sequences.")
@click.option("--reference", required=True, type=click.Path(path_type=Path, dir_okay=False),
              help="FASTA file with one sequence.")  # fmt: skip
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False),
              help="New file, .parquet or .csv: the source with this column aligned.")  # fmt: skip
def align(source: str, column: str, reference: Path, out: Path) -> None:
    """Align each sequence to a reference, so that all have a letter at each of its sites.

    A gap is -, and ? stands before the beginning of a sequence and after its end. Bases for which the reference has no
    site are left out and counted. The result holds raw data, as the source does.
    """
    check_new(out)
    if out.suffix not in (".parquet", ".csv"):
        raise click.UsageError("--out is a .parquet or a .csv file.")
    opened = open_source(source)
    if column not in opened.columns():
        raise ConfigError("QG806", f"The source has no column {column}.", "Name one of its columns.")
    with opened.reading(), progress() as tell:
        table: pa.Table = opened.batches(list(opened.columns())).read_all()
        texts = table[column].cast(pa.string()).to_pylist()
        made = align_to_reference(column, texts, _one_sequence(reference), tell)
    aligned = table.set_column(table.column_names.index(column), column, pa.array(made.texts, pa.string()))
    with new_file(out) as file:
        (pyarrow.parquet.write_table if out.suffix == ".parquet" else pyarrow.csv.write_csv)(aligned, file)
    bases = counted(made.left_out, "base", "bases")
    click.echo(f"Aligned {counted(made.aligned, 'sequence')} to {made.sites:,} sites; {bases} left out. Wrote {out}.")


def _one_sequence(path: Path) -> str:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ConfigError("QG806", f"{path} cannot be read: {reason}.", "Give a FASTA file.") from None
    if sum(line.startswith(">") for line in lines) > 1:
        raise ConfigError("QG806", f"{path} has several sequences.", "Give a FASTA file with one.")
    return "".join(line for line in lines if not line.startswith((">", ";")))
