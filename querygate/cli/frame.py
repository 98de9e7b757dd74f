"""What all commands share: which site, which format, and how errors end.

Exit codes: 0 done, 1 refusal, 2 usage, 3 fault. A stack trace is never shown.
"""

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

from querygate.cli.output import print_problem
from querygate.core.errors import QueryGateError
from querygate.core.types import Principal
from querygate.gate.incidents import make_fault
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("table", "json", "jsonl", "csv")

LOCAL = Principal("local", "custodian")
"""Whoever is at the console. They own the folder, and are logged under this name."""


class Command(click.Command):
    """A command whose errors end as the table of codes says. Its help has an example."""

    def __init__(self, *args: Any, example: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.example:
            with formatter.section("Example"):
                for line in self.example.splitlines():
                    formatter.write(f"  {line}\n")

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except QueryGateError as error:
            ctx.exit(self._end(ctx, error))
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            if _is_closed_pipe(error) or ctx.find_root().params.get("debug"):
                raise
            ctx.exit(self._end(ctx, make_fault(error)))

    def _end(self, ctx: click.Context, error: QueryGateError) -> int:
        print_problem(error, str(ctx.params.get("form") or "table"), sql=ctx.params.get("sql"))
        return error.meaning.exit


class CommandGroup(click.Group):
    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they are used, not by the alphabet."""
        return list(self.commands)


CommandGroup.group_class = CommandGroup


def _is_closed_pipe(error: Exception) -> bool:
    """The reader of our output has gone, as in `querygate log export | head`. Click ends such a run quietly."""
    return isinstance(error, OSError) and error.errno == errno.EPIPE


# -- options ---------------------------------------------------------------------------------------------


def site_option(command: F) -> F:
    """--site after the command, as well as before it."""
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
    inline_auditor = import_module("querygate.custody.roots.inline_auditor")  # which can open a vault
    audited: OpenSite = inline_auditor.with_auditor(opened)
    return audited


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file of the owner's alone; nothing is replaced."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise click.UsageError(f"{path} is there already.") from None
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}.") from None
    with os.fdopen(handle, "wb") as stream:
        yield stream


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder that gets its name once all of it is written; nothing is replaced."""
    check_new(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}.") from None
    try:
        yield staged
        staged.rename(path)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise click.UsageError(f"{path} cannot be written: {error.strerror}. Nothing is left of it.") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def check_new(path: Path | None) -> None:
    """Said before long work, not after it."""
    if path is not None and path.exists():
        raise click.BadParameter("It is there already, and nothing is overwritten.", param_hint="--out")
