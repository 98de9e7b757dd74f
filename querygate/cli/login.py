"""Commands that need a gate and no site: login, logout. The gate gives a code, somebody lets the program in at a
browser, and it gets a key for some hours."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from querygate.cli.shared.actor import KEY_VARIABLE
from querygate.cli.shared.command import Command
from querygate.cli.shared.gate_client import GateClient
from querygate.cli.shared.shared_options import check_new, new_file
from querygate.core.errors import NotPermitted
from querygate.core.rights import SCOPES

MOST_INTERVAL_S = 60.0
SLOWER_S = 5.0
"""By how much a program that asks too often waits longer (RFC 8628, 3.5)."""

url_option = click.option("--url", required=True, metavar="URL", help="Address of the gate.")


@click.command(cls=Command, example="querygate login --url https://gate.example.org --scope ask --out gate.key")
@url_option
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(list(SCOPES)),
    help="What the key is good for, as far as your role goes. Repeat it for several.  [default: all of the role]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="New file for the key.  [default: print it]",
)
def login(url: str, scopes: tuple[str, ...], out: Path | None) -> None:
    """Get a key of a gate through single sign-on: open the page it names, sign in, and compare the code.

    The key is yours, opens for some hours, and is printed alone on standard output, so that
    `export QUERYGATE_KEY=$(querygate login --url ...)` works.
    """
    check_new(out)
    gate = GateClient(url)
    begun = gate.post("/device", {"scopes": list(scopes)} if scopes else {})
    click.echo(f"Open {begun['verification_uri']} and type the code {begun['user_code']}", err=True)
    click.echo(f"or open {begun['verification_uri_complete']} and compare it.", err=True)
    given = wait_for_key(gate, str(begun["device_code"]), float(begun["interval"]), float(begun["expires_in"]))
    if out is None:
        click.echo(given["key"])
    else:
        with new_file(out) as stream:
            stream.write(f"{given['key']}\n".encode())
    click.echo(f"You are {given['user']}. The key opens until {given['expires']}.", err=True)


def wait_for_key(gate: GateClient, device_code: str, interval_s: float, lasts_s: float) -> dict[str, str]:
    """Ask until somebody has decided, or the code does not hold any more."""
    until_s = time.monotonic() + lasts_s
    while time.monotonic() < until_s:
        time.sleep(min(max(interval_s, 0.0), MOST_INTERVAL_S))
        given = gate.post("/device/token", {"device_code": device_code})
        if given["state"] == "approved":
            return given
        interval_s += SLOWER_S if given["state"] == "slow_down" else 0.0
    raise NotPermitted("QG323", "The program was not authorised in time.", "Run querygate login again.")


@click.command(cls=Command, example="querygate logout --url https://gate.example.org --key-file gate.key")
@url_option
@click.option(
    "--key-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help=f"File with the key.  [default: the key in {KEY_VARIABLE}]",
)
def logout(url: str, key_file: Path | None) -> None:
    """Give a key up: it opens nothing any more."""
    key = key_file.read_text(encoding="utf-8").strip() if key_file else os.environ.get(KEY_VARIABLE, "")
    revoked = GateClient(url).post("/keys/own/revoke", {}, key)
    click.echo(f"Revoked key {revoked['id']} of {revoked['user']}.")
