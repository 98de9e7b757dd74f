"""Children of one process that has imported everything and opened nothing: a test that kills many pays for one start.

The script defines `act(*arguments)`, which every child runs on its own. What a child writes to its standard output can
be read line by line while it runs; nothing that it has written is lost when it is killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.places import ROOT

LOOP = """
import os, sys, traceback
import pandas  # which pyarrow would load in every child
for line in sys.stdin:
    if not os.fork():
        os.write(1, f"{os.getpid()}\\n".encode())
        try:
            act(*line.rstrip("\\n").split("\\t"))
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    ended = os.waitstatus_to_exitcode(os.wait()[1])
    os.write(1, f"ended {ended}\\n".encode())
"""


class Forks:
    """One child after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out, self._child = process.stdin, process.stdout, 0

    def start(self, *arguments: object) -> None:
        self._in.write("\t".join(map(str, arguments)) + "\n")
        self._in.flush()
        self._child = int(self._out.readline())

    def line(self) -> str:
        """The next line that the child writes."""
        return self._out.readline().rstrip("\n")

    def kill(self) -> None:
        with suppress(ProcessLookupError):  # it may have come to its end
            os.kill(self._child, signal.SIGKILL)

    def end(self) -> tuple[int, list[str]]:
        """Wait for its end: how it ended, as `subprocess` numbers that, and the lines not read so far."""
        lines = []
        while not (line := self.line()).startswith("ended "):
            assert line, "the process that children come from is gone"
            lines.append(line)
        return int(line.split()[1]), lines

    def run(self, *arguments: object) -> int:
        """Start a child and wait; how it ended."""
        self.start(*arguments)
        return self.end()[0]


@contextmanager
def forks(script: str) -> Iterator[Forks]:
    """Children that run the script's `act`."""
    command = [sys.executable, "-c", script + LOOP]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            yield Forks(process)
        except BaseException:
            process.kill()
            raise
