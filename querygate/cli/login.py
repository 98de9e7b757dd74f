"""Commands that need a gate and no site: login, logout. The gate gives a code, somebody lets the program in at a
browser, and it gets a key for some hours."""

from __future__ import annotations

import os
from pathlib import Path

import click

from querygate.cli.shared.actor import KEY_VARIABLE
from querygate.cli.shared.command import Command
from querygate.cli.shared.shared_options import check_new, new_file
from querygate.client.client import Client
from querygate.client.device_login import authorise
from querygate.client.requests_and_replies import API, Call, Patience, fetch
from querygate.core.rights import SCOPES


def _read_url(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """The address after the command, or before it."""
    found = value or context.find_root().params.get("url")
    if not found:
        raise click.MissingParameter(ctx=context, param=parameter)
    return str(found)


url_option = click.option("--url", metavar="URL", callback=_read_url, help="Address of the gate.")


@click.command(
    cls=Command, example="querygate login --url https://gate.example.org --scope ask --out gate.key", elsewhere=True
)
@url_option
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(list(SCOPES)),
    help="What the key may do, within the rights of your role. Repeat it for several.  [default: all of the role]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="New file for the key.  [default: print it]",
)
def login(url: str, scopes: tuple[str, ...], out: Path | None) -> None:
    """Get a key for a gate through single sign-on: open the page it names, sign in, and compare the code.

    The key is in your name and valid for a few hours. Only the key goes to standard output, so that
    `export QUERYGATE_KEY=$(querygate login --url ...)` works.
    """
    check_new(out)
    with Client(url, "") as gate:
        given = gate.carry(authorise(scopes, lambda line: click.echo(line, err=True)))
    if out is None:
        click.echo(given.key)
    else:
        with new_file(out) as stream:
            stream.write(f"{given.key}\n".encode())
    click.echo(f"You are {given.user}. The key is valid until {given.expires}.", err=True)


@click.command(
    cls=Command, example="querygate logout --url https://gate.example.org --key-file gate.key", elsewhere=True
)
@url_option
@click.option(
    "--key-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help=f"File with the key.  [default: the key in {KEY_VARIABLE}]",
)
def logout(url: str, key_file: Path | None) -> None:
    """Revoke a key: it stops working at once."""
    key = key_file.read_text(encoding="utf-8").strip() if key_file else os.environ.get(KEY_VARIABLE, "")
    with Client(url, key) as gate:
        revoked = gate.carry(fetch(Call("POST", f"{API}/keys/own/revoke", {}, again=False), Patience()))
    click.echo(f"Revoked key {revoked['id']} of {revoked['user']}.")
