"""From a request to a fetched extract: who sees what, what is on the disk, and what happens when it was changed."""

from __future__ import annotations

import fcntl
import io
import json
import shutil
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from querygate.control import Log
from querygate.core.errors import ConfigError, ExtractRefused, Fault, QueryGateError
from querygate.core.extracts.use_agreement import UseAgreement
from querygate.core.types import Principal
from querygate.custody.use_cases.request_notifications import send_waiting
from querygate.custody.use_cases.withdraw_dataset import withdraw_dataset
from querygate.custody.worker.worker_tasks import Upkeep
from querygate.site.admin_overview import receivers
from querygate.site.extract_requests.extract_package import in_archive, in_folder, opened, pack, unpack, verify
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.job_exchange import JobExchange
from querygate.site.layout import Site
from querygate.site.open_gate import open_gate
from querygate.site.settings import Settings
from tests.api.small_site import make_small_site
from tests.docs.pages import ROOT, blocks
from tests.extract_site import ANN, BOB, CARL, DORA, WISH, CsvBuilder, approve, release
from tests.webhook import receiving
from tests.work import wait_until

ALL_THE_WAY = ("request", "submit", "take", "approve", "build", "release", "fetch")


class Clock:
    def __init__(self):
        self.moment = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self):
        return self.moment


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    small = make_small_site(tmp_path_factory.mktemp("extracts"))
    small.opened.log.database.close()
    return small.opened.site


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_with(made, tmp_path, clock):
    """The site with other settings, under a clock that the test winds."""
    folder = shutil.copytree(made.folder, tmp_path / "site")

    def open_site(**settings):
        site = open_gate(Site(folder, Settings({**made.settings.values, **settings})))
        return replace(site, log=Log(site.log.database, clock))

    return open_site


@pytest.fixture
def site(open_with):
    return open_with()


@pytest.fixture
def extracts(site):
    return Extracts(site, CsvBuilder)


def code_of(act, *words, **more):
    with pytest.raises(QueryGateError) as refused:
        act(*words, **more)
    return refused.value.code


def kinds(site):
    return [event["kind"] for event in site.log.events() if event["kind"].startswith("export.")]


def test_the_whole_way(extracts, site, clock):
    ident = extracts.request(ANN, WISH)["id"]
    release(extracts, ident)
    shown = extracts.show(ANN, ident)
    assert (shown["state"], shown["expires"]) == ("released", "2026-03-31T12:00:00.000000Z")
    assert (shown["summary"], extracts.show(CARL, ident)["summary"]["k"]) == (None, 5)
    with extracts.fetch(ANN, ident) as handle, zipfile.ZipFile(handle) as archive:
        assert archive.namelist() == ["data.csv", "figures/risk.txt", "manifest.json", "report.html"]
        text = archive.read("manifest.json")
    manifest = json.loads(text)
    catalog = site.store.current("clinic").catalog
    assert manifest["request"] == ident
    assert (manifest["dataset"], manifest["version"], manifest["method"]) == ("clinic", 1, "mondrian")
    assert manifest["policy_hash"] == catalog.policy_hash
    assert manifest["wish"] == shown["wish"]
    assert manifest["made"] == "2026-03-01T12:00:00.000000Z"
    assert [file["name"] for file in manifest["files"]] == ["data.csv", "figures/risk.txt", "report.html"]
    assert kinds(site) == [f"export.{act}" for act in ALL_THE_WAY]
    [built] = [event["body"] for event in site.log.events() if event["kind"] == "export.build"]
    assert built["manifest"] == sha256(text).hexdigest() == shown["manifest"]
    assert site.log.verify().entries == len(list(site.log.events()))
    clock.moment += timedelta(days=30)
    assert code_of(extracts.fetch, ANN, ident) == "QG606"
    assert extracts.show(ANN, ident)["state"] == "expired"
    assert list(site.site.extracts.iterdir()) == []


