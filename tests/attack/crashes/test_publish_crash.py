"""A publisher is killed at any moment, or its disk is full: the old version serves on, or the new one does, whole.

The publishers are children of one process that has imported everything and opened nothing, so that a publication
costs no more than itself. A child copies the site before each thing it does to the site's files (Python tells its audit
hooks of each), or kills itself at the n-th, or is killed from outside after a while.
"""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.publish_version import publish_to, serve_version
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.forks import Forks, forks
from tests.policies import AGE, ILLNESS, make_policy
from tests.unit.custody.publish.publications import ask, ends, new_site, put, shelf_of, staged_files, write_parquet

POLICY = make_policy(
    "t", {"age": AGE, "ward": ILLNESS}, k=2, anonymise={"method": "mondrian"}, republish={"on_overlap": "sticky"}
)
OLD = {"age": [20, 21, 22, 40, 41, 42], "ward": list("aabbab")}
NEW = {"age": OLD["age"] + list(range(50, 84)), "ward": OLD["ward"] + (list("abcd") * 9)[:34]}

ACT = """
import os, resource, signal, subprocess, sys
from pathlib import Path
from querygate.core.publications import class_ranges
from querygate.custody.publish import partition
from querygate.custody.publish.cell_tables import CellTables
from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.open_gate import open_gate
from querygate.site.layout import open_site
from querygate_adapters.vault.written_store import WrittenStore

def killed_at(right, number):
    seen = 0
    def work(*given, **more):
        nonlocal seen
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return right(*given, **more)
    return work

EVENTS = {"open", "os.link", "os.remove", "os.rename"}

def act(folder, policy, source, how, number):
    number, seen = int(number), 0
    def hook(event, args):
        nonlocal seen
        if event in EVENTS and any(os.fsdecode(a).startswith((f"{folder}/store", f"{folder}/vault"))
                                   for a in args if isinstance(a, (str, bytes, os.PathLike))):
            seen += 1
            if how == "step" and seen == number:
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "copies":  # by another process, which drops no locks of this one, with its hard links
                subprocess.run(["cp", "-a", folder, f"{folder}-{seen}"], check=True)
    sys.addaudithook(hook)
    if how in ("parts", "making", "reading"):  # as if ten combinations, or the cells of four people, filled the memory
        partition.BYTES = class_ranges.CELL_BYTES = 2**29
    for step, of, name in (("making", CellTables, "_of"), ("reading", WrittenStore, "cells")):
        if how == step:  # one range of classes after the other
            setattr(of, name, killed_at(getattr(of, name), number))
    if how == "disk":  # no file may grow beyond so many bytes
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (number, number))
    publish_to(open_gate(open_site(Path(folder))), parse_policy(Path(policy).read_text()), source, user="tester")
"""


class Publishers:
    """Publishes the new version into a site, one child after the other; tells how each ended."""

    def __init__(self, children: Forks, folder: Path) -> None:
        self._children, self._policy = children, folder / "policy.toml"
        self._policy.write_text(POLICY)
        self._source = write_parquet(folder / "new.parquet", NEW)

    def run(self, site: Path, how: str, number: int) -> int:
        return self._children.run(site, self._policy, self._source, how, number)

    def run_for(self, seconds: float, site: Path, how: str) -> int:
        """Killed from outside after so long, unless it has ended."""
        self._children.start(site, self._policy, self._source, how, 0)
        time.sleep(seconds)
        self._children.kill()
        return self._children.end()[0]


@pytest.fixture(scope="module")
def publishers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publishers]:
    with forks(ACT) as children:
        yield Publishers(children, tmp_path_factory.mktemp("publishers"))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site that serves version 1."""
    opened = new_site(tmp_path_factory.mktemp("template"))
    put(opened, POLICY, OLD)
    return opened.site.folder


def copy_of(template: Path, folder: Path) -> Path:
    return Path(shutil.copytree(template, folder))


def assert_whole(folder: Path) -> int:
    """One version is served and answers right, and both its files are there; returns which."""
    opened = open_gate(open_site(folder))
    version = opened.store.current("t").catalog.version
    people = OLD if version == 1 else NEW
    assert ends(opened, "COUNT(*)") == (len(people["age"]), len(people["age"]))
    assert [row["ward"] for row in ask(opened, "SELECT ward, COUNT(*) FROM t GROUP BY ward")] == sorted(
        set(people["ward"])
    )
    assert version in opened.store.versions("t")
    assert (folder / "vault" / "t" / f"v{version:05d}.duckdb").is_file()
    assert opened.log.verify().entries > 0
    return version


def assert_mended(folder: Path) -> None:
    """The next publication succeeds, serves, and leaves nothing of the one that was cut off."""
    opened = open_gate(open_site(folder))
    known = opened.store.versions("t")
    report = put(opened, POLICY, NEW)
    assert report.version == max(known) + 1
    assert opened.store.current("t").catalog.version == report.version
    assert ends(opened, "COUNT(*)") == (40, 40)
    assert staged_files(opened) == []
    left = {path.name for path in (folder / "vault" / "t").iterdir()} - {"reports"}
    assert left == {f"v{version:05d}.duckdb" for version in opened.store.versions("t")}


@pytest.fixture(scope="module")
def left(publishers: Publishers, template: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The site before each step of a publication, and at its end: what a kill at that instant leaves, as whatever was
    written stays and locks go with their holder.
    """
    folder = copy_of(template, tmp_path_factory.mktemp("steps") / "site")
    assert publishers.run(folder, "copies", 0) == 0
    steps = len(list(folder.parent.iterdir()))
    return [*(folder.with_name(f"site-{step}") for step in range(1, steps)), folder]


