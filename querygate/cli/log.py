"""Commands about the log: list, verify, export, key, rotate, discard. Who looks is on record before it is shown."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from querygate.cli.log_upkeep import accept_clock_command, anchor_command, retain_command, seal_command, ship_command
from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import CommandGroup
from querygate.cli.shared.output import explain_head, print_record, print_records
from querygate.cli.shared.shared_options import F, format_option, new_file, open_here, site_option
from querygate.control import (
    ChainBroken,
    NotSigned,
    Segment,
    SignedStatement,
    VerifiedChain,
    export_signed,
    load_key,
    load_public_key,
    stamp,
    verify_lines,
)
from querygate.control.budgets.ledger_evidence import LedgerEvidence
from querygate.control.log.entry_chain import LogEvent
from querygate.control.log.entry_kinds import KINDS, is_of_kind, unknown_kind
from querygate.control.log.log_search import asked_models
from querygate.control.log.signature import PUBLIC
from querygate.core.json_body import JsonValue
from querygate.site.budget_evidence import compare_ledger, is_behind
from querygate.site.health import Health, mark_health
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite
from querygate.site.serving_tasks import archive_log, discard_archives

MODEL_REFUSED = "model refused"
"""Of a query that was answered, but whose model could not be computed from the answer."""

COLUMNS = ("time", "user", "dataset", "version", "outcome", "code", "sql")
EVENT_COLUMNS = ("seq", "time", "kind", "user", "dataset", "query_id", "body")
QUERIES, ALL = "queries", "all"
LONGEST_TEXT = 80
LEDGER_BROKEN = "The ledger of privacy budgets does not match the log:"


def read_moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """A date or a time; in UTC unless it says otherwise."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise click.BadParameter("Write it as 2026-03-01 or 2026-03-01T12:30Z.") from None


def read_known(ctx: click.Context, param: click.Parameter, value: str | None) -> VerifiedChain | None:
    """What an earlier verification printed: entries, a colon, the head."""
    if value is None:
        return None
    entries, _, head = value.partition(":")
    if not entries.isdecimal() or len(head) != 64:
        raise click.BadParameter("Give the number of entries, a colon, and the hash of the last entry.")
    return VerifiedChain(int(entries), head)


@click.group(cls=CommandGroup)
def log() -> None:
    """The append-only log of every query and every action."""


@log.command(
    "list",
    example="querygate log list --since 2026-03-01 --user ann --format jsonl\nquerygate log list --kind all --limit 20",
)
@click.option(
    "--kind",
    metavar="KIND",
    default=QUERIES,
    help="queries, all, or a kind of entry, such as publish, audit or user.add.  [default: queries]",
)
@click.option("--since", metavar="TIME", callback=read_moment, help="From this date or time (UTC).")
@click.option("--user", metavar="NAME", help="Only entries by this user.")
@click.option("--dataset", metavar="NAME", help="Only entries about this dataset.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only this many of the latest.  [default: all]")
@format_option
@site_option
def list_log(
    kind: str, since: datetime | None, user: str | None, dataset: str | None, limit: int | None, form: str, site: Path
) -> None:
    """List queries, or entries of other kinds, oldest first.

    A query is one line here, with its outcome. With --kind all, its intent and its outcome are separate entries, listed
    with publications, changes of users and keys, audits, and readings of this log.
    """
    opened = open_here(site)
    _check_kind(opened, kind)
    first = None if since is None else stamp(since)
    asked = {"since": first, "user": user, "limit": limit, "kinds": None if kind == QUERIES else kind}
    note_reading(opened, "log.read", dataset=dataset, **asked)
    if kind != QUERIES:
        events = deque(_events(opened, kind, first, user, dataset), maxlen=limit)
        records = [{**event, "body": _shortened(_about(event))} if form == "table" else {**event} for event in events]
        print_records(records, form, columns=EVENT_COLUMNS, empty=f"There are no matching entries of kind {kind}.")
        return
    entries = list(opened.log.queries(since=since, user=user, dataset=dataset, limit=limit))
    records = [{**entry} for entry in entries]
    if form == "table":
        models = asked_models(opened.log.database, user)
        refused = {key: (MODEL_REFUSED, model.code) for key, model in models.items() if model.code}
        for record, entry in zip(records, entries, strict=True):
            outcome, code = refused.get(entry["id"], (entry["outcome"], entry["code"]))
            record |= {"sql": _shortened(entry["sql"]), "outcome": outcome, "code": code}
    print_records(records, form, columns=COLUMNS, empty="There are no matching queries.")
    if form == "table":
        click.echo("Only queries are listed. --kind all adds publications, users, keys, audits and readings.", err=True)


