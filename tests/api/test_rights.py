"""Roles and rights: every role at every route and at every command."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.cli.shared.command_rights import rights_of
from querygate.core.rights import RIGHTS, ROLES, SCOPES, TABLE
from querygate.web import create_app
from querygate.web.routes import API, ROUTES
from tests.api.browser import Browser
from tests.api.route_paths import path_of
from tests.each import each
from tests.rights_site import CARL, make_rights_site

# Written out once more, by hand: the table is compared with what was agreed, and not with itself.
AGREED = """
           researcher reviewer custodian auditor admin
ask        x          .        x         .       .
ask_any    .          .        x         .       .
look       .          x        x         x       .
review     .          x        x         .       .
build      .          .        x         .       .
publish    .          .        x         .       .
oversee    .          .        x         x       .
audit      .          .        x         .       .
operate    .          .        x         .       .
grant      .          .        x         .       x
suspend    .          .        x         .       x
accounts   .          .        .         .       x
entrust    .          .        x         .       .
own_keys   x          x        x         x       x
work       .          .        x         .       .
"""
_HEAD, *_LINES = (line.split() for line in AGREED.strip().splitlines())
CELLS = {(role, line[0]): cell == "x" for line in _LINES for role, cell in zip(_HEAD, line[1:], strict=True)}


@pytest.fixture(scope="module")
def rights(tmp_path_factory):
    site = make_rights_site(tmp_path_factory.mktemp("rights"))
    site.grant("researcher")
    return site


def test_the_table_is_what_was_agreed():
    assert tuple(_HEAD) == ROLES
    assert {right for _, right in CELLS} == set(RIGHTS)
    assert {(role, right): right in TABLE[role] for role in ROLES for right in RIGHTS} == CELLS
    assert TABLE["console"] == set(RIGHTS)
    assert set().union(*SCOPES.values()) == set(RIGHTS) - {"entrust"}  # by a key of the whole role only


# -- over HTTP ------------------------------------------------------------------------------------------------------

LOCKED = [route for route in ROUTES if route.who]


def key_for(rights, role, route):
    """Whoever gives up their key needs one for this alone."""
    if route.name != "revoke_own_key":
        return rights.headers(role)
    return {"Authorization": f"Bearer {rights.opened.accounts.keys.new(role).secret}"}


def test_every_role_at_every_route(rights):
    client, wrong = rights.client(), []
    for role in ROLES:
        for route in LOCKED:
            given = client.open(
                path_of(route), method=route.method, headers=key_for(rights, role, route), buffered=True
            )
            refused = given.status_code == 403 and given.json["code"] == "QG302"
            if refused == any(CELLS[role, right] for right in route.who):
                wrong.append((role, route.name, given.status_code))
    assert wrong == []


def test_a_scope_leaves_less_of_a_role(rights):
    """Every scope with every right, for the role that has most of them."""
    for scope, within in SCOPES.items():
        accounts = rights.opened.accounts
        principal = accounts.keys.authenticate(accounts.keys.new("custodian", scopes=[scope]).secret)
        assert {right for right in RIGHTS if principal.may(right)} == within & TABLE["custodian"]


# -- at the command line ----------------------------------------------------------------------------------------------


def commands(group=main, words=()):
    context = click.Context(main)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from commands(found, (*words, name))
        elif any(option.name == "own_key" for option in found.params):
            yield " ".join((*words, name)), found


COMMANDS = dict(commands())


def needed_words(command, folder):
    """Something for everything that a command must be given; what it is does not matter here."""
    words = []
    for parameter in command.params:
        if parameter.required or parameter.name == "request_id":
            kind = parameter.type
            text = kind.choices[0] if isinstance(kind, click.Choice) else "1"
            text = str(folder / "querygate.toml") if isinstance(kind, click.Path) and kind.exists else text
            words += [text] if isinstance(parameter, click.Argument) else [parameter.opts[0], text]
    return words


def test_every_role_at_every_command(rights, monkeypatch):
    """With real keys through the real door; what lies behind it only says that it was reached."""
    reached, wrong = [], []
    files = {}
    for role in ROLES:
        files[role] = rights.folder.parent / f"{role}.key"
        files[role].write_text(rights.keys[role])
    for words, command in COMMANDS.items():
        monkeypatch.setattr(command, "callback", lambda **given: reached.append(1))
        line = [*words.split(), *needed_words(command, rights.folder), "--site", str(rights.folder)]
        for role in ROLES:
            reached.clear()
            done = CliRunner().invoke(main, [*line, "--key-file", str(files[role])], prog_name="querygate")
            needed = rights_of(words)
            may = not needed or any(CELLS[role, right] for right in needed)
            if bool(reached) != may or (not may and not done.stderr.startswith("QG302")):
                wrong.append((role, words, done.output[:80]))
    assert wrong == []


def test_every_right_has_a_door(rights):
    needed = {right for route in ROUTES for right in route.who} | {right for c in COMMANDS for right in rights_of(c)}
    assert needed | {"ask_any", "work"} == set(RIGHTS)  # about datasets, a worker's


@each("value", ["nonsense", "qg_aaaaaaaa_" + "a" * 52])
def test_a_key_that_opens_nothing_runs_nothing(rights, value):
    done = CliRunner().invoke(
        main, ["datasets", "--site", str(rights.folder)], prog_name="querygate", env={"QUERYGATE_KEY": value}
    )
    assert (done.exit_code, done.stderr.split()[0]) == (1, "QG301")


def test_with_a_key_commands_show_what_its_owner_may_see(rights):
    def run(*words, name):
        return CliRunner().invoke(
            main,
            [*words, "--site", str(rights.folder), "--format", "json"],
            prog_name="querygate",
            env={"QUERYGATE_KEY": rights.keys[name]},
        )

    sql = "SELECT COUNT(*) FROM clinic"
    assert [run("datasets", name=name).stdout.count('"dataset"') for name in ("researcher", "second", "auditor")] == [
        1, 0, 2,
    ]  # fmt: skip
    assert run("query", "--dataset", "clinic", sql, name="researcher").exit_code == 0
    assert "QG303" in run("query", "--dataset", "clinic", sql, name="second").output
    assert "QG303" in run("describe", "clinic", name="second").output
    assert rights.opened.log.queries().__next__()["user"] == "researcher"


# -- grants that are gone ------------------------------------------------------------------------------------------


def test_answers_that_were_given_stay_readable_without_the_grant(rights):
    """They have seen them. What is refused is every new question, and the dataset looks as if it were not there."""
    given = rights.grant("second")
    app, headers = create_app(rights.opened), rights.headers("second")
    client, page = app.test_client(), Browser(app, rights.keys["second"])
    question = {"dataset": "clinic", "sql": "SELECT COUNT(*) FROM clinic"}
    answer = client.post(f"{API}/query", json=question, headers=headers).json
    address = f"{API}/answers/{answer['query_id']}.json"
    before = client.get(address, headers=headers).data
    rights.opened.grants.revoke(given.id, by=CARL)
    assert client.get(address, headers=headers).data == before
    assert answer["query_id"] in page.get("/history").text
    assert page.get(f"/answers/{answer['query_id']}").status_code == 200
    assert client.post(f"{API}/query", json=question, headers=headers).json["code"] == "QG303"
    assert client.get(address, headers=rights.headers("researcher")).json["code"] == "QG304"
    rights.opened.accounts.disable_user("second")
    assert client.get(address, headers=headers).json["code"] == "QG301"
    assert page.get("/history").status_code == 303
    rights.opened.accounts.enable_user("second")
