"""A build or a release that is killed at any moment: the request stands where it stood, and the next try succeeds."""

from __future__ import annotations

import random
import shutil
import signal
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from querygate.site.extract_requests.extracts import Extracts
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.api.small_site import make_small_site
from tests.extract_site import ANN, CARL, WISH, CsvBuilder, approve
from tests.forks import Forks, forks

ACT = """
import os, signal, time
from pathlib import Path
from querygate.site.extract_requests import extract_package as module
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.open_gate import open_gate
from querygate.site.layout import open_site
from tests.extract_site import CARL, CsvBuilder

def die(*anything):
    os.kill(os.getpid(), signal.SIGKILL)

class Dying(CsvBuilder):
    def __init__(self, moment):
        self.moment = moment

    def build(self, wish, folder, **more):
        (folder / "data.csv").write_text("half")
        if self.moment == "building":
            die()
        if self.moment == "any":
            os.write(1, b"begun\\n")
            time.sleep(0.02)
        found = super().build(wish, folder, **more)
        if self.moment == "before the manifest":
            die()
        return found

def act(folder, ident, action, moment):
    site = open_gate(open_site(Path(folder)))
    if moment == "before the name":
        seal = module.seal
        module.seal = lambda *given: die(seal(*given))
    if moment == "before the state":
        with site.log.database.writing() as connection:
            connection.create_function("die", 0, die)
            connection.execute("CREATE TEMP TRIGGER last AFTER INSERT ON log BEGIN SELECT die(); END")
    if moment == "packing":
        module.pack = lambda contents, stream: (stream.write(b"half"), stream.flush(), die())
    Extracts(site, lambda: Dying(moment)).act(CARL, ident, action)
    signal.pause()  # whoever was to kill it is late
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    opened = make_small_site(tmp_path_factory.mktemp("template")).opened
    opened.log.database.close()  # a copy would drop the locks that SQLite has on the file
    return opened.site.folder


@pytest.fixture
def site(template: Path, tmp_path: Path) -> OpenSite:
    return open_gate(open_site(Path(shutil.copytree(template, tmp_path / "site"))))


@pytest.fixture(scope="module")
def actors() -> Iterator[Forks]:
    with forks(ACT) as actors:
        yield actors


def killed(actors: Forks, site: OpenSite, ident: str, action: str, moment: str) -> OpenSite:
    """The site, after a process that did this was killed at that moment."""
    assert actors.run(site.site.folder, ident, action, moment) == -signal.SIGKILL
    return open_gate(open_site(site.site.folder))


def check_whole(extracts: Extracts, site: OpenSite, ident: str) -> None:
    """It can be released and fetched, and holds what the builder wrote in the end."""
    extracts.act(CARL, ident, "release")
    with extracts.fetch(ANN, ident) as handle, zipfile.ZipFile(handle) as archive:
        assert archive.read("data.csv").startswith(b"age,sbp\n30-34")
    assert [path.name for path in site.site.extracts.iterdir()] == [f"{ident}.zip"]
    assert len(list((site.site.vault / "_extracts" / ident).iterdir())) == 1
    assert site.log.verify().entries == len(list(site.log.events()))


@pytest.mark.parametrize("moment", ["building", "before the manifest", "before the name", "before the state"])
def test_a_build_that_is_killed_leaves_it_approved_and_the_next_succeeds(
    actors: Forks, site: OpenSite, moment: str
) -> None:
    extracts = Extracts(site, CsvBuilder)
    ident = extracts.request(ANN, WISH)["id"]
    approve(extracts, ident, CARL)
    entries = site.log.verify().entries

    again = killed(actors, site, ident, "build", moment)

    extracts = Extracts(again, CsvBuilder)
    shown = extracts.show(CARL, ident)
    assert (shown["state"], shown["manifest"], shown["failure"]) == ("approved", None, None)
    assert again.log.verify().entries == entries
    assert extracts.act(CARL, ident, "build")["state"] == "built"
    check_whole(extracts, again, ident)


@pytest.mark.parametrize("moment", ["before the manifest", "before the name", "before the state"])
def test_a_second_build_that_is_killed_leaves_the_first(actors: Forks, site: OpenSite, moment: str) -> None:
    extracts = Extracts(site, CsvBuilder)
    ident = extracts.request(ANN, WISH)["id"]
    approve(extracts, ident, CARL)
    first = extracts.act(CARL, ident, "build")["manifest"]

    extracts = Extracts(again := killed(actors, site, ident, "build", moment), CsvBuilder)

    assert extracts.show(CARL, ident)["manifest"] == first
    assert extracts.report(CARL, ident).startswith(b"<p>")
    extracts.act(CARL, ident, "build")
    check_whole(extracts, again, ident)


@pytest.mark.parametrize("moment", ["packing", "before the state"])
def test_a_release_that_is_killed_gives_nothing_out(actors: Forks, site: OpenSite, moment: str) -> None:
    extracts = Extracts(site, CsvBuilder)
    ident = extracts.request(ANN, WISH)["id"]
    approve(extracts, ident, CARL)
    extracts.act(CARL, ident, "build")

    extracts = Extracts(again := killed(actors, site, ident, "release", moment), CsvBuilder)

    assert extracts.show(ANN, ident)["state"] == "built"
    with pytest.raises(Exception, match="'fetch' is not possible"):
        extracts.fetch(ANN, ident)
    check_whole(extracts, again, ident)


def test_killed_again_and_again(actors: Forks, site: OpenSite) -> None:
    extracts = Extracts(site, CsvBuilder)
    ident = extracts.request(ANN, WISH)["id"]
    approve(extracts, ident, CARL)
    rng = random.Random(8)
    for _ in range(4):
        actors.start(site.site.folder, ident, "build", "any")
        assert actors.line() == "begun"
        time.sleep(rng.uniform(0, 0.06))
        actors.kill()
        assert actors.end() == (-signal.SIGKILL, [])
        shown = extracts.show(CARL, ident)
        assert shown["state"] in ("approved", "built")
        assert (shown["manifest"] is None) == (shown["state"] == "approved")
    assert extracts.act(CARL, ident, "build")["state"] == "built"
    check_whole(extracts, site, ident)
