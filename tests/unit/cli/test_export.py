"""export: the whole way at the console, in several names, and what is checked and printed on it."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import zipfile
from pathlib import Path

import pytest

from querygate.cli import export
from querygate.cli.shared.actor import os_user
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from tests.api.small_site import make_small_site
from tests.extract_site import CsvBuilder
from tests.own_keys import in_the_name_of, key_file
from tests.webhook import receiving

ASK = ("--dataset", "clinic", "--purpose", "Does age matter?", "--columns", "age,sbp", "--k", "5")


@pytest.fixture(autouse=True)
def builder(monkeypatch):
    monkeypatch.setattr(export, "open_builder", lambda site, progress: CsvBuilder())


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    opened = make_small_site(tmp_path_factory.mktemp("exports")).opened
    opened.log.database.close()  # a copy would drop the locks that SQLite has on the file
    return opened.site.folder


@pytest.fixture
def site(template, tmp_path):
    folder = shutil.copytree(template, tmp_path / "site")
    opened = open_gate(open_site(folder))
    opened.accounts.add_user("dora", "reviewer")
    return opened


def told(done):
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def ident(run, site):
    return told(run("export", "request", "--as", "ann", *ASK, "--format", "json"))["id"]


def bring(run, ident, *steps):
    for step in steps:
        name, action = step.split()
        done = run("export", action, ident, *in_the_name_of(name, action, Path("site")))
        assert done.exit_code == 0, done.output
    return done


RELEASED = ("ann submit", "carl take", "carl approve", "carl build", "carl release")


def test_where_there_is_no_vault_it_says_so(run, site, ident):
    bring(run, ident, "ann submit", "carl take", "carl approve")
    shutil.rmtree(site.site.vault)
    done = run("export", "build", ident, *in_the_name_of("carl", "build", Path("site")))
    assert (done.exit_code, done.stderr[:5]) == (1, "QG310")


def test_the_whole_way_and_a_tampered_copy(run, site, ident, tmp_path):
    done = bring(run, ident, *RELEASED)
    assert done.stdout.startswith(f"{ident} is now released. It can be fetched until 20")
    assert run("export", "fetch", ident, "--as", "ann", "--out", "mine").stdout == f"Fetched {ident} to mine.\n"
    assert (tmp_path / "mine" / "data.csv").read_text().startswith("age,sbp\n")
    whole = run("export", "fetch", "--verify", "mine")
    assert whole.exit_code == 0
    assert f"The manifest matches the site's record of {ident}." in whole.stdout
    (tmp_path / "mine" / "data.csv").write_text("age,sbp\n31,121\n")
    changed = run("export", "fetch", "--verify", "mine")
    assert (changed.exit_code, changed.stderr.split()[0]) == (1, "QG607")
    assert "data.csv has changed." in changed.stderr
    assert site.log.verify().entries == len(list(site.log.events()))


def test_only_an_approval_takes_an_acknowledgement_and_only_where_there_are_views(run, site, ident):
    bring(run, ident, "ann submit", "carl take")
    carl = ("--key-file", key_file(site.site.folder, "carl"))
    refused = run("export", "approve", ident, *carl, "--beside-views")
    assert (refused.exit_code, refused.stderr.split()[0]) == (1, "QG604")
    assert run("export", "reject", ident, *carl, "--beside-views").exit_code == 2


@pytest.mark.parametrize("name", [["--as", "ann"], []])
def test_the_command_that_is_advised_works(run, site, name):
    advised = run("export", "request", *name, *ASK).stdout.split("`")[1]
    done = run(*shlex.split(advised)[1:])
    assert (done.exit_code, done.stdout.endswith("is now submitted.\n")) == (0, True)


def test_whoever_forgets_to_say_who_they_are_is_told_how(run, site, ident):
    refused = run("export", "submit", ident)
    assert (refused.exit_code, refused.stderr.split()[0]) == (1, "QG602")
    assert "--as NAME" in refused.stderr


def test_two_reviewers(run, site, ident):
    (site.site.folder / "querygate.toml").write_text("extract_reviewers = 2\nextract_days = 1\n")
    done = bring(run, ident, "ann submit", "carl take", "carl approve")
    assert done.stdout == f"{ident} is now in review. Approved by 1 of 2.\n"
    again = run("export", "approve", ident, "--key-file", key_file(site.site.folder, "carl"))
    assert (again.exit_code, again.stderr.split()[0]) == (1, "QG602")
    bring(run, ident, "dora approve", "carl build", "dora release")
    assert told(run("export", "show", ident, "--format", "json"))["approvals"] == ["carl", "dora"]


def test_nobody_decides_at_the_console_without_their_own_key(run, site, ident):
    bring(run, ident, "ann submit")
    for before, action in (([], "take"), (["carl take"], "approve"), (["carl approve", "carl build"], "release")):
        for step in before:
            bring(run, ident, step)
        for words in ([], ["--as", "carl"]):
            refused = run("export", action, ident, *words)
            assert (refused.exit_code, refused.stderr.split()[0]) == (1, "QG602")
            assert "own key" in refused.stderr
    [taken] = [event for event in site.log.events() if event["kind"] == "export.take"]
    assert (taken["user"], taken["body"]["os_user"]) == ("carl", os_user())
    assert "assumed" not in taken["body"]
    [asked] = [event for event in site.log.events() if event["kind"] == "export.request"]
    assert asked["body"]["assumed"] == "true"


def test_a_key_and_another_name_contradict_each_other(run, site, ident):
    bring(run, ident, "ann submit")
    refused = run("export", "take", ident, "--as", "carl", "--key-file", key_file(site.site.folder, "dora"))
    assert (refused.exit_code, "leave out --as" in refused.stderr) == (2, True)


def test_a_wish_from_a_file_and_options_over_it(run, site, tmp_path):
    (tmp_path / "wish.toml").write_text(
        'dataset = "clinic"\npurpose = "p"\nk = 5\nmodels = ["linear: sbp ~ age"]\n[tolerances]\n"mean(age)" = 5\n'
    )
    words = ("export", "request", "--file", "wish.toml", "--k", "9", "--model", "logistic: sex ~ age")
    made = told(run(*words, "--tolerance", "sign=0.1", "--formats", "csv, stata", "--format", "json"))["wish"]
    assert (made["k"], made["models"], made["formats"]) == (9, ["logistic: sex ~ age"], ["csv", "stata"])
    assert made["tolerances"] == {"sign": 0.1}


def test_an_edit_changes_what_is_given(run, site, ident):
    assert run("export", "edit", ident, "--as", "ann", "--k", "7").stdout == f"Changed {ident}.\n"
    wish = told(run("export", "show", ident, "--format", "json"))["wish"]
    assert (wish["k"], wish["columns"]) == (7, ["age", "sbp"])
    assert "QG602" in run("export", "edit", ident, "--k", "8").stderr
    bring(run, ident, "ann submit")
    assert "QG601" in run("export", "edit", ident, "--as", "ann", "--k", "8").stderr


@pytest.mark.parametrize(
    ("words", "exit_code", "said"),
    [
        ((), 1, "QG604"),
        (("--dataset", "clinic"), 1, "purpose: is missing."),
        (("--dataset", "other", "--purpose", "p"), 1, "QG303"),
        (("--dataset", "clinic", "--purpose", "p", "--k", "1"), 1, "k: must be a whole number"),
        (("--dataset", "clinic", "--purpose", "p", "--k", "many"), 2, "many"),
        (("--dataset", "clinic", "--purpose", "p", "--columns", "mrn"), 1, "mrn is not a column"),
        (("--dataset", "clinic", "--purpose", "p", "--tolerance", "5"), 2, "mean(age)=5"),
        (("--dataset", "clinic", "--purpose", "p", "--tolerance", "mean(age)=x"), 2, "mean(age)=5"),
        (("--dataset", "clinic", "--purpose", "p", "--suppress", "2"), 1, "suppress: must be a number"),
        (("--dataset", "clinic", "--purpose", "p", "--where", "nothing > 3"), 1, "QG203"),
        (("--dataset", "clinic", "--purpose", "p", "--model", "linear: sbp ~ nothing"), 1, "no column 'nothing'"),
        (("--dataset", "clinic", "--purpose", "p", "--method", "magic"), 1, "method: is not a method"),
        (("--file", "nothing.toml"), 2, "nothing.toml"),
    ],
)
def test_what_cannot_be_asked_is_said(run, site, words, exit_code, said):
    done = run("export", "request", *words)
    assert done.exit_code == exit_code
    assert said in done.stderr


@pytest.mark.parametrize("text", [b"k = ", b"\xff\xfe", b"a = " + b"[" * 3000])
def test_a_file_that_is_no_toml(run, site, tmp_path, text):
    (tmp_path / "wish.toml").write_bytes(text)
    done = run("export", "request", "--file", "wish.toml")
    assert (done.exit_code, done.stderr.split()[0]) == (1, "QG604")


def test_lists_are_of_whom_they_are_for(run, site, ident):
    told(run("export", "request", "--as", "bob", *ASK, "--format", "json"))
    assert len(told(run("export", "list", "--format", "json"))) == 2
    assert [one["id"] for one in told(run("export", "list", "--as", "ann", "--format", "json"))] == [ident]
    assert run("export", "list", "--state", "released").stdout == "There are no matching requests.\n"
    assert run("export", "list", "--mine").stdout == "There are no matching requests.\n"
    assert run("export", "list", "--state", "lost").exit_code == 2
    hidden, missing = (run("export", "show", one, "--as", "bob") for one in (ident, "x_1"))
    assert hidden.stderr == missing.stderr
    assert hidden.stderr.startswith("QG603")


def test_a_request_is_shown_to_a_reviewer_with_what_it_would_risk(run, site, ident):
    bring(run, ident, "ann submit", "carl take")
    run("export", "comment", ident, "--as", "ann", "--comment", "red\x1b[31m")
    shown = run("export", "show", ident).stdout
    for text in (
        "in review",
        "Does age matter?",
        "Preview",
        "Prosecutor: 0.2",
        "You can now: comment, note.",
    ):
        assert text in shown
    assert "\x1b" not in shown
    assert "Preview" not in run("export", "show", ident, "--as", "ann").stdout
    assert "Preview" not in run("export", "show", ident, "--no-preview").stdout
    bring(run, ident, "carl approve", "carl build")
    assert "Summary" in run("export", "show", ident).stdout
    assert "Summary" not in run("export", "show", ident, "--as", "ann").stdout


def test_returned_rejected_withdrawn_and_revoked(run, site, ident):
    bring(run, ident, "ann submit", "carl take")
    carl = ("--key-file", key_file(site.site.folder, "carl"))
    assert "comment: is missing" in run("export", "return", ident, *carl).stderr
    returned = run("export", "return", ident, *carl, "--comment", "Fewer columns?")
    assert returned.stdout == f"{ident} is now returned.\n"
    bring(run, ident, "ann withdraw")
    assert "QG601" in run("export", "submit", ident, "--as", "ann").stderr
    second = told(run("export", "request", "--as", "ann", *ASK, "--format", "json"))["id"]
    bring(run, second, *RELEASED)
    assert run("export", "revoke", second, "--comment", "They left.").exit_code == 0
    assert "QG606" in run("export", "fetch", second, "--as", "ann").stderr


def test_a_zip_is_fetched_where_there_is_no_folder_and_nothing_is_replaced(run, site, ident, tmp_path):
    bring(run, ident, *RELEASED)
    assert run("export", "fetch", ident, "--as", "ann").exit_code == 0
    with zipfile.ZipFile(tmp_path / f"{ident}.zip") as archive:
        assert "manifest.json" in archive.namelist()
    assert run("export", "fetch", ident, "--as", "ann").exit_code == 2
    assert "QG603" in run("export", "fetch", ident, "--as", "bob", "--out", "theirs").stderr
    assert not (tmp_path / "theirs").exists()


def test_a_copy_is_verified_with_and_without_a_site(run, site, ident, tmp_path):
    bring(run, ident, *RELEASED)
    run("export", "fetch", ident, "--as", "ann", "--out", "x.zip")
    found = told(run("export", "fetch", "--verify", "x.zip", "--format", "json"))
    assert (found["verified"], found["on_record"], found["request"]) == (True, True, ident)
    elsewhere = told(run("--site", "nowhere", "export", "fetch", "--verify", "x.zip", "--format", "json"))
    assert (elsewhere["verified"], elsewhere["on_record"]) == (True, False)
    assert found["manifest"] in run("--site", "nowhere", "export", "fetch", "--verify", "x.zip").stdout

    with zipfile.ZipFile("x.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["manifest.json"] = files["manifest.json"].replace(b"Does age matter?", b"Does sex matter?")
    with zipfile.ZipFile("y.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    assert run("--site", "nowhere", "export", "fetch", "--verify", "y.zip").exit_code == 0
    changed = run("export", "fetch", "--verify", "y.zip")
    assert (changed.exit_code, changed.stderr.split()[0]) == (1, "QG607")
    (tmp_path / "z.zip").write_bytes(b"PK\x03\x04 nothing")
    assert "QG607" in run("export", "fetch", "--verify", "z.zip").stderr


def test_what_another_site_released_is_not_known_here(run, site, ident):
    bring(run, ident, *RELEASED)
    run("export", "fetch", ident, "--as", "ann", "--out", "x.zip")
    run("init", "other")
    assert "no record" in run("--site", "other", "export", "fetch", "--verify", "x.zip").stderr


def test_fetch_takes_an_id_or_a_copy(run, site):
    assert run("export", "fetch").exit_code == 2
    assert run("export", "fetch", "x_1", "--verify", ".").exit_code == 2


def test_those_named_in_the_settings_are_told(run, site, ident):
    with receiving() as receiver:
        (site.site.folder / "querygate.toml").write_text(f'extract_webhook = "{receiver.url}"\n')
        receiver.status = 503
        done = run("export", "submit", ident, "--as", "ann")
        assert done.exit_code == 0
        assert done.stderr == "webhook: the webhook answered 503. Still to be sent: 1.\n"
        assert run("export", "notify").exit_code == 1
        receiver.status = 200
        assert run("export", "notify").exit_code == 0
        [notice] = receiver.received
        assert (notice["request"], notice["state"], notice["dataset"]) == (ident, "submitted", "clinic")
        assert "..." in run("doctor").stdout
        assert "/hook" not in run("doctor").stdout


def test_a_limited_data_set_is_approved_with_the_signed_file(run, site, tmp_path):
    asked = ("--dataset", "clinic", "--purpose", "Readmission", "--columns", "age,sbp", "--kind", "limited")
    ident = told(run("export", "request", "--as", "ann", *asked, "--format", "json"))["id"]
    bring(run, ident, "ann submit", "carl take")
    who = in_the_name_of("carl", "approve", Path("site"))
    refused = run("export", "approve", ident, *who)
    assert (refused.exit_code, "QG609" in refused.output) == (1, True)
    assert run("export", "approve", ident, *who, "--signed-by", "Ann Lee").exit_code == 2
    (tmp_path / "signed.txt").write_text("We will not identify anybody.")
    signed = ("--agreement", tmp_path / "signed.txt", "--signed-by", "Ann Lee", "--until", "2999-12-31")
    assert told(run("export", "approve", ident, *who, *signed, "--format", "json"))["agreement"] == {
        "signed_by": "Ann Lee",
        "sha256": hashlib.sha256(b"We will not identify anybody.").hexdigest(),
        "until": "2999-12-31",
    }
    assert "signed by Ann Lee, until 2999-12-31" in run("export", "show", ident, "--no-preview").output
