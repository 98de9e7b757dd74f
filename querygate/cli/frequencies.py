"""frequencies: allele frequencies of a column of sequences, guarded against tests of membership."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from querygate.cli.shared.command import Command
from querygate.cli.shared.output import print_record, progress
from querygate.cli.shared.shared_options import format_option, new_folder
from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.allele_frequencies import release_frequencies
from querygate.methods.sequences import BadSequences, FrequencyGuard
from querygate_adapters.sources.open_source import open_source


@click.command(
    cls=Command,
    example="querygate frequencies --policy bio.toml --source bio.csv --column dna --out frequencies\n"
    "querygate frequencies --policy bio.toml --source bio.csv --column dna --sites 146,263,750 --power 0.08 --out some",
)
@click.option("--policy", "policy_file", required=True, type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="Policy file (TOML).")  # fmt: skip
@click.option(
    "--source", required=True, metavar="SOURCE", help="A file, or any source that `querygate publish` accepts."
)
@click.option("--column", required=True, metavar="NAME", help="The column of aligned sequences.")
@click.option("--power", type=float, default=0.1, show_default=True,
              help="Share of the people included who may be recognised, at 5 % false positives.")  # fmt: skip
@click.option("--rare", type=float, default=0.05, show_default=True, help="Alleles of a smaller share stay out.")
@click.option("--sites", metavar="N,N", help="Sites you want, from 1, most wanted first.  [default: spread evenly]")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A new folder.")
@format_option
def frequencies(
    policy_file: Path, source: str, column: str, power: float, rare: float, sites: str | None, out: Path, form: str
) -> None:
    """Release allele frequencies that hardly reveal who is included.

    Anyone who has a person's sequence can test whether that person is among those counted. Rare alleles stay out, and
    only as many sites are released as keep the strongest such test below --power. The bound is for everything ever
    released about the same people: choose once. The result is verified before anything is written; no site and no
    approval are needed.
    """
    policy = load_policy(policy_file)
    try:
        guard = FrequencyGuard(power, rare)
    except BadSequences as problem:
        raise ConfigError("QG806", problem.reason, problem.remedy) from None
    wanted = _numbers(sites) if sites is not None else None
    with new_folder(out) as staged, progress() as tell:
        made = release_frequencies(
            policy,
            open_source(source),
            column,
            staged,
            guard,
            wanted=wanted,
            base_dir=policy_file.parent,
            progress=tell,
        )
    print_record(
        {**asdict(made), "folder": str(out)},
        form,
        lambda: "\n".join(
            (
                f"Frequencies at {counted(made.released, 'site')} of {made.sites:,}; {made.people:,} people counted.",
                *made.words,
                f"See {out / 'frequencies.csv'}.",
            )
        ),
    )


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise ConfigError("QG806", "--sites is not a list of numbers.", "Write it as 146,263,750.")
    return list(map(int, parts))
