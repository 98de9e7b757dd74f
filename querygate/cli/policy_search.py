"""Commands about release policies: policy search, policy safe-harbor, policy limited-data-set.

What reads raw data is imported inside the commands, as for `publish`.
"""

from __future__ import annotations

from pathlib import Path

import click

from querygate.cli.policy import write_new
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import print_json, print_record, print_records, progress
from querygate.cli.shared.shared_options import F, check_new, format_option, new_folder
from querygate.core.errors import ConfigError
from querygate.core.json_body import to_json
from querygate.custody.policy.policy_file import PolicyFile
from querygate.custody.policy.release_requirements import FORM, Requirement, read_requirement
from querygate.custody.policy_search import Decision
from querygate.custody.policy_search.alternatives_search import SearchOptions
from querygate.custody.policy_search.search_report import SearchReport
from querygate.custody.policy_search.unequal_interest import FORM as WHOM
from querygate.custody.policy_search.unequal_interest import Interest, read_interest
from querygate.custody.use_cases.release_policies import (
    Register,
    limited_data_set_of,
    no_population,
    safe_harbor_of,
    search_policies,
    this_year,
    write_search,
)

HARBOR = "safe-harbor"


def _read_threshold(ctx: click.Context, param: click.Parameter, given: str) -> float | str:
    if given == HARBOR:
        return given
    try:
        number = float(given)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1:
        raise click.BadParameter(f"Write {HARBOR}, or a risk above 0 and at most 1.")
    return number


def _population_options(command: F) -> F:
    options = (
        click.option("--population", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                     help="A table of people.  [default: the one in [release] or [k_map] of the policy]"),
        click.option("--count", metavar="COLUMN", default="", help="Column with the number of people per row."),
        click.option("--columns", metavar="A,B", default="", help="Quasi-identifiers in the table.  [default: all]"),
        click.option("--year", type=click.IntRange(1900, 2999), metavar="YEAR", help="Of the release.  [default: now]"),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


_policy_option = click.option("--policy", "policy_file", required=True, help="Policy file (TOML).",
                              type=click.Path(path_type=Path, dir_okay=False, exists=True))  # fmt: skip


@click.command(
    cls=Command,
    example="querygate policy search --policy patients.toml --source patients.csv \\\n"
    "  --population county.csv --count people --out alternatives",
)
@_policy_option
@click.option(
    "--source", required=True, metavar="SOURCE", help="A file, or any source that `querygate publish` accepts."
)
@_population_options
@click.option("--threshold", default=HARBOR, metavar="RISK", callback=_read_threshold,
              help="Acceptable average risk: safe-harbor or a number.  [default: safe-harbor]")  # fmt: skip
@click.option("--require", "required", multiple=True, metavar="LIMIT",
              help="What classes keep, such as 't-closeness(dx) <= 0.2'; repeatable.")  # fmt: skip
@click.option("--interest", "interests", multiple=True, metavar="COLUMN=VALUE:WEIGHT",
              help="Whom attackers look for more, such as 'dx=HIV:5'; repeatable.")  # fmt: skip
@click.option("--method", type=click.Choice(("bisecting", "directed")), default="bisecting", metavar="METHOD",
              help="bisecting, or directed (a random walk, for comparison).  [default: bisecting]")  # fmt: skip
@click.option("--iterations", type=click.IntRange(1, 100_000), default=100, help="Number of solutions.  [default: 100]")
@click.option("--kinds", type=click.IntRange(1, 100), default=6, help="Number of kinds to show.  [default: 6]")
@click.option(
    "--seed", type=click.IntRange(0), default=1, help="Random seed; other seeds find other solutions.  [default: 1]"
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER", help="A new folder.")
@format_option
def search(
    policy_file: Path,
    source: str,
    population: Path | None,
    count: str,
    columns: str,
    year: int | None,
    threshold: float | str,
    required: tuple[str, ...],
    interests: tuple[str, ...],
    method: str,
    iterations: int,
    kinds: int,
    seed: int,
    out: Path | None,
    form: str,
) -> None:
    """Find alternatives to Safe Harbor.

    This searches for policies under which the records are no easier to find in the population than under Safe Harbor,
    and shows a handful of different kinds. With --out it writes a report that an expert can sign, and a policy file for
    each kind.
    """
    given = PolicyFile.read(policy_file)
    register = Register.named(given, str(population or ""), count, _names(columns))
    if register is None:
        raise no_population()
    check_new(out)
    limits = tuple(_requirement(text, given) for text in dict.fromkeys(required))
    keen = tuple(_interest(text, given) for text in dict.fromkeys(interests))
    options = SearchOptions(threshold, iterations, kinds, seed, year or this_year(), method, limits, keen)
    with progress() as tell:
        found = search_policies(given, source, register, options, progress=tell)
        report = found.report
        if out is not None:
            with new_folder(out) as folder:
                report = write_search(given, register, found, options, folder)
    print_record(to_json(report), form, lambda: _told(report, out))


@click.command(
    "safe-harbor", cls=Command, example="querygate policy safe-harbor --policy patients.toml --out safe_harbor.toml"
)
@_policy_option
@_population_options
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="New file to write.")
@format_option
def safe_harbor(
    policy_file: Path, population: Path | None, count: str, columns: str, year: int | None, out: Path | None, form: str
) -> None:
    """Apply Safe Harbor to a policy.

    Columns that look like one of the 18 kinds of identifiers are left out, ZIP codes keep three digits, dates keep the
    year, and ages of 90 and over become one cell. What a column contains is guessed from its name; check each one.
    """
    given = PolicyFile.read(policy_file)
    register = Register.named(given, str(population or ""), count, _names(columns))
    folder = out.parent if out is not None else policy_file.parent
    _print_preset(*safe_harbor_of(given, register, year or this_year(), folder), out, form)


@click.command(
    "limited-data-set",
    cls=Command,
    example="querygate policy limited-data-set --policy patients.toml --out limited.toml",
)
@_policy_option
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="New file to write.")
@format_option
def limited_data_set(policy_file: Path, out: Path | None, form: str) -> None:
    """Prepare a policy for limited data sets (45 CFR 164.514(e)).

    Columns that look like one of the 16 direct identifiers are left out; dates, ages, towns and ZIP codes may stay. The
    new table [limited_data_set] allows extracts of unchanged records, after approval and under a data use agreement.
    What a column contains is guessed from its name; check each one.
    """
    given = PolicyFile.read(policy_file)
    folder = out.parent if out is not None else policy_file.parent
    _print_preset(*limited_data_set_of(given, folder), out, form)