def names(folder: Path) -> list[tuple[str, int]]:
    """The files of both planes, and how many names each has."""
    files = [path for plane in ("store", "vault") for path in (folder / plane).rglob("*") if path.is_file()]
    return sorted((str(path.relative_to(folder)), path.stat().st_nlink) for path in files)


def test_a_kill_leaves_what_was_there(publishers: Publishers, template: Path, left: list[Path], tmp_path: Path) -> None:
    """So the copies stand for kills."""
    for step in range(1, len(left), max(1, len(left) // 4)):
        folder = copy_of(template, tmp_path / str(step))
        assert publishers.run(folder, "step", step) == -signal.SIGKILL
        assert names(folder) == names(left[step - 1])


def test_cut_off_at_every_step_of_the_switch(left: list[Path]) -> None:
    versions = []
    for step, folder in enumerate(left):
        versions.append(assert_whole(folder))
        if step % 3 == 2:
            assert_mended(folder)

    assert len(versions) > 10  # steps there are to be cut off at
    assert versions == sorted(versions)  # old, old ... then new
    assert versions[0] == 1
    assert versions[-1] == 2


@pytest.mark.parametrize(
    ("how", "share"), [*(("time", share) for share in (0.05, 0.25, 0.45, 0.65, 0.85)), ("parts", 0.4), ("parts", 0.7)]
)
def test_killed_at_some_moment(publishers: Publishers, template: Path, tmp_path: Path, how: str, share: float) -> None:
    folder = copy_of(template, tmp_path / "site")
    ended = publishers.run_for(share * 0.5, folder, how)

    assert ended in (0, -signal.SIGKILL)
    assert assert_whole(folder) in (1, 2)
    assert_mended(folder)


@pytest.mark.parametrize(("how", "number"), [("making", 3), ("reading", 2)])
def test_killed_between_two_ranges_of_classes(
    publishers: Publishers, template: Path, tmp_path: Path, how: str, number: int
) -> None:
    folder = copy_of(template, tmp_path / "site")
    assert publishers.run(folder, how, number) == -signal.SIGKILL
    assert assert_whole(folder) == 1
    assert_mended(folder)


def test_leavings_do_not_pile_up(publishers: Publishers, template: Path, tmp_path: Path) -> None:
    folder = copy_of(template, tmp_path / "site")
    left = []
    for _ in range(3):
        assert publishers.run_for(0.25, folder, "time") in (0, -signal.SIGKILL)
        left.append(len(staged_files(open_gate(open_site(folder)))))

        assert_whole(folder)

    assert max(left) <= 4  # the two files of one version, perhaps with their journals


@pytest.mark.parametrize("largest_file", [1_000, 300_000, 900_000])
def test_a_full_disk_leaves_the_old_version(
    publishers: Publishers, template: Path, tmp_path: Path, largest_file: int
) -> None:
    folder = copy_of(template, tmp_path / "site")
    ended = publishers.run(folder, "disk", largest_file)

    assert ended == 1
    assert assert_whole(folder) == 1
    assert staged_files(open_gate(open_site(folder))) == []
    assert_mended(folder)


# -- two at once, and back again -----------------------------------------------------------------------------------


def test_a_second_publisher_is_turned_away(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, POLICY, OLD)
    with shelf_of(opened).publishing("t"):
        for attempt in (lambda: put(opened, POLICY, NEW), lambda: shelf_of(opened).serve_version("t", 1)):
            with pytest.raises(ConfigError) as refused:
                attempt()
            assert refused.value.code == "QG804"
        put(opened, POLICY.but(dataset="other"), OLD)  # another dataset has a lock of its own

    assert put(opened, POLICY, NEW).version == 2
    assert opened.store.datasets() == ("other", "t")


def test_versions_and_the_way_back(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    for people in (OLD, NEW, OLD):
        publish_to(opened, parse_policy(POLICY), str(write_parquet(tmp_path / "s.parquet", people)), user="carl")

    def served(opened: OpenSite) -> tuple[int, int]:
        return opened.store.current("t").catalog.version, ends(opened, "COUNT(*)")[0]

    assert opened.store.versions("t") == (1, 2, 3)
    assert served(opened) == (3, 6)
    assert serve_version(opened, "t", 2, user="carl") == 3
    assert served(opened) == (2, 40)
    assert served(open_gate(opened.site)) == (2, 40)
    for version in (0, 4, -1):
        with pytest.raises(ConfigError) as refused:
            serve_version(opened, "t", version, user="carl")
        assert refused.value.code == "QG804"
        assert "1, 2, 3" in refused.value.remedy
    assert served(opened) == (2, 40)
    assert put(opened, POLICY, OLD).version == 4
    assert served(opened) == (4, 6)
    noted = [
        (event["kind"], event["body"].get("to", event["body"].get("version")))
        for event in opened.log.events()
        if event["user"] == "carl"
    ]
    assert noted == [("publish", 1), ("publish", 2), ("publish", 3), ("rollback", 2)]


def test_earlier_vaults_outlive_a_lost_store(tmp_path: Path) -> None:
    """Only the vault of a version that was never finished is swept; raw rows of the others are nobody's to delete."""
    opened = new_site(tmp_path)
    for _ in range(3):
        put(opened, POLICY, OLD)
    shutil.rmtree(opened.site.store / "t")

    assert put(opened, POLICY, NEW).version == 4
    assert len(list((opened.site.vault / "t").glob("v*.duckdb"))) == 4
