"""Commands for the upkeep of the log: anchor, ship, retain, which a serving site does by itself; seal, accept-clock."""

from __future__ import annotations

from pathlib import Path

import click

from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import explain_head, print_record
from querygate.cli.shared.shared_options import format_option, open_here, site_option
from querygate.control import ChainBroken, load_key
from querygate.control.ids import stamp_now
from querygate.control.log.archive_rotation import seal
from querygate.control.log.latest_time import CLOCK_ACCEPTED
from querygate.control.notifications.webhooks import NotSent
from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.site.health import clock_health
from querygate.site.log_anchors import anchor
from querygate.site.open_gate import now
from querygate.site.serving_tasks import retain, ship_log


@click.command("anchor", cls=Command, example="querygate log anchor")
@click.option("--anew", is_flag=True, help="Mark the log again if head.mark is missing or is an old copy.")
@format_option
@site_option
def anchor_command(anew: bool, form: str, site: Path) -> None:
    """Mark the end of the log outside the database, and wherever the settings anchor_* say.

    A control database that is behind its mark is an old copy: the site then refuses to serve and to spend budget.
    """
    mark, failures = anchor(open_here(site), anew=anew)
    for failure in failures:
        click.echo(f"Not sent: {failure}.", err=True)
    if mark is None:
        print_record({"marked": False}, form, lambda: "There is nothing new since the last mark.")
    else:
        told = {"marked": True, "entries": mark.entries, "head": mark.head, "time": mark.time}
        print_record(told, form, lambda: explain_head(mark.entries, mark.head))
    click.get_current_context().exit(1 if failures else 0)


@click.command("ship", cls=Command, example="querygate log ship")
@format_option
@site_option
def ship_command(form: str, site: Path) -> None:
    """Send entries that have not arrived yet to the receiver that the setting `siem` names.

    Answers are never sent, and statements only without the values in them unless `siem_literals` is set.
    """
    opened = open_here(site)
    if not opened.site.settings["siem"]:
        raise ConfigError(
            "QG805", "The setting `siem` names no receiver.", "Set it, for example to syslog+tcp://host:514."
        )
    try:
        sent = ship_log(opened)
    except NotSent as problem:
        raise ConfigError("QG804", f"Entries wait to be sent: {problem}.", "Check the receiver; try again.") from None
    print_record({"sent": sent}, form, lambda: f"Sent {counted(sent, 'entry', 'entries')}.")


@click.command("retain", cls=Command, example="querygate log retain")
@format_option
@site_option
def retain_command(form: str, site: Path) -> None:
    """Archive and delete old entries as the settings log_rotate_days and log_discard_days say. This is logged."""
    made, gone = retain(open_here(site), user=acting().name)
    told = {"archived": [one.name for one in made], "discarded": [one.name for one in gone]}
    text = f"Archived into {counted(len(made), 'new archive')}; discarded {counted(len(gone), 'old archive')}."
    print_record(told, form, lambda: text)


@click.command("seal", cls=Command, example="querygate log seal")
@format_option
@site_option
def seal_command(form: str, site: Path) -> None:
    """Sign archives that lack this site's signature, for example after log.key or files in logs/ were lost.

    First make sure that control.db is the right one. Anyone who can write to it can add archives that never existed.
    With your signature they count as real, and budget spent in them is forgotten.
    """
    opened = open_here(site)
    try:
        done = seal(opened.log, load_key(opened.site.folder), user=acting().name)
    except ChainBroken as broken:
        raise ConfigError("QG807", str(broken), "Restore the site from a backup: `querygate restore`.") from None
    told = {"signed": [one.name for one in done]}
    print_record(told, form, lambda: f"Signed {counted(len(done), 'archive')}.")


@click.command("accept-clock", cls=Command, example="querygate log accept-clock")
@format_option
@site_option
def accept_clock_command(form: str, site: Path) -> None:
    """Trust the machine's clock again, if the log has later times because the clock was wrong before.

    Keys and grants that had expired by the latest time in the log stay expired, even if the clock is set back. Run this
    only if the clock is right now: keys and grants that expire between now and that time become valid again.
    """
    opened = open_here(site)
    health = clock_health(opened)
    if not health.ok:
        opened.log.note(CLOCK_ACCEPTED, user=acting().name)
    print_record(
        {"accepted": not health.ok},
        form,
        lambda: (
            "The clock is not behind the log."
            if health.ok
            else f"The machine's clock is now trusted again: {stamp_now(now)}."
        ),
    )
