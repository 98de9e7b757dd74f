"""What commands share: which site, which format, and new files."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import click

from querygate.cli.shared.actor import KEY_VARIABLE, LOCAL, remember_key_file
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate

__all__ = [
    "FORMATS",
    "LOCAL",
    "F",
    "check_new",
    "folder_option",
    "format_option",
    "new_file",
    "new_folder",
    "open_here",
    "site_option",
]

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("table", "json", "jsonl", "csv")

# -- options ---------------------------------------------------------------------------------------------


def site_option(command: F) -> F:
    """--site after the command, as well as before it, and --key-file."""
    return folder_option(
        click.option(
            "--key-file",
            "own_key",  # `log verify` has a key file of its own
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            expose_value=False,
            callback=remember_key_file,
            help=f"File with your key: you act as its owner.  [default: the key in {KEY_VARIABLE}, if there is one]",
        )(command)
    )


def folder_option(command: F) -> F:
    """--site alone, for what acts in nobody's name."""
    return click.option(
        "--site",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="QUERYGATE_SITE",
        show_envvar=True,
        help="Folder of the site.  [default: ./site]",
        callback=lambda ctx, param, value: value or ctx.find_root().params.get("site") or Path("site"),
    )(command)


def format_option(command: F) -> F:
    return click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        metavar="FORMAT",
        default="table",
        help=f"One of {', '.join(FORMATS)}.  [default: table]",
    )(command)


def open_here(site: Path) -> OpenSite:
    """The site that was named, without its vault; with an inline auditor, where its settings want one."""
    opened = open_gate(open_site(site))
    if not opened.site.settings["inline_audit"]:
        return opened
    inline_auditor = import_module("querygate.custody.use_cases.audits.inline_auditor")  # which can open a vault
    audited: OpenSite = inline_auditor.with_auditor(opened)
    return audited


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file of the owner's alone; nothing is replaced, and of what fails nothing is left."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise click.UsageError(f"{path} already exists.") from None
    except OSError as error:
        raise click.UsageError(f"Cannot write {path}: {error.strerror}.") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
    except BaseException:
        path.unlink(missing_ok=True)
        raise


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder that gets its name once all of it is written; nothing is replaced."""
    check_new(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise click.UsageError(f"Cannot write {path}: {error.strerror}.") from None
    try:
        yield staged
        staged.rename(path)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise click.UsageError(f"Cannot write {path}: {error.strerror}. Nothing was left behind.") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def check_new(path: Path | None) -> None:
    """Said before long work, not after it."""
    if path is not None and path.exists():
        kind = "folder" if path.is_dir() else "file"
        raise click.BadParameter(f"The {kind} already exists, and nothing is overwritten.", param_hint="--out")
