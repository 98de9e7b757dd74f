"""Who comes in over the wire: one of their keys, proved; and nobody learns why somebody else does not."""

from __future__ import annotations

import logging
import struct
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from querygate.site.open_gate import open_gate
from querygate.site.process_limits import DoorLimits
from querygate.web import create_app
from querygate.wire.startup import _find
from tests.two_networks import write_certificate
from tests.wire.raw_client import RawClient, fields, startup
from tests.wire.wire_site import WireSite, make_site, publish_survey, served
from tests.work import count_calls

NOBODYS = "qg_aaaaaaaa_" + "a" * 52


def refused(site: WireSite, user: str, key: str) -> bytes:
    """The error as it came."""
    with RawClient(site.port) as client:
        with pytest.raises(PermissionError) as told:
            client.sign_in(user, key)
        body: bytes = told.value.args[0]
        return body


def salt_of(site: WireSite, user: str, key: str) -> bytes:
    with RawClient(site.port) as client:
        return client.sign_in(user, key)


def test_each_key_of_a_person_opens_and_upper_case_counts_as_lower(site: WireSite) -> None:
    second = site.opened.accounts.keys.new("ann").secret
    salts = {salt_of(site, name, key) for name in ("ann", "ANN") for key in (site.keys["ann"], second)}
    assert len(salts) == 1


def test_every_way_of_being_wrong_gets_the_same_bytes(site: WireSite) -> None:
    accounts = site.opened.accounts
    revoked, expired = accounts.keys.new("ann"), accounts.keys.new("bob", expires=datetime.now(UTC) + timedelta(days=1))
    accounts.keys.revoke(revoked.id)
    with accounts._database.writing() as connection:
        connection.execute("UPDATE keys SET expires = '2020-01-01T00:00:00.000000Z' WHERE id = ?", (expired.id,))
    wrong = [
        ("nobody", NOBODYS), ("ann", NOBODYS), ("ann", "x"), ("ann", revoked.secret), ("bob", expired.secret),
        ("bob", site.keys["ann"]), ("ann", site.keys["ann"].upper()),
    ]  # fmt: skip
    told = {refused(site, user, key) for user, key in wrong}
    assert len(told) == 1
    found = fields(told.pop())
    assert (found["S"], found["C"]) == ("FATAL", "28000")
    assert found["M"].startswith("QG301: ")


def test_it_is_as_much_work_to_turn_away_a_stranger_as_somebody_with_a_wrong_key(site: WireSite) -> None:
    """Counted in calls, which no busy machine changes: looking up, and trying the proof on what was found."""
    proofs, accounts = site.opened.accounts.keys.proofs, site.opened.accounts
    accounts.keys.revoke(accounts.keys.new("rita").id)

    def turn_away(name: str) -> int:
        def tried() -> None:
            proofs.salt(name)
            assert _find(proofs.of_user(name), b"message", b"x" * 32) is None

        tried()  # once, so that nothing is done for the first time
        return count_calls(tried)[1]

    work = [turn_away(name) for name in ("nobody", "adam", "rita")]
    assert max(work) - min(work) <= 0.3 * min(work), work


def test_a_name_that_nobody_has_gets_the_same_salt_each_time(site: WireSite) -> None:
    proofs = site.opened.accounts.keys.proofs
    assert proofs.salt("nobody") == proofs.salt("Nobody") != proofs.salt("ann")


def test_failures_are_on_record_and_throttled_and_no_key_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, still_throttles: None
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("QUERYGATE_LOGIN_FAILURES_PER_MINUTE", "3")
    opened = open_gate(make_site(tmp_path))
    keys = publish_survey(opened, tmp_path)
    with served(opened) as port:
        site = WireSite(opened, port, keys)
        for _ in range(5):  # another language than SCRAM: nothing was tried
            with RawClient(port) as client:
                client.send(startup("ann"))
                client.read()
                client.send(b"p" + struct.pack("!I", 4 + 5 + 6) + b"PLAIN\0" + b"secret"[:5])
                client.read()
        told = [fields(refused(site, "ann", NOBODYS))["M"][:5] for _ in range(3)]
        assert told == ["QG301"] * 3
        with RawClient(port) as client:
            client.send(startup("ann"))
            kind, body = client.read()
        assert (kind, fields(body)["M"][:5]) == (b"E", "QG317")
    noted = [entry for entry in opened.log.events() if entry["kind"] == "login.failed"]
    assert noted
    assert "127.0.0.1" in str(noted)
    assert not any(secret in caplog.text for secret in (*keys.values(), NOBODYS))
    assert keys["ann"] not in str(list(opened.log.events()))


