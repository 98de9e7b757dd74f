"""Commands about privacy budgets: what is left, what statements cost, what an epsilon is worth; and their ledger."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal
from pathlib import Path

import click

from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import CommandGroup
from querygate.cli.shared.output import print_record, print_records
from querygate.cli.shared.shared_options import format_option, open_here, site_option
from querygate.core.count_text import counted
from querygate.core.types import QueryOptions, Request
from querygate.custody.use_cases.diffprivlib_ledger import second_account_of
from querygate.custody.use_cases.open_custody import with_vault
from querygate.gate.answer import read_budget
from querygate.gate.dry_run import check
from querygate.gate.query_state import NOISY
from querygate.methods.dp import DEFAULT, MECHANISMS, explain_accuracy, needed_epsilon
from querygate.site.budget_evidence import rebuild_ledger
from querygate.sql.parse import statements


@click.group(cls=CommandGroup)
def budget() -> None:
    """Show privacy budgets of noisy answers, and put their ledger right."""


@budget.command("show", example="querygate budget show --dataset patients")
@click.option("--dataset", required=True, metavar="NAME", help="Dataset whose budget to show.")
@format_option
@site_option
def budget_show(dataset: str, form: str, site: Path) -> None:
    """Show what has been spent on a dataset, by whom, and what is left."""
    opened = open_here(site)
    told = read_budget(acting(), dataset, with_vault(opened).gate)
    spent = told["spent"]
    if form in ("csv", "jsonl"):
        print_records(spent, form, columns=("whose", "name", "epsilon", "releases"))
        return
    lines = [f"{told['dataset']}: {told['left']['dataset']:g} of {told['limits']['dataset']:g} left."]
    lines += [
        f"  {one['whose']:8} {one['name']:20} {one['epsilon']:g} in {counted(one['releases'], 'answer')}"
        for one in spent
    ]
    second = second_account_of(opened, dataset)
    lines += [f"Second account ({second.by}): {second.explained()}"] if second else []
    body = {**told, "second_account": asdict(second)} if second else told
    print_record(body, form, lambda: "\n".join(lines))


@budget.command("price", example="querygate budget price questions.sql --dataset patients")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--dataset", required=True, metavar="NAME", help="Dataset to query.")
@format_option
@site_option
def budget_price(file: Path, dataset: str, form: str, site: Path) -> None:
    """Show what the statements in a file (separated by semicolons) would cost, each and in total. Nothing is run."""
    try:
        asked = statements(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise click.BadParameter("The file is not UTF-8.", param_hint="FILE") from None
    if not asked:
        raise click.BadParameter("The file contains no statement.", param_hint="FILE")
    gate, found = with_vault(open_here(site)).gate, []
    for number, sql in enumerate(asked, 1):
        verdict = check(Request(acting(), dataset, sql, QueryOptions(NOISY)), gate)
        found.append({"statement": number, "epsilon": verdict["cost"]["epsilon"], "groups": verdict["groups_at_most"]})
    print_records(found, form, columns=("statement", "epsilon", "groups"))
    if form == "table":
        total = sum(Decimal(repr(one["epsilon"])) for one in found)
        what = counted(len(found), "statement costs", "statements cost")
        click.echo(f"\n{what} epsilon {total} in total, minus what has been answered before.")


@budget.command(
    "preview",
    example="querygate budget preview --epsilon 0.1 --count 400\nquerygate budget preview --within 30",
)
@click.option(
    "--epsilon", type=click.FloatRange(0, 100, min_open=True), metavar="E", help="Epsilon that one answer may cost."
)
@click.option(
    "--within", type=click.FloatRange(0, min_open=True), metavar="N", help="Precision that an answer must have."
)
@click.option("--count", type=click.IntRange(0), default=400, show_default=True, metavar="N", help="A count to expect.")
@click.option("--rows-per-person", type=click.IntRange(1), default=1, show_default=True, metavar="N")
@click.option(
    "--delta", type=click.FloatRange(0, 0.001), default=0.0, metavar="D", help="Delta, for a Gaussian mechanism."
)
@click.option("--mechanism", type=click.Choice(sorted(MECHANISMS.names())), default=DEFAULT, show_default=True)
def budget_preview(
    epsilon: float | None, within: float | None, count: int, rows_per_person: int, delta: float, mechanism: str
) -> None:
    """Show how precise noisy counts would be, before you choose an epsilon for a policy. No data is needed."""
    if (epsilon is None) == (within is None):
        raise click.UsageError("Use either --epsilon or --within.")
    try:
        if within is not None:
            epsilon = needed_epsilon(within, sensitivity=rows_per_person, delta=delta, mechanism=mechanism)
            click.echo(f"epsilon = {epsilon:g}")
        told = explain_accuracy(
            count, float(epsilon or 0), sensitivity=rows_per_person, delta=delta, mechanism=mechanism
        )
    except ValueError as problem:
        raise click.UsageError(f"{str(problem).capitalize()}.") from None
    click.echo(f"{told[:1].upper()}{told[1:]}.")


@budget.command("rebuild", example="querygate budget rebuild")
@format_option
@site_option
def budget_rebuild(form: str, site: Path) -> None:
    """Rebuild the ledger of privacy budgets from the log, if the two disagree.

    The log is verified first. Every spend in it is entered again, and nothing is given back. The differences are
    logged. While the two disagree, there are no noisy answers. To count more as spent than the log has, see `querygate
    restore --write-off`.
    """
    done = rebuild_ledger(open_here(site), user=acting().name)
    told = {"rebuilt": bool(done.wrong), **asdict(done)}
    lines = [f"The ledger has {counted(done.spends, 'spend')}, as the log says."]
    if done.wrong:
        lines = [
            f"Rebuilt the ledger from the log: {counted(done.spends, 'spend')}.",
            *(f"- {one}" for one in done.wrong),
        ]
    if done.answers_removed:
        lines += [f"Removed {counted(done.answers_removed, 'noisy answer')} that nobody had paid for."]
    print_record(told, form, lambda: "\n".join(lines))
