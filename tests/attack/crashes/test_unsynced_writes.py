"""Power is lost: what the log said was on disk is on disk.

A small library stands before the C library of a writer. Whenever a file is synced it copies that file aside, so that
the copies are what a disk has that keeps nothing but what it was told to keep. The writer says what is on record; the
log is then read from the copies.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from querygate.control import Database, Log
from tests.places import ROOT

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Copy a file that was synced to $SYNCED/<its name>, by way of another name, so that a copy is whole or not there. */
static void keep(int fd) {
  const char *folder = getenv("SYNCED"), *from = getenv("WATCHED");
  char link[64], path[4096], part[4200], whole[4200], buffer[65536];
  if (!folder || !from) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  if (strncmp(path, from, strlen(from))) return;
  const char *name = strrchr(path, '/') + 1;
  snprintf(part, sizeof part, "%s/.%s.%d", folder, name, (int)getpid());
  snprintf(whole, sizeof whole, "%s/%s", folder, name);
  int in = open(path, O_RDONLY), out = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  while (in >= 0 && out >= 0 && (length = read(in, buffer, sizeof buffer)) > 0)
    if (write(out, buffer, length) != length) abort();
  if (in >= 0) close(in);
  if (out >= 0) { close(out); rename(part, whole); }
}

/* Names that are gone are gone: file systems keep their own journals of them. */
int unlink(const char *path) {
  int (*real)(const char *) = dlsym(RTLD_NEXT, "unlink");
  const char *folder = getenv("SYNCED"), *from = getenv("WATCHED");
  char whole[4200];
  if (folder && from && !strncmp(path, from, strlen(from))) {
    snprintf(whole, sizeof whole, "%s/%s", folder, strrchr(path, '/') + 1);
    real(whole);
  }
  return real(path);
}

int fsync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  int found = real(fd);
  if (!found) keep(fd);
  return found;
}

int fdatasync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  int found = real(fd);
  if (!found) keep(fd);
  return found;
}
"""

WRITER = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
import querygate.control.database as module
from querygate.control import Database, Log

path, is_synced, after = Path(sys.argv[1]), sys.argv[2] == "synced", int(sys.argv[3])
log = Log(Database(path), lambda: datetime.now(UTC))
log.note("begin", user="ann")
if not is_synced:
    module.sync_file = lambda path: None
asked = dict(user="ann", dataset="p", version=1, sql="SELECT 1", mode="interval", canonical_hash="", policy_hash="")
for number in range(10_000):
    if number % 3:
        log.intend(f"q_{number}", **asked)
        os.write(1, f"intended q_{number}\\n".encode())
        log.conclude(f"q_{number}", "answered", answer={"rows": ["x" * 5000]})
    else:
        log.repeat(f"q_{number}", {"rows": ["x" * 5000]}, **asked)
    os.write(1, f"concluded q_{number}\\n".encode())
    if number == after:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler to make the library with")
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(folder / "shim.so"), str(folder / "shim.c"), "-ldl"]
    subprocess.run(command, check=True)
    return folder / "shim.so"


def write_until_killed(shim: Path, folder: Path, how: str, after: int) -> list[str]:
    """What the writer said before it was killed."""
    (folder / "site").mkdir()
    (folder / "synced").mkdir()
    environment = {**os.environ, "LD_PRELOAD": str(shim), "SYNCED": str(folder / "synced"),
                   "WATCHED": f"{folder}/site/"}  # fmt: skip
    command = [sys.executable, "-c", WRITER, str(folder / "site" / "control.db"), how, str(after)]
    ended = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    return ended.stdout.splitlines()


def missing(folder: Path, said: list[str]) -> list[str]:
    """What was said to be on record and is not, on a disk that has only what was synced."""
    log = Log(Database(folder / "synced" / "control.db"), lambda: datetime.now(UTC))
    log.verify()
    found = {f"{'intended' if event['kind'] == 'query.intent' else 'concluded'} {event['query_id']}"
             for event in log.events()}  # fmt: skip
    log.database.close()
    return [line for line in said if line not in found]


@pytest.mark.parametrize("after", [0, 1, 40, 400])  # 400 entries of 5 kB pass the size at which SQLite checkpoints
def test_what_was_said_to_be_on_record_is_on_disk(shim: Path, tmp_path: Path, after: int) -> None:
    said = write_until_killed(shim, tmp_path, "synced", after)
    assert len(said) > after
    assert missing(tmp_path, said) == []


def test_without_syncing_it_would_not_be(shim: Path, tmp_path: Path) -> None:
    said = write_until_killed(shim, tmp_path, "not synced", 40)
    assert len(missing(tmp_path, said)) > 10
