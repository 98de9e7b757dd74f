"""The reference: complete, and the same as what the program would write now."""

from __future__ import annotations

import pytest

from querygate.cli.commands import main
from querygate.cli.reference_pages import make_pages, walk, write_pages
from querygate.core.errors import CODES
from querygate.site.settings import SETTINGS
from querygate.web.routes import ROUTES
from tests.each import each
from tests.places import ROOT

FOLDER = ROOT / "docs" / "reference"
PAGES = make_pages()
COMMANDS = dict(walk(main, "querygate"))


@pytest.mark.parametrize("name", PAGES)
def test_the_committed_page_is_up_to_date(name):
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name], "run `make docs`"


def test_pages_are_written_where_they_are_asked_for(tmp_path):
    write_pages(tmp_path / "new" / "folder")
    assert {path.name for path in (tmp_path / "new" / "folder").iterdir()} == set(PAGES)


@each("code", CODES)
def test_every_code_is_documented(code):
    assert f"\n## {code}\n" in PAGES["refusals.md"]


@pytest.mark.parametrize("setting", [setting.name for setting in SETTINGS])
def test_every_setting_is_documented(setting):
    assert f"| `{setting}` |" in PAGES["settings.md"]


@each("route", ROUTES)
def test_every_route_is_documented(route):
    assert f"### `{route.method} {route.path}`" in PAGES["http.md"]


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_with_an_example(run, path):
    done = run(*path.split()[1:], "--help")
    assert done.exit_code == 0
    assert f"Example:\n  {path}" in done.stdout
    assert f"## `{path}`" in PAGES["cli.md"]


@pytest.mark.parametrize("words", [[], ["user"], ["key"], ["log"]])
def test_a_group_lists_its_commands(run, words):
    done = run(*words, "--help")
    assert "Commands:" in done.stdout
    assert "--debug" not in done.stdout


def test_the_commands_of_the_contract_are_there():
    wanted = "init demo publish datasets versions rollback query serve doctor user.add user.list key.new key.revoke"
    wanted += " key.list log.list log.verify log.export"
    assert {f"querygate {name.replace('.', ' ')}" for name in wanted.split()} <= set(COMMANDS)