def test_two_reviewers_where_the_site_wants_two(open_with):
    extracts = Extracts(open_with(extract_reviewers=2, extract_days=1), CsvBuilder)
    ident = extracts.request(ANN, WISH)["id"]
    extracts.act(ANN, ident, "submit")
    extracts.act(CARL, ident, "take")
    assert extracts.act(CARL, ident, "approve")["state"] == "in_review"
    assert code_of(extracts.act, CARL, ident, "approve") == "QG602"
    extracts.act(DORA, ident, "return", "Why so many columns?")
    extracts.edit(ANN, ident, {**WISH, "columns": ["age"], "models": []})
    extracts.act(ANN, ident, "submit", "Only age, then.")
    extracts.act(DORA, ident, "take")
    assert extracts.act(DORA, ident, "approve")["state"] == "in_review"  # what carl approved was another wish
    approved = extracts.act(CARL, ident, "approve")
    assert (approved["state"], approved["approvals"]) == ("approved", ["dora", "carl"])
    extracts.act(CARL, ident, "build")
    assert extracts.act(DORA, ident, "release")["expires"] == "2026-03-02T12:00:00.000000Z"


def test_a_custodian_who_asks_needs_another(extracts):
    ident = extracts.request(CARL, WISH)["id"]
    extracts.act(CARL, ident, "submit")
    assert code_of(extracts.act, CARL, ident, "take") == "QG602"
    extracts.act(DORA, ident, "take")
    for act in ("approve", "reject", "return"):
        assert code_of(extracts.act, CARL, ident, act, "fine by me") == "QG602"
    extracts.act(DORA, ident, "approve")
    extracts.act(CARL, ident, "build")
    assert code_of(extracts.act, CARL, ident, "release") == "QG602"
    assert extracts.act(DORA, ident, "release")["state"] == "released"


def test_researchers_see_their_own_and_custodians_all(extracts):
    mine, other = extracts.request(ANN, WISH)["id"], extracts.request(BOB, WISH)["id"]
    assert [one["id"] for one in extracts.listed(ANN)] == [mine]
    assert [one["id"] for one in extracts.listed(CARL)] == [other, mine]
    assert extracts.listed(CARL, mine=True) == []
    assert extracts.listed(CARL, state="released") == []
    assert code_of(extracts.listed, CARL, state="lost") == "QG604"
    for act in (extracts.show, extracts.fetch, extracts.report):
        assert code_of(act, ANN, other) == code_of(act, ANN, "x_nothing") == "QG603"
    assert code_of(extracts.act, ANN, other, "submit") == "QG603"
    assert code_of(extracts.edit, ANN, other, WISH) == "QG603"


def test_figures_are_for_reviewers_and_the_report_for_all_once_it_is_released(extracts):
    ident = extracts.request(ANN, WISH)["id"]
    approve(extracts, ident, CARL)
    preview = extracts.show(CARL, ident, preview=True)["preview"]
    assert preview["learnt"] == {"queries": 0, "by": "ann"}
    assert code_of(extracts.show, ANN, ident, preview=True) == "QG602"
    assert (extracts.may_preview(CARL, ident), extracts.may_preview(ANN, ident)) == (True, False)
    assert code_of(extracts.report, CARL, ident) == "QG601"
    extracts.act(CARL, ident, "build")
    built = extracts.show(ANN, ident)
    assert (built["summary"], built["manifest"]) == (None, None)
    assert extracts.show(CARL, ident)["summary"]["records"] == 3
    assert code_of(extracts.report, ANN, ident) == "QG601"
    assert extracts.report(CARL, ident) == f"<p>{ident}</p>".encode()
    extracts.act(CARL, ident, "release")
    assert extracts.report(ANN, ident) == f"<p>{ident}</p>".encode()
    assert not extracts.may_preview(CARL, ident)
    extracts.act(CARL, ident, "revoke", "They have left.")
    assert code_of(extracts.report, ANN, ident) == code_of(extracts.fetch, ANN, ident) == "QG606"


def test_a_preview_says_what_cannot_be(extracts):
    ident = extracts.request(ANN, {**WISH, "purpose": "impossible"})["id"]
    assert extracts.show(CARL, ident, preview=True)["preview"]["refused"]["code"] == "QG605"


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({}, "dataset"),
        ({"dataset": "clinic"}, "purpose"),
        ({**WISH, "colour": "red"}, "colour"),
        ({**WISH, "columns": ["mrn"]}, "columns"),
        ({**WISH, "columns": ["age; DROP TABLE"]}, "columns"),
        ({**WISH, "k": 1}, "k"),
        ({**WISH, "k": True}, "k"),
        ({**WISH, "models": ["magic: y ~ x"]}, "models"),
        ({**WISH, "tolerances": {"mean(age)": float("nan")}}, "tolerances"),
        ({**WISH, "purpose": "half \ud800"}, "purpose"),
        ({**WISH, "purpose": "x" * 4001}, "purpose"),
    ],
)
def test_a_wish_that_cannot_be_is_refused_by_its_key(extracts, body, key):
    with pytest.raises(ExtractRefused) as refused:
        extracts.request(ANN, body)
    assert refused.value.code == "QG604"
    assert refused.value.detail.startswith(f"{key}:")
    assert extracts.listed(ANN) == []


