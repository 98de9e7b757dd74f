"""Reports of the auditor that need no raw data: audit replay, audit store, audit users."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from querygate.cli.log import read_moment
from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import print_json, print_records, print_table, progress
from querygate.cli.shared.shared_options import format_option, open_here, site_option
from querygate.core.count_text import counted
from querygate.core.json_body import JsonValue, to_json
from querygate.custody.evidence.intent_score import Intent
from querygate.custody.evidence.replay import Replay
from querygate.custody.evidence.store_weakness import DOMINATED, NARROW
from querygate.custody.evidence.view_differences import ViewsTold
from querygate.custody.use_cases.audits.evidence_reports import StoreReport, replay_site, report_store, report_users

since_option = click.option("--since", metavar="TIME", callback=read_moment, help="From this date or time (UTC).")
dataset_option = click.option("--dataset", metavar="NAME", help="Only queries to this dataset.")

STEP = 100
INTENT = ("user", "level", "score", "busiest_hour", "queries", "refusals", "disclosing", "near", "rewordings", "rare")
LEGEND = """
score: points in the busiest hour; raised from 20, high from 60.  disclosing: refusals for disclosure.
near: differs from the previous query only in constants.  rewordings: the same question in other words.
rare: about one class at most."""


@click.command("replay", cls=Command, example="querygate audit replay --dataset patients --since 2026-03-01")
@dataset_option
@since_option
@format_option
@site_option
def replay_command(dataset: str | None, since: datetime | None, form: str, site: Path) -> None:
    """Prove that answers come only from the store: recompute every logged answer and compare it byte for byte.

    The vault is not used. The exit code is 1 if any answer differs. Answers from an earlier QueryGate that are only
    wider than those computed now are counted separately.
    """
    opened = open_here(site)
    with progress() as tell:
        found = replay_site(
            opened,
            user=acting().name,
            dataset=dataset,
            since=since,
            progress=lambda done: tell(f"replaying, {done:,} answers") if done % STEP == 0 else None,
        )
    _print_replay(found, form)
    click.get_current_context().exit(1 if found.different else 0)


def _print_replay(found: Replay, form: str) -> None:
    differences = [asdict(one) for one in found.different]
    gone = [{"dataset": d, "version": v, "answers": n} for (d, v), n in sorted(found.gone.items())]
    if form == "json":
        counts = {"answers": found.answers, "same": found.same, "sharper": found.sharper, "noisy": found.noisy}
        print_json({**counts, "different": differences, "versions_gone": gone})
        return
    if form != "table":
        print_records(differences, form, columns=("query_id", "dataset", "version", "where"))
        return
    click.echo(f"{counted(found.answers, 'answer')}: {found.same:,} the same, {len(differences):,} different.")
    if found.sharper:
        click.echo(
            f"{counted(found.sharper, 'answer was', 'answers were')} wider than the range computed now. "
            "An earlier QueryGate gave them; wider answers of this one count as different."
        )
    if found.noisy:
        click.echo(f"{counted(found.noisy, 'answer is', 'answers are')} noisy and cannot be recomputed.")
    for (dataset, version), answers in sorted(found.gone.items()):
        click.echo(f"{dataset}, version {version}: {counted(answers, 'answer')}, but it no longer exists.")
    if differences:
        click.echo()
        print_records(differences, form, columns=("query_id", "dataset", "version", "where"))


@click.command("store", cls=Command, example="querygate audit store patients --version 3")
@click.argument("dataset")
@click.option("--version", type=click.IntRange(1), metavar="N", help="Which version.  [default: the served one]")
@format_option
@site_option
def store_command(dataset: str, version: int | None, form: str, site: Path) -> None:
    """Report what a published version itself reveals, and how much of it each user has read.

    This uses only the store and the log. Refusing questions does not fix a weakness found here; publish a new version.
    """
    report = report_store(open_here(site), dataset, version, user=acting().name)
    columns = [{key: value for key, value in to_json(one).items() if key != "weakest"} for one in report.columns]
    if form == "json":
        print_json(to_json(report))
    elif form == "table":
        _print_store(report)
    else:
        print_records(columns, form, columns=list(columns[0]) if columns else ("column",))


def _print_store(report: StoreReport) -> None:
    click.echo(
        f"{report.dataset}, version {report.version}: {counted(report.classes, 'class', 'classes')} of at least "
        f"{report.k} {'people' if report.views else 'records'}.\n"
    )
    if report.views is not None:
        _print_views(report.views, report.k)
    shown = [
        {**to_json(one), "largest_share": f"{one.largest_share:.0%}", "narrowest": f"{one.narrowest:g}"}
        for one in report.columns
    ]
    headings = ("column", "one_value", "narrow", "narrowest", "dominated", "largest_share")
    print_records(shown, "table", columns=headings, empty="No column is sensitive.")
    click.echo(
        "\none_value: classes whose members all have the same known value."
        f"\nnarrow: values within {NARROW:.0%} of the domain, or only one possible value."
        f"\ndominated: more than {DOMINATED:.0%} of a class share one published value."
    )
    for column in report.columns:
        rows = [[one.known, f"{one.records:,}", one.published, f"{one.share:.0%}"] for one in column.weakest]
        click.echo(f"\nWeakest classes of {column.column}")
        print_table(("known", "records", "published", "largest share"), rows)
    users = [[name, f"{count:,}", f"{count / max(report.classes, 1):.0%}"] for name, count in report.read_out.items()]
    click.echo()
    if users:
        print_table(("user", "classes read", "share"), users)
    else:
        click.echo("Nobody has queried this version yet.")


def _print_views(views: ViewsTold, k: int) -> None:
    rows = [
        [", ".join(one.quasi), ", ".join(one.sensitive) or "counts", f"{one.classes:,}", f"{one.smallest:,}"]
        for one in views.margins
    ]
    print_table(("view", "about", "classes", "smallest"), rows)
    told = (
        ""
        if views.difference is None
        else f" Classes of two views, alone or subtracted from each other, are about {views.difference:,} or more "
        "records."
    )
    click.echo(
        f"\n{counted(views.frames, 'frame cell')}.{told}"
        f"\nThat no sum or difference of figures is about fewer than {k} people was verified on the raw rows when the"
        "\nversion was published. The store cannot show it: it does not say how many people two classes share.\n"
    )


@click.command("users", cls=Command, example="querygate audit users --since 2026-03-01")
@dataset_option
@since_option
@format_option
@site_option
def users_command(dataset: str | None, since: datetime | None, form: str, site: Path) -> None:
    """Score users whose queries look like probing. A high score is a reason to look and to talk, not proof.

    Points in the busiest hour: refusal 1 (for disclosure 5), near duplicate 1, rewording 2, rare condition 3. Raised
    from 20, high from 60.
    """
    found = report_users(open_here(site), user=acting().name, dataset=dataset, since=since)
    print_records([_intent(one) for one in found], form, columns=INTENT, empty="Nobody has sent a query yet.")
    if form == "table" and found:
        click.echo(LEGEND)


def _intent(one: Intent) -> dict[str, JsonValue]:
    return {
        "user": one.user,
        "level": one.level,
        "score": one.score,
        "busiest_hour": one.busiest,
        "queries": one.queries,
        "refusals": one.refusals,
        "disclosing": one.disclosing,
        "near": one.near,
        "rewordings": one.rewordings,
        "rare": one.rare,
    }