def _print_preset(text: str, decided: tuple[Decision, ...], out: Path | None, form: str) -> None:
    lines = [to_json(one) for one in decided]
    if out is not None:
        write_new(out, text)
    if form == "json":
        print_json({"policy": text, "columns": lines})
    elif form != "table" or out is not None:
        print_records(lines, form, columns=("column", "kind", "does"), empty="No column looks like an identifier.")
    else:
        click.echo(text, nl=False)


def _requirement(text: str, given: PolicyFile) -> Requirement:
    found = read_requirement(text, given.policy.columns)
    if found is None:
        raise ConfigError("QG801", f"--require does not understand {text!r}.", f"Write a limit {FORM}.")
    return found


def _interest(text: str, given: PolicyFile) -> Interest:
    found = read_interest(text, given.policy.columns)
    if found is None:
        raise ConfigError("QG801", f"--interest does not understand {text!r}.", f"Write it {WHOM}.")
    return found


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _told(body: SearchReport, out: Path | None) -> str:
    safe, intact = body.safe_harbor, body.intact
    lines = [
        *body.population.words,
        f"No change: risk {intact.risk:.3g}. Safe Harbor: {safe.risk:.3g} "
        f"({'; '.join(safe.rules) or 'no change'}). Threshold: {body.threshold:.3g}.",
        body.search.words,
        "",
    ]
    for number, kind in enumerate(body.kinds, 1):
        lines += [
            f"{number}  {'; '.join(kind.rules) or 'no change'}",
            f"   risk {kind.risk:.3g}, {kind.of_safe_harbor:.1%} of Safe Harbor and {kind.of_intact:.1%} of "
            f"the unchanged data; maximum {kind.greatest:.3g}; k-map {kind.k_map}; {kind.members} similar",
            *(f"   {limit}: {figure:.3g}" for limit, figure in kind.required.items()),
        ]
    return "\n".join([*lines, *(["", f"See {out / 'report.html'}."] if out is not None else [])])