def test_of_a_dataset_that_there_is(extracts):
    assert code_of(extracts.request, ANN, {**WISH, "dataset": "other"}) == "QG303"
    ident = extracts.request(ANN, WISH)["id"]
    assert code_of(extracts.edit, ANN, ident, {**WISH, "dataset": "other"}) == "QG303"


def test_a_build_that_fails_leaves_it_approved_and_says_why(extracts, site, caplog):
    ident = extracts.request(ANN, {**WISH, "purpose": "impossible"})["id"]
    approve(extracts, ident, CARL)
    assert code_of(extracts.act, CARL, ident, "build") == "QG605"
    shown = extracts.show(CARL, ident)
    assert (shown["state"], shown["failure"]) == ("approved", "QG605: There are too few records.")
    assert extracts.show(ANN, ident)["failure"] is None
    last = list(site.log.events())[-1]
    assert (last["kind"], last["body"]["to"], last["body"]["failed"]) == ("export.build", "approved", "QG605")

    broken = extracts.request(ANN, {**WISH, "purpose": "broken"})["id"]
    approve(extracts, broken, CARL)
    with pytest.raises(Fault) as fault:
        extracts.act(CARL, broken, "build")
    assert fault.value.incident in extracts.show(CARL, broken)["failure"]
    assert "Smith" not in json.dumps(extracts.show(CARL, broken)) + caplog.text


def test_figures_that_are_no_json_fail_the_build(site):
    class Odd(CsvBuilder):
        def build(self, wish, folder, **more):
            return {**super().build(wish, folder, **more), "risk": float("nan")}

    extracts = Extracts(site, Odd)
    ident = extracts.request(ANN, WISH)["id"]
    approve(extracts, ident, CARL)
    assert code_of(extracts.act, CARL, ident, "build") == "QG900"
    good = Extracts(site, CsvBuilder)
    assert good.act(CARL, ident, "build")["failure"] is None


def test_nothing_is_built_or_released_of_a_dataset_that_was_withdrawn(extracts, site):
    built, approved = (extracts.request(ANN, WISH)["id"] for _ in range(2))
    for ident in (built, approved):
        approve(extracts, ident, CARL)
    extracts.act(CARL, built, "build")
    remains = withdraw_dataset(site, "clinic", user="carl")
    assert set(remains.extracts) == {built, approved}
    assert code_of(extracts.act, CARL, built, "release") == "QG312"
    assert code_of(extracts.act, CARL, approved, "build") == "QG312"
    assert code_of(extracts.request, ANN, WISH) == "QG312"
    assert extracts.show(CARL, built)["state"] == "built"
    assert extracts.act(CARL, built, "revoke")["state"] == "revoked"


def test_without_a_vault_it_gives_out_what_was_released_and_makes_nothing(extracts, site):
    gate = Extracts(site)
    ident = extracts.request(ANN, WISH)["id"]
    approve(extracts, ident, CARL)
    assert code_of(gate.show, CARL, ident, preview=True) == "QG310"
    assert code_of(gate.act, CARL, ident, "build") == "QG310"
    extracts.act(CARL, ident, "build")
    assert code_of(gate.act, CARL, ident, "release") == code_of(gate.report, CARL, ident) == "QG310"
    extracts.act(CARL, ident, "release")
    shutil.rmtree(site.site.vault)
    with gate.fetch(ANN, ident) as handle:
        assert zipfile.ZipFile(handle).testzip() is None
    assert gate.report(CARL, ident).startswith(b"<p>")
    assert gate.act(CARL, ident, "revoke")["state"] == "revoked"
    assert list(site.site.extracts.iterdir()) == []


