"""The command line: one group of commands, also run by `python -m querygate`."""

from querygate.cli.commands import main

__all__ = ["main"]
