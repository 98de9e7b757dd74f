"""Commands in the documentation exist: every `querygate` line of a shell block names commands and options that click
knows, gives every argument that is needed, and chooses among the values that are accepted."""

from __future__ import annotations

import shlex

import click
import pytest

from querygate.cli import main
from tests.docs.pages import ROOT, Block, all_pages, blocks
from tests.each import each

PROGRAMS = {"querygate", "/opt/querygate/bin/querygate"}
SHELL = [block for page in all_pages() for block in blocks(page) if block.language in ("sh", "console")]


def commands(text: str) -> list[list[str]]:
    """The words of each `querygate` call: after pipes, &&, redirections, variables, sudo and the like are put aside.

    >>> commands("X=1 querygate log export | head -3\\nsudo --user=q querygate datasets > list.txt\\nuseradd querygate")
    [['log', 'export'], ['datasets']]
    """
    calls: list[list[str]] = []
    lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars="|&;<>()\n")
    lexer.whitespace, lexer.whitespace_split = " \t\r", True
    call: list[str] | None = None
    before = ""
    for word in lexer:
        if set(word) <= set("|&;()<>\n"):  # what follows a redirection is a file, and no part of the call
            call, word = None, ""
        elif call is None and word in PROGRAMS and (before in ("", "sudo", "gate") or "=" in before):
            call = []
            calls.append(call)
        elif call is not None:
            call.append(word)
        before = word
    return calls


def check(words: list[str]) -> None:
    """Raise click.UsageError where the command line would not be understood. Files and folders are not looked at."""
    command: click.Command = main
    rest = list(words)
    context = click.Context(main, info_name="querygate")
    while True:
        if isinstance(command, click.Group):
            command_parser = command.make_parser(context)
            command_parser.allow_interspersed_args = False
            _, rest, _ = command_parser.parse_args(rest)
            if not rest:
                raise click.UsageError("there is no command")
            name, found, rest = command.resolve_command(context, rest)
            if found is None:
                raise click.UsageError(f"there is no command {name}")
            command, context = found, click.Context(found, context, info_name=name)
            continue
        values, left, _ = command.make_parser(context).parse_args(rest)
        if left:
            raise click.UsageError(f"too many arguments: {left}")
        for parameter in command.params:
            value = values.get(parameter.name or "")
            absent = value is None or "UNSET" in str(value)
            if absent and parameter.required:
                raise click.UsageError(f"{parameter.name} is missing")
            if not absent and isinstance(parameter.type, (click.Choice, click.IntRange)):
                for one in value if isinstance(value, (tuple, list)) else (value,):
                    parameter.type.convert(one, parameter, context)
        return


def asks_for_help(words: list[str]) -> bool:
    return bool({"--help", "-h", "--version"} & set(words))


@each("block", [block for block in SHELL if commands(block.text)])
def test_commands_are_understood(block: Block) -> None:
    for words in commands(block.text):
        if not asks_for_help(words):
            check(words)


def test_there_are_commands_to_look_at() -> None:
    told = {words[0] for block in SHELL for words in commands(block.text)}
    assert {"init", "publish", "serve", "query", "log"} <= told


@pytest.mark.parametrize(
    "line",
    [
        "querygate pubish --policy a --source b",
        "querygate publish --policy a",
        "querygate serve --store-onlyy",
        "querygate user add ann --role queen",
        "querygate datasets extra",
        "querygate log",
    ],
)
def test_what_does_not_exist_is_seen(line: str) -> None:
    with pytest.raises(click.UsageError):
        check(commands(line)[0])


def test_service_files_start_what_exists() -> None:
    unit = (ROOT / "deploy" / "querygate.service").read_text(encoding="utf-8")
    started = [line.removeprefix("ExecStart=") for line in unit.splitlines() if line.startswith("ExecStart=")]
    assert [words for line in started for words in commands(line)]
    for line in started:
        check(commands(line)[0])
