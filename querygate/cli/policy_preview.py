"""The command policy preview. What reads raw data is imported with it, as for `publish`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import click

from querygate.cli.shared.command import Command
from querygate.cli.shared.output import plain, print_json, print_records, print_table, progress
from querygate.cli.shared.shared_options import format_option
from querygate.core.count_text import counted
from querygate.core.json_body import to_json
from querygate.custody.policy.policy_file import PolicyFile
from querygate.custody.use_cases.policy_preview import (
    FEWER_RECORDS,
    RECORDS,
    RECORDS_OF_CLASSES,
    PolicyPreview,
    Preview,
    PreviewScale,
    begin_preview,
)
from querygate.custody.workload.preview_figures import (
    COLUMNS,
    FEWER_COLUMNS,
    FEWER_QUESTIONS,
    QUESTIONS,
    MeasuredEdit,
    OwnCost,
)
from querygate.custody.workload.usable_share import Standing, UsableShare

HEADINGS = ("change", "usable", "width")
LEGEND = """
usable   the share of counts, prevalences and means whose range is narrow enough to print, before and after the change;
         if a column is left out, among questions that are not about it
width    the median width of their ranges: at 1 it could just be printed, at 3 it is three times too wide
"""


@click.command("preview", cls=Command, example="querygate policy preview --policy patients.toml --source patients.csv")
@click.option("--policy", "policy_file", required=True, help="Policy file (TOML).",
              type=click.Path(path_type=Path, dir_okay=False))  # fmt: skip
@click.option(
    "--source", required=True, metavar="SOURCE", help="A file, or any source that `querygate publish` accepts."
)
@click.option("--records", type=click.IntRange(1), metavar="N",
              help=f"Use up to N records, whole persons.  [default: {RECORDS}, of several views "
                   f"{FEWER_RECORDS}, of classes {RECORDS_OF_CLASSES}]")  # fmt: skip
@click.option("--questions", type=click.IntRange(1, 100_000), metavar="N",
              help=f"Questions to ask for each change.  [default: {QUESTIONS}, of several views "
                   f"{FEWER_QUESTIONS}]")  # fmt: skip
@click.option("--columns", type=click.IntRange(1), metavar="N",
              help=f"Sensitive columns to ask about, for views.  [default: {COLUMNS}, of several views "
                   f"{FEWER_COLUMNS}]")  # fmt: skip
@format_option
def preview_policy(
    policy_file: Path, source: str, records: int | None, questions: int | None, columns: int | None, form: str
) -> None:
    """Measure what a policy costs, before publishing.

    The command builds a trial version from the policy and asks it what an ordinary paper would ask. It does the same
    for changes of the policy: another k, without each quasi-identifier, with half of each guard, without each rule,
    with more detail, with views or classes instead, with other views. The figures of the policy itself are printed as
    soon as they are ready. The three changes that would help most are printed as tables to paste into the file. A large
    table is measured on a sample, which makes less usable than the full table would: compare changes with each other.
    Nothing is published, and no site is needed. The figures depend on the raw data: they are for the custodian only.
    """
    file = PolicyFile.read(policy_file)
    scale = PreviewScale.of(file.policy, records, questions, columns)
    with progress(elsewhere=False) as tell:
        measured = begin_preview(file, source, scale, tell)
        own = measured.of_policy(tell)
    if form == "table":
        tell_own(measured, own)
    with progress(elsewhere=False) as tell:
        found = measured.of_changes(own, tell)
    if form == "json":
        print_json(to_json(found))
    elif form != "table":
        print_records(list(_rows(found)), form, columns=())
    else:
        tell_changes(found)


def _rows(found: PolicyPreview) -> Iterator[dict[str, Any]]:
    """A line for each change, the policy as it is first."""
    cost = found.cost
    yield _row("policy", "as it is", cost.own, cost.own)
    for part, lines in (("k", cost.by_k), ("cost", cost.costs), ("edit", cost.edits)):
        for one in lines:
            yield _row(part, one.name, one.before, one.after) | {"gives_up": one.gives_up, "toml": one.toml}


def _row(part: str, name: str, before: Standing, after: Standing) -> dict[str, Any]:
    return {
        "part": part,
        "change": name,
        "figures": after.figures,
        "usable_before": before.share,
        "usable_after": after.share,
        "width_before": before.width,
        "width_after": after.width,
        "problem": after.problem,
        "gives_up": "",
        "toml": "",
    }


def tell_own(measured: Preview, own: OwnCost) -> None:
    """What is there soon: the policy as it is."""
    click.echo(plain(_headline(f"{measured.policy.dataset}, k = {measured.policy.k}", own.standing)))
    for line in _measured_on(measured.sample.records, measured.sample.used, own):
        click.echo(plain(line))
    for one in own.rare:
        told = f"{one.column}: {counted(one.records, 'record')} without a value or with a rare one, hidden among others"
        instead = "" if measured.policy.views is None else f'; with frame = ["{one.column}"] in [views] it does not'
        click.echo(plain(f"{told}: that widens answers about it{instead}."))
    if shown := [one for one in own.shares if one.share is not None]:
        click.echo()
        print_table(("figure", "number", "usable"), [_share(one) for one in shown])


def tell_changes(found: PolicyPreview) -> None:
    cost = found.cost
    if found.whole is not None and found.whole.problem:
        click.echo(plain(f"\nFrom all records nothing can be published: {found.whole.problem}"))
    elif found.whole is not None and found.whole.share is not None:
        click.echo(f"\nOn all records {found.whole.share:.0%} of {counted(found.whole.figures, 'figure')} are usable.")
    for title, lines in (("Other k", cost.by_k), ("What each rule costs", cost.costs)):
        if lines:
            click.echo(f"\n{title}\n")
            print_table(HEADINGS, [[one.name, _change(one), _widths(one)] for one in lines])
    click.echo(LEGEND)
    problems = [one for one in (*cost.by_k, *cost.costs) if one.after.problem]
    for one in problems:
        click.echo(plain(f"{one.name} cannot be published: {one.after.problem}"))
    if problems:
        click.echo()
    _tell_edits(found)


def _headline(name: str, own: Standing) -> str:
    if own.problem:
        return f"{name} cannot be published: {own.problem}"
    if own.share is None:
        return f"{name}: there is nothing to ask about."
    width = "most have no bounds" if own.width is None else f"their median width is {own.width:.2g}"
    chance = f" (within {100 * own.error:.0f} points: questions are drawn)" if own.error else ""
    return f"{name}: {own.share:.0%} of {counted(own.figures, 'figure')} are usable{chance}, and {width}."


def _measured_on(records: int, used: int, own: OwnCost) -> Iterator[str]:
    if used == records:
        yield f"Measured on all {counted(records, 'record')}."
    else:
        yield (
            f"Measured on {used:,} of {counted(records, 'record')}, whole persons drawn by a fixed rule. With more "
            "records, more is usable: compare changes with each other."
        )
    if own.untried:
        views = " | ".join(", ".join(view) for view in own.untried)
        yield (
            f"The additional views ({views}) take long to certify and are left out here. They can only make ranges "
            "narrower."
        )
    if len(own.columns) < own.of_columns:
        yield f"Asked about {len(own.columns)} of {own.of_columns} sensitive columns: {', '.join(own.columns)}."


def _tell_edits(found: PolicyPreview) -> None:
    edits = found.cost.edits
    if not edits:
        click.echo("None of the edits tried would make more usable.")
        return
    click.echo("Edits that would help most. Each table replaces the one of the same name in the policy.")
    for place, one in enumerate(edits, start=1):
        lost = f"; gives up: {one.gives_up}" if one.gives_up else ""
        click.echo()
        click.echo(plain(f"{place}. {one.name}: {_change(one)}{lost}"))
        click.echo()
        click.echo(indent(pasteable(one.toml), "    "))


def pasteable(toml: str) -> str:
    """The same tables, without what a terminal would obey or hide.

    >>> print(pasteable('values = ["red\x9b31m"]'))
    values = ["red\\U0000009b31m"]
    """
    return "".join(c if c.isprintable() or c == "\n" else f"\\U{ord(c):08x}" for c in toml)


def _share(one: UsableShare) -> list[str]:
    return [one.name, f"{one.figures:,}", _percent(one.share)]


def _change(one: MeasuredEdit) -> str:
    after = "cannot be published" if one.after.problem else _percent(one.after.share)
    return f"{_percent(one.before.share)} -> {after}"


def _widths(one: MeasuredEdit) -> str:
    return "" if one.after.problem else f"{_width(one.before.width)} -> {_width(one.after.width)}"


def _percent(share: float | None) -> str:
    return "nothing" if share is None else f"{share:.0%}"


def _width(width: float | None) -> str:
    return "unbounded" if width is None else f"{width:.2g}"
