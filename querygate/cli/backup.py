"""Commands that take a site to another place or another version: backup, restore, migrate."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import click

from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import Command, load
from querygate.cli.shared.output import explain_head, print_record
from querygate.cli.shared.shared_options import format_option, site_option
from querygate.control.budgets.ledger_evidence import note_opening
from querygate.control.ids import stamp_now
from querygate.control.schema import MIGRATIONS
from querygate.core.count_text import counted
from querygate.site.backup import make_backup
from querygate.site.budget_evidence import open_ledger
from querygate.site.control_database import move_control, on_server
from querygate.site.folder_lock import alone, not_writable
from querygate.site.layout import Site, open_site
from querygate.site.open_gate import now, open_gate


@click.command(cls=Command, example="querygate backup /backup/gate-2026-03-01\nquerygate backup /backup/gate.tar.gz")
@click.argument("to", type=click.Path(path_type=Path))
@click.option("--vault", is_flag=True, help="Copy the vault too. It is raw data: protect the backup like the source.")
@format_option
@site_option
def backup(to: Path, vault: bool, form: str, site: Path) -> None:
    """Copy the site to a new folder or archive (.tar, .tar.gz) while it is being served.

    The copy has the settings, the log and its archives, accounts, budgets, the store and released extracts, each file
    with its SHA-256. Without --vault it has no raw rows.
    """
    opened = open_gate(open_site(site))
    opened.log.note("site.backup", user=acting().name, body={"vault": vault})
    made = make_backup(opened.site, to, vault=vault)
    told = {"backup": str(to), "files": len(made.files), "entries": made.entries, "head": made.head, "vault": vault}
    print_record(
        told,
        form,
        lambda: (
            f"Wrote {to}: {counted(len(made.files), 'file')}{' with raw rows' if vault else ''}.\n"
            f"{explain_head(made.entries, made.head)}"
        ),
    )


@click.command(
    cls=Command,
    example="querygate restore /backup/gate.tar.gz --check\nquerygate restore /backup/gate.tar.gz --log log.jsonl\n"
    "querygate restore --write-off all",
)
@click.argument("source", required=False, metavar="[FROM]", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--log",
    "logs",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A later export or archive of the log. Repeat it for several, in their order.",
)
@click.option("--write-off", metavar="all|EPSILON", help="Budget that may have been spent since the backup.")
@click.option("--check", is_flag=True, help="Verify everything, and change nothing.")
@format_option
@site_option
def restore(
    source: Path | None, logs: tuple[Path, ...], write_off: str | None, check: bool, form: str, site: Path
) -> None:
    """Restore the site from a backup, without forgetting what was spent since.

    The backup is verified first. Entries it lacks are added from the site's present log and from --log, with the budget
    they spent. Where later entries may be missing, --write-off says how much budget counts as spent. The previous
    folder is kept beside it. Without FROM, a control database that was restored by hand is brought up to date.
    """
    job = load("querygate.custody.use_cases.restore_site:RestoreWish")(tuple(logs), _amount(write_off), check)
    if source is not None:
        done = load("querygate.custody.use_cases.restore_site:restore_site")(source, site, job, user=acting().name)
    elif not logs and write_off is None:
        raise click.UsageError("Name a backup, or give --log or --write-off for the site as it is.")
    elif check:
        raise click.UsageError("--check needs a backup.")
    else:
        done = load("querygate.custody.use_cases.restore_site:amend_site")(site, job, user=acting().name)
    told = {**asdict(done), "kept": None if done.kept is None else str(done.kept), "checked": check}
    lines = ["The backup is sound, and nothing was changed." if check else f"Restored {site}."]
    lines += [f"Added {counted(done.added, 'later entry', 'later entries')}, with {counted(done.spends, 'spend')}."]
    lines += [f"Written off: epsilon {one.epsilon:g} of {one.kind} {one.name}." for one in done.written_off]
    lines += [f"Not repeated, please check: {kind} ({number})." for kind, number in sorted(done.undone.items())]
    lines += [f"The previous files are kept in {done.kept}."] if done.kept else []
    lines += [] if check else [explain_head(done.entries, done.head)]  # a drill writes no log that would end there
    print_record(told, form, lambda: "\n".join(lines))


def _amount(text: str | None) -> str | float | None:
    if text is None or text == "all":
        return text
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 <= amount <= 1000:
        raise click.BadParameter("Write all, or an epsilon from 0 to 1000.", param_hint="--write-off")
    return amount


@click.command(cls=Command, example="querygate migrate")
@click.option(
    "--backup", "to", type=click.Path(path_type=Path), help="Where the backup goes.  [default: beside the site]"
)
@format_option
@site_option
def migrate(to: Path | None, form: str, site: Path) -> None:
    """Bring the control database up to date with this version of QueryGate, after a backup of the site.

    Where the setting `control` names a server that holds nothing yet, everything in control.db moves there. To go back,
    install the previous version, or take the setting back, and restore that backup.
    """
    found = open_site(site)
    if found.settings["control"]:
        _migrate_to_server(found, to, form)
        return
    try:
        with closing(sqlite3.connect(f"{found.control.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            before = int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.OperationalError:
        raise not_writable() from None
    if before >= len(MIGRATIONS):
        open_gate(found).log.database.close()  # which refuses a newer one
        print_record({"migrated": False, "schema": before}, form, lambda: f"Already up to date (schema {before}).")
        return
    to = to or _beside(found)
    with alone(found.folder):
        make_backup(found, to)
        opened = open_gate(found)
        opened.log.note("site.migrate", user=acting().name, body={"from": before, "to": len(MIGRATIONS)})
        if not found.settings["budgets"]:
            note_opening(opened.log, open_ledger(opened))
    told = {"migrated": True, "from": before, "schema": len(MIGRATIONS), "backup": str(to)}
    print_record(
        told,
        form,
        lambda: (
            f"Migrated from schema {before} to {len(MIGRATIONS)}. To go back, restore {to} with the previous version.\n"
            "Run `querygate doctor` next: it lists what is left for you to decide."
        ),
    )


def _migrate_to_server(site: Site, to: Path | None, form: str) -> None:
    if on_server(site).version() is not None:
        open_gate(site).log.database.close()  # which refuses another version
        print_record({"migrated": False, "schema": len(MIGRATIONS)}, form, lambda: "Already on the server, up to date.")
        return
    to = to or _beside(site)
    with alone(site.folder):
        make_backup(site, to)
        move_control(site)
        opened = open_gate(site)
        opened.log.note("site.migrate", user=acting().name, body={"to": "postgresql"})
        end = opened.log.head()
    told = {"migrated": True, "schema": len(MIGRATIONS), "entries": end.entries, "backup": str(to)}
    print_record(
        told,
        form,
        lambda: (
            f"Moved control.db to the server: {counted(end.entries, 'entry', 'entries')} in the log. To go back, take "
            f"the setting `control` back and restore {to}."
        ),
    )


def _beside(site: Site) -> Path:
    """Where a backup goes if nobody says."""
    folder = site.folder.absolute()
    return folder.with_name(f"{folder.name}.backup-{stamp_now(now)[:19].replace(':', '')}")
