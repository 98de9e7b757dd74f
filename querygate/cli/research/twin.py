"""The command that makes dummy rows: twin."""

from __future__ import annotations

from pathlib import Path

import click

from querygate.cli.shared.asked_gate import asked_gate
from querygate.cli.shared.command import Command
from querygate.cli.shared.shared_options import check_new, new_file, site_option
from querygate.gate.twin import DEFAULT_ROWS, MOST_ROWS, TWIN_FORMATS, TwinWish


@click.command(cls=Command, example="querygate twin patients --rows 500 --seed 7 --out dummy.csv", elsewhere=True)
@click.argument("dataset")
@click.option(
    "--rows", type=click.IntRange(1, MOST_ROWS), default=DEFAULT_ROWS, help="Number of rows.  [default: 1000]"
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, help="The same seed gives the same rows.  [default: 0]"
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="New .csv or .parquet file."
)
@site_option
def twin(dataset: str, rows: int, seed: int, out: Path, site: Path) -> None:
    """Make dummy rows that look like DATASET, to write programs against.

    They are drawn from the published store, or from the dataset's description if its policy holds back part of the
    store. They are nobody's records. The log says that they were made.
    """
    check_new(out)
    form = out.suffix.removeprefix(".").lower()
    if form not in TWIN_FORMATS:
        raise click.BadParameter(f"The file must end in .{' or .'.join(TWIN_FORMATS)}.", param_hint="--out")
    data = asked_gate(site).twin(TwinWish(dataset, rows, seed), form)
    with new_file(out) as stream:
        stream.write(data)
    click.echo(f"Wrote {rows:,} dummy rows of {dataset} to {out}.")
