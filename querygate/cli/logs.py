"""Commands about the log: list, verify, export."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from querygate.cli.frame import Group, format_option, open_here, site_option
from querygate.cli.printing import print_record, print_records
from querygate.control import ChainBroken, Verified, verify_lines

COLUMNS = ("time", "user", "dataset", "version", "outcome", "code", "sql")
LONGEST_SQL = 80


def read_moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """A date or a time; in UTC unless it says otherwise."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise click.BadParameter("Write it as 2026-03-01 or 2026-03-01T12:30Z.") from None


def read_known(ctx: click.Context, param: click.Parameter, value: str | None) -> Verified | None:
    """What an earlier verification printed: entries, a colon, the head."""
    if value is None:
        return None
    entries, _, head = value.partition(":")
    if not entries.isdecimal() or len(head) != 64:
        raise click.BadParameter("Give the number of entries, a colon, and the hash of the last one.")
    return Verified(int(entries), head)


@click.group(cls=Group)
def log() -> None:
    """The append-only log of all that was asked and done."""


@log.command("list", example="querygate log list --since 2026-03-01 --user ann --format jsonl")
@click.option("--since", metavar="TIME", callback=read_moment, help="From this date or time on (UTC).")
@click.option("--user", metavar="NAME", help="Queries of this user only.")
@click.option("--dataset", metavar="NAME", help="Queries to this dataset only.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The latest so many.  [default: all]")
@format_option
@site_option
def list_log(
    since: datetime | None, user: str | None, dataset: str | None, limit: int | None, form: str, site: Path
) -> None:
    """List queries, oldest first."""
    entries = list(open_here(site).log.queries(since=since, user=user, dataset=dataset, limit=limit))
    if form == "table":
        entries = [{**entry, "sql": _shortened(entry["sql"])} for entry in entries]
    print_records(entries, form, columns=COLUMNS, empty="There are no such queries.")


@log.command("verify", example="querygate log verify\nquerygate log verify exported.jsonl --known 1200:5f0c...")
@click.argument("file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--known",
    metavar="ENTRIES:HEAD",
    callback=read_known,
    help="What an earlier verification printed; it must still hold.",
)
@format_option
@site_option
def verify_log(file: Path | None, known: Verified | None, form: str, site: Path) -> None:
    """Check the chain of the site's log, or of an exported FILE.

    Exit code 1 means that the log was altered. Note the printed head elsewhere: with --known, a log that was cut off
    or written anew shows too.
    """
    try:
        if file is None:
            verified = open_here(site).log.verify(known)
        else:
            with file.open(encoding="utf-8", errors="replace") as lines:
                verified = verify_lines(lines, known)
    except ChainBroken as broken:
        found, said = {"verified": False, "entry": broken.seq, "reason": broken.reason}, str(broken)
    else:
        found = {"verified": True, "entries": verified.entries, "head": verified.head}
        said = f"The log is unbroken.\n{verified.entries}:{verified.head}"
    print_record(found, form, lambda: said)
    click.get_current_context().exit(0 if found["verified"] else 1)


@log.command("export", example="querygate log export --out log.jsonl")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="A new file.  [default: standard output]")
@site_option
def export_log(out: Path | None, site: Path) -> None:
    """Write every entry as one line of JSON, chained: what `log verify FILE` reads."""
    opened = open_here(site)
    if out is None:
        opened.log.export(sys.stdout)
        return
    try:
        handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise click.UsageError(f"{out} is there already.") from None
    except OSError as error:
        raise click.UsageError(f"{out} cannot be written: {error.strerror}.") from None
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        opened.log.export(stream)
    click.echo(f"Wrote {out}.", err=True)


def _shortened(sql: str) -> str:
    text = " ".join(sql.split())
    return text if len(text) <= LONGEST_SQL else text[: LONGEST_SQL - 1] + "…"
