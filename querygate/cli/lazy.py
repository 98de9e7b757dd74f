"""Commands that are imported when they run, so that help is quick and a process loads one plane at a time."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from querygate.cli.frame import CommandGroup


def load(path: str) -> Any:
    """What `package.module:name` names."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


class LazyGroup(CommandGroup):
    """A group that knows its commands by name and one line of help; each is `name: (path, help)`."""

    def __init__(self, *args: Any, later: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.later = later

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *self.later]

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
