"""People whom two custodians both have: three steps, three files, one count."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from querygate.cli import main
from querygate.custody.overlap.overlap_count import make_request
from querygate.custody.overlap.shared_secret import SharedSecret, sign
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import open_gate


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["overlap", *map(str, words)])


def write_people(path: Path, people: list[str]) -> Path:
    path.write_text("\n".join(["id,visits", *(f'"{one}",1' for one in people)]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """Two custodians with a shared secret. Leading zeros, blanks, accents, a repeated person, and nobody."""
    init_site(tmp_path / "site")
    (tmp_path / "both.key").write_text("correct horse battery staple\n")
    here = [f"{n:06}" for n in range(40)] + ["Zo\u00eb", " 000001 ", "000001", ""]
    there = [f"{n:06}" for n in range(30, 90)] + ["Zoe\u0308", "1"]
    write_people(tmp_path / "a.csv", here)
    write_people(tmp_path / "b.csv", there)
    return tmp_path


def ask(desk: Path, name: str = "ask") -> Result:
    common = ("--source", desk / "a.csv", "--column", "id", "--secret", desk / "both.key")
    return run("ask", *common, "--out", desk / f"{name}.qgo", "--keep", desk / f"{name}-own.qgo")


def reply(desk: Path, *more: str, request: str = "ask.qgo", out: str = "reply.qgo") -> Result:
    common = ("--source", desk / "b.csv", "--column", "id", "--secret", desk / "both.key", "--site", desk / "site")
    return run("reply", desk / request, "--partner", "north", *common, "--out", desk / out, *more)


def test_the_first_custodian_knows_how_many_and_the_log_has_the_reply(desk: Path) -> None:
    assert ask(desk).exit_code == 0
    told = reply(desk)
    assert told.exit_code == 0, told.output
    assert "41 people" in told.output
    found = run("count", desk / "reply.qgo", "--keep", desk / "ask-own.qgo", "--format", "json")
    assert json.loads(found.stdout) == {"own": 41, "common": 11}
    log = open_gate(open_site(desk / "site")).log
    (event,) = log.events_in("overlap")
    assert event["body"]["partner"] == "north"
    assert event["body"]["asked"] == 41


def test_files_do_not_hold_identifiers(desk: Path) -> None:
    ask(desk)
    reply(desk)
    for name in ("ask.qgo", "reply.qgo", "ask-own.qgo"):
        assert b"000031" not in (desk / name).read_bytes()
        assert (desk / name).stat().st_mode & 0o077 == 0


def test_a_second_reply_needs_a_reason(desk: Path) -> None:
    ask(desk)
    reply(desk)
    told = reply(desk, out="second.qgo")
    assert "QG803" in told.output
    assert not (desk / "second.qgo").exists()
    assert reply(desk, "--again", "the first file was lost", out="second.qgo").exit_code == 0


def test_few_people_are_not_counted(desk: Path) -> None:
    write_people(desk / "a.csv", [f"{n}" for n in range(19)])
    told = ask(desk)
    assert "QG803" in told.output
    assert not (desk / "ask.qgo").exists()


def test_files_made_with_another_secret_or_changed_on_the_way_are_refused(desk: Path) -> None:
    """Nobody would see it of a count that it is wrong."""
    ask(desk)
    ask(desk, "second")
    reply(desk)
    asked, replied = (desk / "ask.qgo").read_bytes(), (desk / "reply.qgo").read_bytes()

    def count(data: bytes, own: str = "ask-own.qgo") -> str:
        (desk / "changed.qgo").write_bytes(data)
        return run("count", desk / "changed.qgo", "--keep", desk / own).output

    assert "11 of your" in count(replied)
    assert "QG802" in count(replied, "second-own.qgo")
    for changed in (replied[:-1], replied + b"x", flipped(replied, 60), flipped(replied, len(replied) - 40)):
        assert "QG802" in count(changed)
    kept = (desk / "ask-own.qgo").read_bytes()
    for damaged in (kept[:-1], kept[:-40], flipped(kept, 120), flipped(kept, 8)):
        (desk / "second-own.qgo").write_bytes(damaged)
        assert "QG802" in count(replied, "second-own.qgo")
    (desk / "ask.qgo").write_bytes(flipped(asked, 80))
    assert "QG802" in reply(desk, "--again", "x", out="x.qgo").output
    (desk / "ask.qgo").write_bytes(asked)
    (desk / "both.key").write_text("another secret of some length")
    assert "QG802" in reply(desk, "--again", "x", out="x.qgo").output


@pytest.mark.parametrize("harm", ["aborts", "fewer"])
def test_a_hostile_custodian_costs_no_more_than_the_count(desk: Path, harm: str) -> None:
    """They have the secret, so what they send is signed. The first kind ends the process that has the library in it."""
    psi = pytest.importorskip("private_set_intersection.python")
    ask(desk)
    reply(desk)
    body = (desk / "reply.qgo").read_bytes()[36:]
    end = 8 + struct.unpack(">Q", body[:8])[0]
    setup, response = psi.ServerSetup.FromString(body[8:end]), psi.Response.FromString(body[end:])
    if harm == "aborts":
        setup.gcs.hash_range = 0
    else:
        del response.encrypted_elements[5:]
    parts = setup.SerializeToString(), response.SerializeToString()
    body = struct.pack(">Q", len(parts[0])) + b"".join(parts)
    key = SharedSecret.read((desk / "both.key").read_bytes()).signing_key
    asked = hashlib.sha256((desk / "ask.qgo").read_bytes()).digest()
    (desk / "hostile.qgo").write_bytes(b"QGO2" + sign(key, b"QGO2", asked, body) + body)
    assert "QG802" in run("count", desk / "hostile.qgo", "--keep", desk / "ask-own.qgo").output


def test_nobody_is_asked_about_twice(desk: Path) -> None:
    """Ten people, the first once, the second twice, the third four times ...: one count would tell of each."""
    secret = SharedSecret.read((desk / "both.key").read_bytes())
    marks = [secret.mark(f"person {i}") for i in range(5) for _ in range(2**i)]
    (desk / "ask.qgo").write_bytes(make_request(marks, secret).message)

    assert "QG802" in reply(desk).output


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize("data", [b"", b"QGO1", b"QGO1\xff\xff", b"QGO2" + b"\0" * 30, bytes(range(256)) * 9])
def test_files_that_do_not_belong_here(desk: Path, data: bytes) -> None:
    (desk / "ask.qgo").write_bytes(data)
    told = reply(desk)
    assert told.exit_code in (1, 2)
    assert "QG80" in told.output
    assert not (desk / "reply.qgo").exists()
    (desk / "own.qgo").write_bytes(data)
    assert "QG802" in run("count", desk / "ask.qgo", "--keep", desk / "own.qgo").output


def test_a_column_or_a_secret_that_is_none(desk: Path) -> None:
    out = ("--out", desk / "x", "--keep", desk / "y")
    source = ("--source", desk / "a.csv")
    assert "QG802" in run("ask", *source, "--column", "nhs", "--secret", desk / "both.key", *out).output
    (desk / "short").write_text("short")
    assert "QG805" in run("ask", *source, "--column", "id", "--secret", desk / "short", *out).output
    assert not (desk / "x").exists()


def test_a_request_that_cannot_be_written_leaves_nothing(desk: Path) -> None:
    (desk / "ask.qgo").write_text("somebody's")
    assert "already exists" in ask(desk).output
    assert not (desk / "ask-own.qgo").exists()
    assert (desk / "ask.qgo").read_text() == "somebody's"


def test_a_file_that_no_count_needs_is_not_read(desk: Path) -> None:
    for name in ("reply.qgo", "own.qgo"):
        with (desk / name).open("wb") as file:
            file.truncate(5 << 30)  # takes no room on disk
    assert "too large" in run("count", desk / "reply.qgo", "--keep", desk / "own.qgo").output
