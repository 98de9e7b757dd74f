"""The auditor beside the gate: audit watch."""

from __future__ import annotations

import json
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import print_csv
from querygate.cli.shared.shared_options import format_option, open_here, site_option
from querygate.control.alerts import Alerts
from querygate.control.notifications.mail import mail_by
from querygate.control.notifications.outbox import MAIL, WEBHOOK, deliver
from querygate.control.notifications.webhooks import post_to
from querygate.custody.use_cases.audits.live_audit import LiveAudit, explain_alert, write_alert
from querygate.site.encryption_key import webhook_secret

if TYPE_CHECKING:
    from querygate.custody.use_cases.audits.live_audit import Alert

COLUMNS = ("id", "time", "view", "user", "query", "with", "rule", "records")

EXAMPLE = """\
querygate audit watch --dataset patients
querygate audit watch --dataset patients --once --format jsonl --webhook https://example.org/hook
querygate audit watch --dataset patients --email-command 'sendmail custodian@example.org'"""


def read_command(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str]:
    """The command as a list of words, as a shell would read it; no shell is ever started."""
    try:
        return shlex.split(value or "")
    except ValueError:
        raise click.BadParameter("A quotation mark is not closed.") from None


@click.command("watch", cls=Command, example=EXAMPLE)
@click.option("--dataset", required=True, metavar="NAME", help="Dataset whose queries to watch.")
@click.option("--webhook", metavar="URL", help="Post each alert to this address as JSON (http or https).")
@click.option(
    "--email-command",
    metavar="CMD",
    callback=read_command,
    help="Pass each alert to this command, as an e-mail message.",
)
@click.option("--once", is_flag=True, help="Check once, send pending alerts, and exit.")
@click.option(
    "--interval",
    type=click.FloatRange(0.1, 86_400),
    metavar="S",
    default=5.0,
    help="Seconds between checks.  [default: 5]",
)
@format_option
@site_option
def watch_command(
    dataset: str,
    webhook: str | None,
    email_command: list[str],
    once: bool,
    interval: float,
    form: str,
    site: Path,
) -> None:
    """Follow the site's log and report at once which answers single people out.

    Run this as the custodian: it reads the vault. Alerts name queries, users and numbers of records, never values. It
    continues where the last watch stopped, however it stopped. Alerts that cannot be sent are kept, and the exit code
    is 1. With --once it is 1, too, if no new query could be audited, and 3 if the auditor failed on one.
    """
    opened = open_here(site)
    channels = {WEBHOOK: post_to(webhook, webhook_secret(opened.site.settings))} if webhook else {}
    channels |= {MAIL: mail_by(email_command, write_alert)} if email_command else {}
    alerts = Alerts(opened.log.database, opened.log)
    watching = LiveAudit(opened, dataset, user=acting().name, channels=tuple(channels))
    if form == "csv":
        print_csv(COLUMNS, ())
    while True:
        seen = watching.look()
        for alert in seen.alerts:
            show(alert, form)
        for query, why in seen.unread:
            click.echo(f"{query} could not be audited: {why}", err=True)
        failures = deliver(alerts, channels)
        for channel, waiting, why in failures:
            click.echo(f"{channel}: {why}. Still to be sent: {waiting:,}.", err=True)
        if once:
            audited = seen.queries - len(seen.unread)
            if form == "table":
                missed = f" ({len(seen.unread):,} could not be audited)" if seen.unread else ""
                click.echo(f"New queries: {seen.queries:,}{missed}. Alerts: {len(seen.alerts):,}.")
            nothing = bool(seen.queries) and not audited
            click.get_current_context().exit(3 if seen.incidents else 1 if failures or nothing else 0)
        time.sleep(interval)


def show(alert: Alert, form: str) -> None:
    """One alert: a sentence, or a line of JSON or CSV."""
    if form == "table":
        click.echo(f"{alert['time']}  {explain_alert(alert)}")
    elif form == "csv":
        print_csv(None, [[alert[name] for name in COLUMNS]])
    else:
        click.echo(json.dumps(dict(alert), ensure_ascii=False))
