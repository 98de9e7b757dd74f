"""Commands about files that are encrypted where they lie: apply, rotate. Of keys, only where they are is ever said."""

from __future__ import annotations

from pathlib import Path

import click

from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import CommandGroup
from querygate.cli.shared.output import print_record
from querygate.cli.shared.shared_options import format_option, open_here, site_option
from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.site.encryption_key import SETTING, add_key, keep_one_key, open_seal
from querygate.site.extract_requests.extract_package import ExtractFiles
from querygate.site.open_gate import OpenSite


@click.group(cls=CommandGroup)
def encryption() -> None:
    """Encrypt released extracts where they lie on disk, and change the key."""


@encryption.command("apply", example="querygate encryption apply")
@format_option
@site_option
def apply_encryption(form: str, site: Path) -> None:
    """Encrypt extracts that were released before the setting `encryption_key` named a key.

    Later ones are encrypted when they are released. You can stop and repeat this command at any time.
    """
    opened = _with_key(open_here(site))
    seal = open_seal(opened.site, make=True)
    done = ExtractFiles(opened.site.vault, opened.site.extracts, lambda: seal).encrypt_released()
    opened.log.note("encryption.apply", user=acting().name, body={"extracts": done})
    print_record({"encrypted": done}, form, lambda: f"Encrypted {counted(done, 'released extract')}.")


@encryption.command(
    "rotate",
    example="querygate encryption rotate --to file:/etc/querygate/new.key\nquerygate encryption rotate --finish",
)
@click.option("--to", metavar="WHERE", help="Where the new key is: file:PATH, env:NAME or command:PROGRAM.")
@click.option("--finish", is_flag=True, help="From now on accept only the key that the settings name.")
@format_option
@site_option
def rotate_key(to: str | None, finish: bool, form: str, site: Path) -> None:
    """Change the key, in two steps, while the site serves.

    With --to the new key works in addition to the present one. Then write it into the setting `encryption_key`, restart
    all processes, and run this again with --finish: from then on the old key no longer works on this site. Files are
    not rewritten, so an earlier copy of `sealed.keys` together with the old key still opens them.
    """
    if (to is None) == (not finish):
        raise click.UsageError("Use either --to or --finish.")
    opened = _with_key(open_here(site))
    if to is not None:
        add_key(opened.site, to)
        text = "Both keys work now. Name the new one in the settings, then run this again with --finish."
    else:
        gone = keep_one_key(opened.site)
        text = f"{counted(gone, 'other key is', 'other keys are')} no longer good."
    opened.log.note("encryption.rotate", user=acting().name, body={"step": "finish" if finish else "add"})
    print_record({"step": "finish" if finish else "add"}, form, lambda: text)


def _with_key(opened: OpenSite) -> OpenSite:
    if not opened.site.settings[SETTING]:
        raise ConfigError(
            "QG805",
            "The setting `encryption_key` names no key.",
            "Make one (openssl rand -hex 32), and set it to file:PATH, env:NAME or command:PROGRAM.",
        )
    return opened
