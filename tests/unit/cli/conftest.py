from __future__ import annotations

import shutil
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner

from querygate.cli import main
from tests.api.small_site import make_small_site, write_inputs


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Every test begins in an empty folder, without settings from the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("QUERYGATE_SITE", raising=False)


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A published site that tests may ask, but not change."""
    return make_small_site(tmp_path_factory.mktemp("cli"))


@pytest.fixture
def inputs(tmp_path):
    return write_inputs(tmp_path)


def ran(*words, **more):
    quick = {"publish": {"kind": "none"}}  # reports have tests of their own
    return CliRunner().invoke(main, [str(word) for word in words], prog_name="querygate", default_map=quick, **more)


@pytest.fixture(scope="session")
def run():
    """Run a command line; gives its exit code, standard output and standard error."""
    return ran


@pytest.fixture(scope="session")
def published(tmp_path_factory):
    """A site as the commands make it, to be copied."""
    folder = tmp_path_factory.mktemp("published")
    policy, source = write_inputs(folder)
    with chdir(folder):
        assert ran("init").exit_code == 0
        assert ran("publish", "--policy", policy, "--source", source).exit_code == 0
    return folder / "site"


@pytest.fixture
def clinic(published, tmp_path):
    """A published site in the folder where commands are run; tests may change it."""
    return Path(shutil.copytree(published, tmp_path / "site"))


@pytest.fixture
def at(run, small):
    """Run a command on the small site."""
    return lambda *words, **more: run("--site", small.folder, *words, **more)
