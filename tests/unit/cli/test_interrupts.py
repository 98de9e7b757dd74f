"""Ctrl-C and a full disk while something is published: what is said agrees with what is served.

Children of one process that has imported everything press Ctrl-C on themselves when they come to a certain file, or may
write small files only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from querygate.core.limits.interrupts import is_interrupt, uninterrupted
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from tests.api.small_site import write_inputs
from tests.forks import forks
from tests.places import ROOT
from tests.work import HANG_S

PUBLISH = """
import json, os, resource, signal, sys
from click.testing import CliRunner
from querygate.cli import main
import querygate.cli.dataset

def act(site, policy, source, at, size, report):
    if int(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    def hook(event, args):
        if event in ("os.rename", "os.mkdir", "os.chmod") and any(str(one).endswith(at) for one in args[:2]):
            os.kill(os.getpid(), signal.SIGINT)
    sys.addaudithook(hook)
    words = ["publish", "--site", site, "--policy", policy, "--source", source, "--report", report]
    done = CliRunner().invoke(main, words, prog_name="querygate")
    print(json.dumps([done.exit_code, done.stdout, done.stderr]), flush=True)
"""


@pytest.fixture(scope="module")
def children():
    with forks(PUBLISH) as running:
        yield running


@pytest.fixture
def publish(children, clinic, tmp_path):
    """The exit code, standard output and standard error of a publication into the site."""
    policy, source = write_inputs(tmp_path)

    def run(at, size=0, report="none"):
        children.start(clinic, policy, source, at, size, report)
        ended, (line,) = children.end()
        assert ended == 0
        return json.loads(line)

    return run


def served(site):
    opened = open_gate(open_site(site))
    events = [event["body"]["version"] for event in opened.log.events() if event["kind"] == "publish"]
    return opened.store.current("clinic").catalog.version, events


@pytest.mark.parametrize("at", ["vault/clinic/staged-v00002.duckdb", "store/clinic/staged-v00002.duckdb"])
def test_before_the_switch_nothing_was_published(publish, clinic, at):
    code, _, said = publish(at)
    assert code == 130
    assert said.endswith("Interrupted: nothing was published. Version 1 is still served.\n")
    assert served(clinic) == (1, [1])


@pytest.mark.parametrize("at", ["vault/clinic/v00002.duckdb", "store/clinic/v00002.duckdb", "clinic/current"])
def test_at_the_switch_the_version_is_served_and_on_record(publish, clinic, at):
    code, said, beside = publish(at)
    assert code == 0
    assert "Published clinic, version 2" in said
    assert "Aborted" not in beside
    assert served(clinic) == (2, [1, 2])


def test_while_the_report_is_made_the_version_is_served(run, publish, clinic):
    code, said, beside = publish("reports/staged-v00002", report="json")
    assert code == 0
    assert "Published clinic, version 2" in said
    assert "the version is published and served, but its report could not be made" in beside
    assert "querygate report clinic 2 --again" in beside
    assert "QG900" not in beside
    assert served(clinic) == (2, [1, 2])
    assert run("report", "clinic", 2, "--again").exit_code == 0


@pytest.mark.parametrize("size", [100_000, 300_000, 700_000])
def test_a_full_disk_is_called_that(publish, clinic, size):
    code, _, said = publish("nothing", size)
    assert code == 2
    assert "QG804 The site is not ready\nThe disk is full" in said
    assert "No new version is served." in said
    assert served(clinic)[0] == 1


BEGINNING = """
import os, signal, sys
from querygate.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)
def hook(event, args):
    if event == sys.argv[1] and str(args[0]).endswith(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(hook)
main(["publish", "--policy", sys.argv[3], "--source", "x.csv", "--site", sys.argv[4]], prog_name="querygate")
"""


@pytest.mark.parametrize(
    ("event", "name", "said"),
    [("import", "custody.publish.publish", "nothing was done."), ("open", "clinic.toml", "nothing was published.")],
)
def test_from_the_start_of_the_command_it_says_what_stands(clinic, tmp_path, event, name, said):
    policy, _ = write_inputs(tmp_path)
    command = [sys.executable, "-c", BEGINNING, event, name, policy, clinic]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=HANG_S, check=False)
    assert (done.returncode, done.stderr) == (130, f"Interrupted: {said}\n")
    assert served(clinic) == (1, [1])


ENGINE = """
import os, signal, threading
import duckdb
from querygate.core.limits.interrupts import is_interrupt

signal.signal(signal.SIGINT, signal.default_int_handler)
database = duckdb.connect(config={"threads": 1})
told = None
while told is None:  # one that comes before the engine has begun is Python's own, and one after it, lost
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        database.execute("SELECT SUM(random()) FROM range(300000000)")
        timer.join()
    except KeyboardInterrupt:
        continue
    except Exception as error:
        told = error
print(is_interrupt(told), type(told).__name__)
"""


def test_an_engine_s_way_of_telling_is_known():
    command = [sys.executable, "-c", ENGINE]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=5 * HANG_S, check=True)
    assert done.stdout == "True RuntimeError\n"
    assert not is_interrupt(RuntimeError("something else"))


def test_a_moment_without_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