def _check_kind(opened: OpenSite, kind: str) -> None:
    """Known, or at least in the log: an earlier release may have called it otherwise."""
    if kind in (QUERIES, ALL) or any(is_of_kind(known, kind) for known in KINDS):
        return
    if not any(is_of_kind(event["kind"], kind) for event in opened.log.events()):
        raise unknown_kind()


def _events(
    opened: OpenSite, kind: str, since: str | None, user: str | None, dataset: str | None
) -> Iterator[LogEvent]:
    """Entries of a kind, or of the family that its first word names."""
    for event in opened.log.events():
        if (
            (kind == ALL or is_of_kind(event["kind"], kind))
            and (since is None or event["time"] >= since)
            and (user is None or event["user"] == user)
            and (dataset is None or event["dataset"] == dataset)
        ):
            yield event


def _about(event: LogEvent) -> str:
    """What an entry says, in a line: of a query its outcome and its text, of others their body."""
    body = event["body"]
    if event["kind"].startswith("query."):
        return " ".join(str(body[name]) for name in ("outcome", "code", "sql") if body.get(name))
    return json.dumps(body, ensure_ascii=False) if body else ""


@log.command(
    "verify",
    example="querygate log verify\nquerygate log verify exported.jsonl --known 1200:5f0c...\n"
    "querygate log verify exported.jsonl --signature exported.jsonl.sig --key log.pub",
)
@click.argument("file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--known",
    metavar="ENTRIES:HEAD",
    callback=read_known,
    help="Output of an earlier verification, to compare with.",
)
@click.option(
    "--signature",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Signature of FILE, which must cover it from the first entry to the last.",
)
@click.option(
    "--key",
    "key_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Public key of the site that signed.  [default: the key of --site]",
)
@format_option
@site_option
def verify_log(
    file: Path | None, known: VerifiedChain | None, signature: Path | None, key_file: Path | None, form: str, site: Path
) -> None:
    """Verify the hash chain of the site's log and its archives, or of an exported FILE.

    The ledger of privacy budgets is compared with the log, and the log with its mark (head.mark). Exit code 1 means
    that one of them was altered. Keep the printed head somewhere else: with --known, verification also detects a log
    that was cut off or rewritten together with its mark. A signature detects this too.
    """
    if signature is not None and file is None:
        raise click.UsageError("--signature needs a FILE.")
    found: dict[str, JsonValue]
    mark: Health | None = None
    try:
        said = None if signature is None else load_public_key(key_file or site / PUBLIC).read(signature.read_bytes())
        if file is not None:
            verified, ledger = verify_file(file, known, said), None
        else:
            opened = open_here(site)
            verified, ledger = opened.log.verify(known), compare_ledger(opened)
            mark = mark_health(opened)
    except (ChainBroken, NotSigned) as broken:
        entry: dict[str, JsonValue] = (
            {"entry": broken.seq, "reason": broken.reason} if isinstance(broken, ChainBroken) else {}
        )
        found, text = {"verified": False, "reason": str(broken), **entry}, str(broken)
    else:
        found, text = _explain_verified(verified, said, ledger)
        if mark is not None and not mark.ok:
            found["mark"] = mark.detail
            text += f"\n{mark.detail}\n{mark.remedy}"
            if is_behind(opened):
                found |= {"verified": False, "reason": mark.detail}
    print_record(found, form, lambda: text)
    click.get_current_context().exit(0 if found["verified"] else 1)


def _explain_verified(
    verified: VerifiedChain, said: SignedStatement | None, ledger: LedgerEvidence | None
) -> tuple[dict[str, JsonValue], str]:
    """An unbroken log, as a record and as text; and whether the ledger is what it says."""
    found: dict[str, JsonValue] = {"verified": True, "entries": verified.entries, "head": verified.head}
    text = "The log is unbroken."
    if said is not None:
        found["signed"] = said.time
        text += f"\nEntries {said.first:,} to {said.last:,} were signed at {said.time}."
    elif verified.since > 1:
        found["since"] = verified.since
        text += f"\nEntries before {verified.since:,} were discarded; only the heads of their archives remain."
    text += f"\n{explain_head(verified.entries, verified.head)}"
    if ledger is not None and ledger.wrong:
        found |= {"verified": False, "reason": LEDGER_BROKEN, "ledger": list(ledger.wrong)}
        text = "\n".join([text, LEDGER_BROKEN, *(f"- {one}" for one in ledger.wrong)])
    elif ledger is not None and ledger.agreed:
        found["spends"] = ledger.agreed
    return found, text


