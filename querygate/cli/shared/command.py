"""Commands and groups of them: how errors end, and how a command is imported only when it runs.

Help is quick that way, and a process loads one plane at a time. Exit codes: 0 done, 1 refusal, 2 usage, 3 fault, 130
interrupted. A stack trace is never shown.
"""

from __future__ import annotations

import errno
import gc
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from querygate.cli.shared.output import print_problem
from querygate.core.errors import ConfigError, QueryGateError
from querygate.core.limits.interrupts import Interrupted, is_interrupt
from querygate.gate.incidents import make_problem

INTERRUPTED = 130
"""The exit code of whatever Ctrl-C has ended, as shells have it."""


class Command(click.Command):
    """A command whose errors end as the table of codes says. Its help has an example. What `works_elsewhere` can ask a
    gate over HTTP as well as a site in a folder."""

    def __init__(self, *args: Any, example: str = "", elsewhere: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example, self.works_elsewhere = example, elsewhere

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.example:
            with formatter.section("Example"):
                for line in self.example.splitlines():
                    formatter.write(f"  {line}\n")

    def invoke(self, ctx: click.Context) -> Any:
        try:
            if ctx.find_root().params.get("url"):
                if not self.works_elsewhere:
                    raise click.UsageError(f"`{ctx.info_name}` works on a site in a folder: leave out --url.")
            elif "site" in ctx.params:
                identify = load("querygate.cli.shared.actor:identify")
                identify(ctx)
            return super().invoke(ctx)
        except QueryGateError as error:
            ctx.exit(self._end(ctx, error))
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except (Exception, KeyboardInterrupt) as error:
            if is_interrupt(error):
                click.echo(str(error) if isinstance(error, Interrupted) else "Interrupted.", err=True)
                ctx.exit(INTERRUPTED)
            if not isinstance(error, Exception) or _is_closed_pipe(error) or ctx.find_root().params.get("debug"):
                raise
            ctx.exit(self._end(ctx, _not_permitted(error) or make_problem(error)))

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


def _not_permitted(error: Exception) -> QueryGateError | None:
    """Whoever runs a command may know which file it is: most often it was started as another user than the site's."""
    if not isinstance(error, PermissionError) or not isinstance(error.filename, str | Path):
        return None
    return ConfigError(
        "QG804",
        f"{error.filename} cannot be opened: permission denied.",
        "Run the command as the user who owns the site's folder, or correct the owner of its files.",
    )


def load(path: str) -> Any:
    """What `package.module:name` names.

    Of what is imported nothing is garbage, and to look for some would take a twentieth of the time of a short command.
    """
    module, _, name = path.partition(":")
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        return getattr(import_module(module), name)
    finally:
        if was_collecting:
            gc.enable()


class LazyGroup(CommandGroup):
    """A group that knows its commands by name and one line of help; each is `name: (path, help)`."""

    def __init__(self, *args: Any, later: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.later = later

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *self.later]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find and import the command, which can take seconds in which somebody presses Ctrl-C."""
        try:
            return super().resolve_command(ctx, args)
        except KeyboardInterrupt:
            click.echo("Interrupted: nothing was done.", err=True)
            ctx.exit(INTERRUPTED)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.later:
            command: click.Command = load(self.later[cmd_name][0])
            return command
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        here = [(name, command.get_short_help_str(formatter.width)) for name, command in self.commands.items()]
        later = [(name, help) for name, (_, help) in self.later.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*here, *later])