def test_one_build_at_a_time(extracts, site):
    ident = extracts.request(ANN, WISH)["id"]
    approve(extracts, ident, CARL)
    folder = site.site.vault / "_extracts"
    folder.mkdir()
    with (folder / f"{ident}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert code_of(extracts.act, CARL, ident, "build") == "QG601"
        assert extracts.show(CARL, ident)["state"] == "approved"
    assert extracts.act(CARL, ident, "build")["state"] == "built"


def test_what_was_revoked_while_it_was_built_is_not_built(site):
    class Slow(CsvBuilder):
        def build(self, wish, folder, **more):
            Extracts(site).act(DORA, more["request_id"], "revoke", "Stop.")
            return super().build(wish, folder, **more)

    extracts = Extracts(site, Slow)
    ident = extracts.request(ANN, WISH)["id"]
    approve(extracts, ident, CARL)
    assert code_of(extracts.act, CARL, ident, "build") == "QG601"
    assert extracts.show(CARL, ident)["state"] == "revoked"
    assert list((site.site.vault / "_extracts" / ident).iterdir()) == []


def test_a_second_build_takes_the_place_of_the_first(extracts, site, clock):
    ident = extracts.request(ANN, WISH)["id"]
    approve(extracts, ident, CARL)
    first = extracts.act(CARL, ident, "build")["manifest"]
    clock.moment += timedelta(hours=1)
    second = extracts.act(CARL, ident, "build")["manifest"]
    assert first != second
    assert [path.name for path in (site.site.vault / "_extracts" / ident).iterdir()] == [second]


def test_comments_go_where_they_are_taken(extracts):
    ident = extracts.request(ANN, WISH)["id"]
    approve(extracts, ident, CARL)
    extracts.act(ANN, ident, "comment", "Thank you.")
    assert code_of(extracts.act, CARL, ident, "comment", " ") == "QG604"
    assert code_of(extracts.act, CARL, ident, "build", "now") == "QG604"
    assert extracts.show(CARL, ident)["events"][-1]["comment"] == "Thank you."
    assert extracts.act(CARL, ident, "build")["events"][-1]["after"] == "built"


# -- what was changed -------------------------------------------------------------------------------------------------


@pytest.fixture
def released(extracts, site):
    ident = extracts.request(ANN, WISH)["id"]
    release(extracts, ident)
    return ident, site.site.extracts / f"{ident}.zip"


def repacked(path, change):
    """The zip with other files in it, well-formed."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def falsify(files):
    """Another number, and a manifest that agrees with it."""
    old, files["data.csv"] = files["data.csv"], files["data.csv"].replace(b"120", b"125")
    sums = sha256(old).hexdigest().encode(), sha256(files["data.csv"]).hexdigest().encode()
    files["manifest.json"] = files["manifest.json"].replace(*sums)


CHANGES = {
    "a byte": lambda files: files.update({"data.csv": files["data.csv"].replace(b"120", b"125")}),
    "a file less": lambda files: files.pop("figures/risk.txt"),
    "a file more": lambda files: files.update({"notes.txt": b"hello"}),
    "no manifest": lambda files: files.pop("manifest.json"),
    "a manifest that is no JSON": lambda files: files.update({"manifest.json": b"{"}),
    "a manifest that is no manifest": lambda files: files.update({"manifest.json": b'{"files": [1]}'}),
    "a file and its manifest": falsify,
    "another wish in the manifest": lambda files: files.update(
        {"manifest.json": files["manifest.json"].replace(b"Does age matter?", b"Does sex matter?")}
    ),
    "a way out": lambda files: files.update({"../evil": b""}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_was_changed_is_not_given_out(extracts, site, released, change):
    ident, path = released
    repacked(path, lambda files: None)
    extracts.fetch(ANN, ident).close()  # packed otherwise, but the same files
    repacked(path, change)
    assert code_of(extracts.fetch, ANN, ident) == code_of(extracts.report, ANN, ident) == "QG607"
    assert kinds(site).count("export.fetch") == 1


def test_what_was_cut_off_or_taken_away_is_not_given_out(extracts, released):
    ident, path = released
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert code_of(extracts.fetch, ANN, ident) == "QG607"
    path.unlink()
    assert code_of(extracts.fetch, ANN, ident) == code_of(extracts.report, ANN, ident) == "QG607"


def test_whatever_byte_is_changed_the_files_are_refused_or_the_same(released):
    _, path = released
    whole = path.read_bytes()
    with opened(path) as contents:
        known = verify(contents).sha256
        true = {name: contents.open(name).read() for name in contents.sizes}
    codes = []
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0x11
        try:
            with opened(io.BytesIO(changed)) as contents:
                verify(contents, known)
                assert {name: contents.open(name).read() for name in contents.sizes} == true
        except ExtractRefused as problem:
            codes.append(problem.code)
    assert len(codes) > len(whole) / 2
    assert set(codes) == {"QG607"}


def test_what_was_changed_in_the_vault_is_not_released(extracts, site):
    ident = extracts.request(ANN, WISH)["id"]
    approve(extracts, ident, CARL)
    built = extracts.act(CARL, ident, "build")["manifest"]
    folder = site.site.vault / "_extracts" / ident / built
    (folder / "data.csv").write_text("age,sbp\n31,121\n")
    assert code_of(extracts.act, CARL, ident, "release") == "QG607"
    assert extracts.show(CARL, ident)["state"] == "built"
    assert not site.site.extracts.exists() or not list(site.site.extracts.iterdir())
    extracts.act(CARL, ident, "build")
    assert extracts.act(CARL, ident, "release")["state"] == "released"


def test_a_link_is_no_file(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "data.csv").symlink_to("/etc/hostname")
    with pytest.raises(ExtractRefused) as refused:
        in_folder(tmp_path / "x")
    assert refused.value.code == "QG607"


def test_a_zip_is_the_same_each_time_and_its_folder_too(released, tmp_path):
    _, path = released
    with opened(path) as contents:
        unpack(contents, tmp_path / "out")
        verify(in_folder(tmp_path / "out"))
    again = io.BytesIO()
    pack(in_folder(tmp_path / "out"), again)
    assert again.getvalue() == path.read_bytes()
    assert (tmp_path / "out" / "data.csv").stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(again) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert in_archive(archive).sizes["figures/risk.txt"] == 3


# -- who is told ------------------------------------------------------------------------------------------------------


def test_those_named_in_the_settings_are_told_without_data(open_with, tmp_path):
    mails = tmp_path / "mails"
    with receiving() as receiver:
        site = open_with(extract_webhook=receiver.url, extract_mail_command=f"sh -c 'cat >> {mails}'")
        extracts = Extracts(site, CsvBuilder)
        ident = extracts.request(ANN, WISH)["id"]
        assert send_waiting(site) == []
        assert receiver.received == []
        release(extracts, ident)
        assert send_waiting(site) == []
        assert send_waiting(site) == []
        assert [one["state"] for one in receiver.received] == ["submitted", "approved", "released"]
        assert {one["request"] for one in receiver.received} == {ident}
        assert "age" not in json.dumps(receiver.received) + mails.read_text()
        assert mails.read_text().count("Subject: QueryGate: request") == 3
        receiver.status = 500
        extracts.act(CARL, ident, "revoke")
        assert send_waiting(site) == [("webhook", 1, "the webhook answered 500")]
        receiver.status = 200
        assert send_waiting(site) == []
        assert receiver.received[-1]["state"] == "revoked"


def test_a_webhook_is_signed_as_its_page_says(open_with, monkeypatch):
    secret = 32 * "s"
    monkeypatch.setenv("HOOK_SECRET", f"{secret}\n")
    [code] = [block.text for block in blocks(ROOT / "docs/how-to/receive-webhooks.md") if block.language == "python"]
    told = {}
    exec(code, told)
    is_genuine = told["is_genuine"]
    with receiving() as receiver:
        site = open_with(extract_webhook=receiver.url, webhook_secret="env:HOOK_SECRET")
        extracts = Extracts(site, CsvBuilder)
        extracts.act(ANN, extracts.request(ANN, WISH)["id"], "submit")
        receiver.status = 500
        assert send_waiting(site) == [("webhook", 1, "the webhook answered 500")]
        [shown] = receivers(site)
        assert (shown.what, shown.state) == ("extract requests", "1 waiting, tried 1 times")
        receiver.status = 200
        assert send_waiting(site) == []
        assert receivers(site)[0].state == "everything has arrived"
    [headers], [body] = receiver.headers, receiver.bodies
    assert headers["Webhook-Id"] == headers["Idempotency-Key"]
    assert is_genuine(secret.encode(), headers, body)
    assert not is_genuine(secret.encode(), headers, body + b" ")
    assert not is_genuine(b"another", headers, body)
    earlier = str(int(headers["Webhook-Timestamp"]) - 3600)
    assert not is_genuine(secret.encode(), {**headers, "Webhook-Timestamp": earlier}, body)
    with pytest.raises(ConfigError, match="webhook_secret"):
        send_waiting(open_with(extract_webhook=receiver.url, webhook_secret="nowhere"))


def test_a_worker_sends_what_waits(open_with):
    with receiving() as receiver:
        site = open_with(extract_webhook=receiver.url)
        extracts = Extracts(site, CsvBuilder)
        release(extracts, extracts.request(ANN, WISH)["id"])
        with Upkeep(site, JobExchange(site)):
            wait_until(lambda: len(receiver.received) >= 3)
        assert [one["state"] for one in receiver.received] == ["submitted", "approved", "released"]


def test_a_person_of_the_console_is_named_in_the_log_with_the_door(site):
    Extracts(site, via="http").request(Principal("ann", "researcher"), WISH)
    assert list(site.log.events())[-1]["body"]["via"] == "http"


def test_a_note_of_reviewers_leaves_no_trace_in_what_the_requester_sees(extracts, clock):
    ident = extracts.request(ANN, WISH)["id"]
    extracts.act(ANN, ident, "submit")
    before = extracts.show(ANN, ident)
    clock.moment += timedelta(days=1)
    extracts.act(CARL, ident, "note", "She asked for this before.")
    assert extracts.show(ANN, ident) == before
    extracts.act(CARL, ident, "comment", "We will look at it.")
    assert [event["number"] for event in extracts.show(ANN, ident)["events"]] == [1, 2, 3]
    assert [event["number"] for event in extracts.show(CARL, ident)["events"]] == [1, 2, 3, 4]


SIGNED = UseAgreement("Ann Lee", "a" * 64, "2026-03-05")
LIMITED = {"dataset": "clinic", "purpose": "Readmission", "kind": "limited", "columns": ["age", "sbp"]}


def test_a_limited_data_set_leaves_under_an_agreement_and_not_without(open_with, clock):
    site = open_with(extract_reviewers=2)
    extracts = Extracts(site, CsvBuilder)
    ident = extracts.request(ANN, LIMITED)["id"]
    extracts.act(ANN, ident, "submit")
    extracts.act(CARL, ident, "take")
    before = kinds(site)
    assert code_of(extracts.act, CARL, ident, "approve") == "QG609"
    assert code_of(extracts.act, CARL, ident, "approve", agreement=replace(SIGNED, until="2026-02-28")) == "QG609"
    assert code_of(extracts.act, CARL, ident, "comment", "Yes.", agreement=SIGNED) == "QG604"
    assert kinds(site) == before
    extracts.act(CARL, ident, "approve", agreement=SIGNED)
    assert code_of(extracts.act, DORA, ident, "approve", agreement=replace(SIGNED, sha256="b" * 64)) == "QG609"
    approved = extracts.act(DORA, ident, "approve", agreement=SIGNED)
    assert (approved["state"], approved["agreement"]) == ("approved", SIGNED.to_dict())
    logged = [event["body"].get("agreement") for event in site.log.events() if event["kind"] == "export.approve"]
    assert logged == [SIGNED.to_dict()] * 2
    extracts.act(CARL, ident, "build")
    assert extracts.act(CARL, ident, "release")["expires"] == "2026-03-05T23:59:59.999999Z"  # not in 30 days
    with extracts.fetch(ANN, ident) as handle, zipfile.ZipFile(handle) as archive:
        assert json.loads(archive.read("manifest.json"))["agreement"] == SIGNED.to_dict()
    clock.moment += timedelta(days=5)
    assert code_of(extracts.fetch, ANN, ident) == "QG606"


def test_an_agreement_that_ends_stops_the_build_and_an_edit_voids_it(extracts, clock):
    ident = extracts.request(ANN, LIMITED)["id"]
    extracts.act(ANN, ident, "submit")
    extracts.act(CARL, ident, "take")
    extracts.act(CARL, ident, "approve", agreement=SIGNED)
    clock.moment += timedelta(days=5)
    assert code_of(extracts.act, CARL, ident, "build") == "QG609"
    assert extracts.show(CARL, ident)["state"] == "approved"
    assert code_of(extracts.act, CARL, ident, "approve", agreement=SIGNED) == "QG601"