def verify_file(file: Path, known: VerifiedChain | None, said: SignedStatement | None) -> VerifiedChain:
    """Check an exported log or an archive; ChainBroken where it is broken, or is not what was signed."""
    try:
        with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as lines:
            if said is None:
                if first := re.match(rb'{"seq":([1-9][0-9]{0,17}),', lines.read(32)):
                    _check_beginning(file, int(first[1]))
                lines.seek(0)
                return verify_lines(lines, known)
            verified = verify_lines(lines, known or said.end, said.start)
    except (EOFError, gzip.BadGzipFile):
        raise ChainBroken(said.first if said else 1, f"{file.name} cannot be read") from None
    if (verified.entries, verified.head) != (said.last, said.head):
        raise ChainBroken(min(verified.entries, said.last) + 1, "the signature says that the log ends at another entry")
    return verified


def _check_beginning(file: Path, first: int) -> None:
    if first > 1:
        raise ChainBroken(
            1,
            f"{file.name} begins at entry {first}. If earlier entries were archived or discarded, only a signature "
            "proves that nothing is missing: verify it with --signature (archives have one, and exports made with "
            "--sign)",
        )


@log.command("export", example="querygate log export --out log.jsonl --sign")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="A new file.  [default: standard output]")
@click.option("--sign", is_flag=True, help="Sign the end of the log, in a file of the same name plus .sig.")
@site_option
def export_log(out: Path | None, sign: bool, site: Path) -> None:
    """Write every entry as one line of JSON, with its hash chain, for `log verify FILE`.

    The last entry says who exported the log. With --sign, the site's key signs what the file contains and when.
    """
    if sign and out is None:
        raise click.UsageError("--sign needs --out.")
    opened = open_here(site)
    if out is None:
        note_reading(opened, "log.export", signed=False)
        opened.log.export(sys.stdout)
        return
    with new_file(out) as stream:
        key = load_key(opened.site.folder) if sign else None
        note_reading(opened, "log.export", signed=sign)
        if key is None:
            stream.writelines(line + b"\n" for line in opened.log.lines())
        else:
            said = export_signed(opened.log, key, stream)
            with new_file(out.with_name(f"{out.name}.sig")) as signature:
                signature.write(said)
    click.echo(f"Wrote {out}{' and its signature' if sign else ''}.", err=True)


@log.command("key", example="querygate log key > log.pub")
@format_option
@site_option
def show_key(form: str, site: Path) -> None:
    """Print the public key that verifies signatures of this log. If the site has no key, one is made."""
    key = load_key(open_site(site).folder).public
    print_record({"fingerprint": key.fingerprint, "key": key.text}, form, lambda: key.text.rstrip())


# -- archives ------------------------------------------------------------------------------------------------------


def keep_option(command: F) -> F:
    days = click.IntRange(1, 36_500)
    return click.option("--keep", type=days, metavar="DAYS", required=True, help="Keep entries younger than this.")(
        command
    )


@log.command("rotate", example="querygate log rotate --keep 365")
@keep_option
@format_option
@site_option
def rotate_log(keep: int, form: str, site: Path) -> None:
    """Move old entries out of the database into sealed, signed archives in logs/.

    The chain continues: `log verify` checks archives and database as one. You can stop and repeat this command at any
    time.
    """
    made = archive_log(open_here(site), keep, user=acting().name)
    _print_archives(made, form, "No entry is old enough.")


@log.command("discard", example="querygate log discard --keep 3650")
@keep_option
@format_option
@site_option
def discard_log(keep: int, form: str, site: Path) -> None:
    """Delete archives whose last entry is old. Their heads and signatures are kept."""
    gone = discard_archives(open_here(site), keep, user=acting().name)
    _print_archives(gone, form, "No archive is old enough.")


def _print_archives(segments: list[Segment], form: str, none: str) -> None:
    records = [{"archive": segment.name, **segment.told()} for segment in segments]
    print_records(records, form, columns=("archive", "first", "last", "until", "head"), empty=none)


for command in (anchor_command, ship_command, retain_command, seal_command, accept_clock_command):
    log.add_command(command)


# -- helpers -------------------------------------------------------------------------------------------------------


def note_reading(opened: OpenSite, kind: str, *, dataset: str | None = None, **asked: JsonValue) -> None:
    """Put on record who looks, and at what; not what they see."""
    body = {name: value for name, value in asked.items() if value is not None}
    opened.log.note(kind, user=acting().name, dataset=dataset, body=body)


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