def test_a_key_from_before_opens_once_it_was_used_over_http(site: WireSite) -> None:
    accounts = site.opened.accounts
    old = accounts.keys.new("bob")
    with accounts._database.writing() as connection:
        connection.execute("UPDATE keys SET scram = NULL WHERE id = ?", (old.id,))
    assert fields(refused(site, "bob", old.secret))["M"].startswith("QG301")
    accounts.keys._verified._hashes.clear()
    assert accounts.keys.authenticate(old.secret).name == "bob"
    assert salt_of(site, "bob", old.secret)


def test_a_session_ends_when_its_key_is_revoked(site: WireSite) -> None:
    key = site.opened.accounts.keys.new("ann")
    with psycopg.connect(site.dsn(password=key.secret), autocommit=True) as connection:
        connection.execute("SELECT COUNT(*) FROM survey")
        site.opened.accounts.keys.revoke(key.id)
        with pytest.raises(psycopg.OperationalError, match="QG301: Your key was revoked"):
            connection.execute("SELECT COUNT(*) FROM survey")


def test_datasets_without_a_grant_are_not_there(tmp_path: Path) -> None:
    opened = open_gate(make_site(tmp_path))
    keys = publish_survey(opened, tmp_path)
    with opened.log.database.writing() as connection:
        connection.execute("DELETE FROM grants")
    with served(opened) as port:
        site = WireSite(opened, port, keys)
        with site.connect() as client:
            assert not client.execute("SELECT * FROM pg_tables").fetchall()
            assert not client.execute("SELECT * FROM information_schema.columns").fetchall()
            for name in ("survey", "nothing"):
                with pytest.raises(psycopg.errors.InvalidCatalogName, match="QG303"):
                    client.execute(f"SELECT COUNT(*) FROM {name}")
        with site.connect("carl") as client:  # a custodian needs none
            assert client.execute("SELECT tablename FROM pg_tables").fetchall() == [("survey",)]


def test_limits_hold_for_both_doors_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, still_throttles: None
) -> None:
    monkeypatch.setenv("QUERYGATE_REQUESTS_PER_MINUTE", "2")
    monkeypatch.setenv("QUERYGATE_LOGIN_FAILURES_PER_MINUTE", "2")
    opened = open_gate(make_site(tmp_path))
    keys, counted, question = publish_survey(opened, tmp_path), DoorLimits(opened), "SELECT COUNT(*) FROM survey"
    http = create_app(opened, counted=counted).test_client()

    def ask(key: str) -> tuple[int, str]:
        told = http.post(
            "/api/v1/query", json={"dataset": "survey", "sql": question}, headers={"Authorization": f"Bearer {key}"}
        )
        return told.status_code, told.json.get("code", "")

    with served(opened, counted=counted) as port, WireSite(opened, port, keys).connect() as client:
        assert ask(keys["ann"]) == (200, "")
        client.execute(question)
        with pytest.raises(psycopg.Error, match="QG318") as told:
            client.execute(question)
        assert told.value.sqlstate == "53400"
        assert ask(keys["ann"]) == (429, "QG318")
        assert fields(refused(WireSite(opened, port, keys), "ann", NOBODYS))["M"][:5] == "QG301"
        assert ask(NOBODYS) == (401, "QG301")
        with pytest.raises(psycopg.OperationalError, match="QG317"):
            WireSite(opened, port, keys).connect("bob")
        assert ask(NOBODYS) == (429, "QG317")


def test_tls(tmp_path: Path) -> None:
    certificate, key = tmp_path / "gate.crt", tmp_path / "gate.key"
    write_certificate(key, certificate)
    settings = f"pg_certificate = '{certificate}'\npg_certificate_key = '{key}'"
    opened = open_gate(make_site(tmp_path, settings))
    keys = publish_survey(opened, tmp_path)
    with served(opened) as port:
        site = WireSite(opened, port, keys)
        with site.connect(sslmode="verify-ca", sslrootcert=certificate) as client:
            assert client.pgconn.ssl_in_use
            assert client.execute("SELECT COUNT(*) FROM survey").fetchall()
        with RawClient(port) as stuffed:  # what is sent before TLS must not count as sent within it
            stuffed.send(b"\0\0\0\x08\x04\xd2\x16\x2f" + startup("ann"))
            assert b"S" not in [kind for kind, _ in stuffed.until_end()]


def test_without_tls_other_machines_are_sent_away(tmp_path: Path) -> None:
    """Another address of this machine's own network stands for another machine."""
    found = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False).stdout.split()
    address = next((one for one in found if "." in one and not one.startswith("127.")), None)
    if address is None:
        pytest.skip("this machine has no address but its own")
    opened = open_gate(make_site(tmp_path, ""))
    keys = publish_survey(opened, tmp_path)
    with served(opened, "0.0.0.0") as port:
        told = f"host={address} port={port} user=ann password={keys['ann']} dbname=querygate sslmode=disable"
        with pytest.raises(psycopg.OperationalError, match="only encrypted connections"):
            psycopg.connect(told)
