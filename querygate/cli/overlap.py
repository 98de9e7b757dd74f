"""Commands that count the people whom two custodians both have: overlap."""

from __future__ import annotations

import hashlib
from pathlib import Path

import click

from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import CommandGroup
from querygate.cli.shared.output import print_record
from querygate.cli.shared.shared_options import format_option, new_file, open_here, site_option
from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.custody.overlap.overlap_count import count_common, make_reply, make_request
from querygate.custody.overlap.person_marks import person_marks
from querygate.custody.overlap.shared_secret import SharedSecret
from querygate_adapters.sources.open_source import open_source

KIND = "overlap.reply"

MOST_BYTES = 4 << 30
"""Of a file: some fifty million people."""

_file = click.Path(path_type=Path, dir_okay=False, exists=True)
_source = click.option("--source", required=True, metavar="SOURCE", help="Any source that `querygate publish` accepts.")
_column = click.option("--column", required=True, metavar="NAME", help="Column with the identifiers of people.")
_secret = click.option("--secret", required=True, type=_file, help="File with the secret that both custodians share.")
_out = click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="A new file.")


@click.group(cls=CommandGroup)
def overlap() -> None:
    """Count the people that you and another custodian have in common.

    Neither sees whom the other has. `ask` makes a file for the other custodian, `reply` answers it there, and `count`
    opens the answer here.
    """


@overlap.command(
    "ask", example="querygate overlap ask --source a.csv --column nhs --secret both.key --out ask.qgo --keep own.qgo"
)
@_source
@_column
@_secret
@_out
@click.option(
    "--keep", required=True, type=click.Path(path_type=Path, dir_okay=False), help="A new file that you keep."
)
def ask(source: str, column: str, secret: Path, out: Path, keep: Path) -> None:
    """Make a request for the other custodian, and a file that you keep to open the reply."""
    shared = SharedSecret.read(_read(secret))
    made = make_request(person_marks(open_source(source), column, shared), shared)
    with new_file(keep) as kept, new_file(out) as message:
        kept.write(made.kept)
        message.write(made.message)
    click.echo(f"Send {out} to the other custodian. Guard {keep}: anyone who has it can open the reply.")


@overlap.command(
    "reply",
    example="querygate overlap reply ask.qgo --partner north --source b.csv --column nhs --secret both.key "
    "--out reply.qgo",
)
@click.argument("request", type=_file)
@click.option("--partner", required=True, metavar="NAME", help="The custodian who asks, for the log.")
@_source
@_column
@_secret
@_out
@click.option("--again", metavar="REASON", help="The reason for replying again to a partner who has had a reply.")
@site_option
def reply(
    request: Path, partner: str, source: str, column: str, secret: Path, out: Path, again: str | None, site: Path
) -> None:
    """Reply to another custodian's request. They will learn how many people you both have; this is logged.

    Each partner gets one reply: two requests that differ by one person would reveal whether you have that person.
    """
    opened = open_here(site)
    earlier = any(event["body"].get("partner") == partner for event in opened.log.events_in("overlap"))
    if earlier and not again:
        raise ConfigError(
            "QG803",
            "This partner has already had a reply, and two counts together can reveal a single person.",
            "If there is a good reason, give it with --again.",
        )
    data, shared = _read(request), SharedSecret.read(_read(secret))
    made = make_reply(data, person_marks(open_source(source), column, shared), shared)
    told = {"partner": partner, "asked": made.asked, "request": hashlib.sha256(data).hexdigest(), "again": again}
    with new_file(out) as message:
        opened.log.note(KIND, user=acting().name, body=told)  # before anything leaves
        message.write(made.message)
    click.echo(f"The request is about {counted(made.asked, 'person', 'people')}. Send {out} back to {partner}.")


@overlap.command("count", example="querygate overlap count reply.qgo --keep own.qgo")
@click.argument("reply_file", metavar="REPLY", type=_file)
@click.option("--keep", required=True, type=_file, help="The file that you kept.")
@format_option
def count(reply_file: Path, keep: Path, form: str) -> None:
    """Open a reply: how many people both custodians have."""
    found = count_common(_read(reply_file), _read(keep))
    body = {"own": found.own, "common": found.common}
    text = f"{found.common:,} of your {counted(found.own, 'person', 'people')} are also at the other custodian."
    print_record(body, form, lambda: text)


def _read(path: Path) -> bytes:
    """A file that somebody else may have made: not more than the largest count needs."""
    if path.stat().st_size > MOST_BYTES:
        raise ConfigError(
            "QG802", f"{path.name} is too large for a count.", "Ask the other custodian for the file again."
        )
    return path.read_bytes()
