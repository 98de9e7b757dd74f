"""Commands that end something: withdraw a dataset, erase raw rows from the vault."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from querygate.cli.dataset import remind_of_copy
from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import Command, CommandGroup
from querygate.cli.shared.output import print_record
from querygate.cli.shared.shared_options import format_option, open_here, site_option
from querygate.core.count_text import counted
from querygate.custody.use_cases.withdraw_dataset import (
    Withdrawal,
    check_erasable,
    erasable,
    erase_rows,
    withdraw_dataset,
)


@click.command(cls=Command, example="querygate withdraw patients")
@click.argument("dataset")
@format_option
@site_option
def withdraw(dataset: str, form: str, site: Path) -> None:
    """Take DATASET out of service at once.

    Queries are refused from now on (QG312), and so are builds and releases of extracts. Nothing is erased: the output
    says what remains, and how to erase it. Only --reinstate, with `publish` or `rollback`, serves the dataset again.
    """
    opened = open_here(site)
    done = withdraw_dataset(opened, dataset, user=acting().name)
    print_record(asdict(done), form, lambda: explain_withdrawal(done))
    remind_of_copy(opened)


def explain_withdrawal(done: Withdrawal) -> str:
    """What is no longer there, what is, and how to end that too."""
    name = done.dataset
    before = (
        "It is not known which version was served" if done.version is None else f"Version {done.version} was served"
    )
    lines = [f"{name}: withdrawn. {before} until now; queries are refused with QG312.", ""]
    lines.append("What remains, and how to erase it")
    lines += [f"  version {version} in the store: querygate retire {name} {version}" for version in done.versions]
    if done.in_vault:
        listed = " ".join(map(str, done.in_vault))
        lines.append(f"  raw rows in the vault, once retired: querygate vault erase {name} {listed}")
    lines += [f"  an extract that can be fetched or released: querygate export revoke {one}" for one in done.extracts]
    lines.append(f"  the log, with {counted(done.answers, 'answer')}: it stays, and those who asked know their answers")
    if done.noisy_answers:
        lines.append(f"  the budget that {counted(done.noisy_answers, 'noisy answer')} used: it stays spent")
    lines += ["  copies elsewhere (backups, the source): yours to erase", ""]
    again = "VERSION" if done.version is None else done.version
    return "\n".join([*lines, f"To serve it again: querygate rollback {name} {again} --reinstate"])


@click.group(cls=CommandGroup)
def vault() -> None:
    """Manage the raw rows of published versions."""


@vault.command("erase", example="querygate vault erase patients 1 2")
@click.argument("dataset")
@click.argument("versions", metavar="[VERSION]...", nargs=-1, type=click.IntRange(1))
@click.option("--yes", is_flag=True, help="Do not ask.")
@format_option
@site_option
def erase(dataset: str, versions: tuple[int, ...], yes: bool, form: str, site: Path) -> None:
    """Erase the raw rows of retired versions of DATASET from the vault (default: of all retired versions).

    `audit run` and `audit watch` need the raw rows of a version to find out whom its answers single out. Without them
    these answers can no longer be audited. The entries in the log stay.
    """
    opened = open_here(site)
    wanted = tuple(sorted(set(versions))) or erasable(opened, dataset)
    if not wanted:
        click.echo(f"The vault has no raw rows of retired versions of {dataset}.", err=True)
        return
    check_erasable(opened, dataset, wanted)
    listed = f"version{'s' * (len(wanted) > 1)} {', '.join(map(str, wanted))}"
    if not yes:
        click.echo("Answers given from a version can no longer be audited once its raw rows are erased.", err=True)
        click.confirm(f"Erase the raw rows of {listed} of {dataset}?", abort=True, err=True)
    erase_rows(opened, dataset, wanted, user=acting().name)
    done = {"dataset": dataset, "erased": list(wanted)}
    print_record(done, form, lambda: f"{dataset}: the raw rows of {listed} are erased. Backups are yours to erase.")
