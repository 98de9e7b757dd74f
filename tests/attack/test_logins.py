"""Guessing keys over HTTP: it is throttled and on record, costs little, and nobody else notices."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from querygate.control.keys.key_proofs import KeyProofs
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.web import create_app, sign_in
from querygate.web.routes import API
from tests.each import each
from tests.empty_site import empty_site
from tests.work import HANG_S

GUESSER, OTHER, PROXY = "203.0.113.9", "198.51.100.7", "10.0.0.1"


class Counted:
    """The comparison of keys, which counts how often it is made."""

    def __init__(self):
        self.compared, self.verify = 0, KeyProofs.opens

    def __call__(self, *given):
        self.compared += 1
        return self.verify(*given)


@pytest.fixture
def comparison(monkeypatch):
    counted = Counted()
    monkeypatch.setattr(KeyProofs, "opens", lambda *given: counted(*given))
    return counted


@pytest.fixture
def site(tmp_path, monkeypatch, comparison, still_throttles):
    monkeypatch.setenv("QUERYGATE_LOGIN_FAILURES_PER_MINUTE", "10")
    folder = empty_site(tmp_path / "site").folder
    (folder / "querygate.toml").write_text(f'trusted_proxies = "{PROXY}"\n')
    opened = open_gate(open_site(folder))
    opened.accounts.add_user("ann", "researcher")
    yield opened
    opened.log.database.close()


def wrong(number):
    return f"qg_{'abcdefgh'}_{number:052d}".replace("0", "a").replace("1", "b").replace("8", "c").replace("9", "d")


def sent(client, key, address, **headers):
    return client.get(
        f"{API}/datasets", headers={"Authorization": f"Bearer {key}", **headers}, environ_base={"REMOTE_ADDR": address}
    )


def failures(site):
    return [event["body"] for event in site.log.events() if event["kind"] == "login.failed"]


def test_brute_force_is_throttled_and_others_are_unaffected(site, comparison):
    client, key = create_app(site).test_client(), site.accounts.keys.new("ann").secret
    assert sent(client, key, OTHER).status_code == 200
    before = comparison.compared
    guessed = [sent(client, wrong(number), GUESSER) for number in range(300)]
    statuses = [given.status_code for given in guessed]
    assert statuses[:10] == [401] * 10
    assert set(statuses[20:]) == {429}
    assert guessed[-1].json["code"] == "QG317"
    assert 1 <= int(guessed[-1].headers["Retry-After"]) <= 60
    assert comparison.compared - before <= 20  # and not 300 times
    assert sent(client, key, OTHER).status_code == 200
    assert sent(client, key, GUESSER).status_code == 200  # a key that was accepted before still opens, from anywhere
    fresh = site.accounts.keys.new("ann").secret
    assert sent(client, fresh, OTHER).status_code == 200
    assert sent(client, fresh.replace("qg_", "qg_", 1), GUESSER).status_code == 200


def test_guessing_at_the_form_of_a_browser_is_throttled_too(site):
    client, key, there = create_app(site).test_client(), site.accounts.keys.new("ann").secret, {"REMOTE_ADDR": GUESSER}
    guessed = [client.post("/sign-in", data={"key": wrong(number)}, environ_base=there) for number in range(60)]
    assert guessed[0].status_code == 401
    assert {one.status_code for one in guessed[30:]} == {429}
    assert client.post("/sign-in", data={"key": key}, environ_base=there).status_code == 429
    assert client.post("/sign-in", data={"key": key}, environ_base={"REMOTE_ADDR": OTHER}).status_code == 303


def test_a_new_key_waits_where_somebody_guesses_and_nowhere_else(site):
    client, key = create_app(site).test_client(), site.accounts.keys.new("ann").secret
    for number in range(12):
        sent(client, wrong(number), GUESSER)
    assert sent(client, key, GUESSER).status_code == 429
    assert sent(client, key, OTHER).status_code == 200


@each("slip", ["ann", "qg_abcdefgh", wrong(1)[:-1], wrong(1) + "a", wrong(1).upper(), "ä" * 64, "Bearer"])
def test_what_is_no_key_at_all_counts_against_nobody_and_is_on_record(site, comparison, slip):
    """Somebody who copied half of a key does not shut out a colleague behind the same proxy."""
    client, key, before = create_app(site).test_client(), site.accounts.keys.new("ann").secret, comparison.compared
    assert {sent(client, slip.encode().decode("latin-1"), GUESSER).status_code for _ in range(30)} == {401}
    assert comparison.compared == before
    assert sent(client, key, GUESSER).status_code == 200
    assert failures(site)[-1]["address"] == GUESSER


def test_a_flood_is_on_record_in_few_entries(site, monkeypatch):
    now = datetime.now(UTC).replace(second=1, microsecond=0)
    monkeypatch.setattr(site.log, "clock", lambda: now)
    client = create_app(site).test_client()
    for number in range(200):
        sent(client, wrong(number), GUESSER)
    assert failures(site) == [{"address": GUESSER, "failed": 1, "throttled": 0}]  # the first, at once
    for number in range(200):
        sent(client, wrong(number), f"192.0.2.{number}")
    assert len(failures(site)) <= 21
    later = now + timedelta(minutes=1)
    monkeypatch.setattr(site.log, "clock", lambda: later)
    sent(client, "", OTHER)
    found = failures(site)
    assert len(found) <= 45
    assert sum(one["failed"] + one["throttled"] for one in found) == 400
    assert found[-1]["address"] == "other addresses"
    assert [one["throttled"] for one in found if one["address"] == GUESSER][-1] > 150
    assert not any("qg_" in str(one) for one in found)
    assert site.log.verify().entries >= len(found)


def test_a_page_that_was_opened_without_a_key_is_no_attempt(site):
    client = create_app(site).test_client()
    for _ in range(50):
        assert client.get(f"{API}/datasets").status_code == 401
    assert failures(site) == []


def test_nobody_hides_behind_a_header(site):
    """Another address in X-Forwarded-For for every guess: believed from the proxy of the site, and from nobody else."""
    client = create_app(site).test_client()
    spoofed = [
        sent(client, wrong(number), GUESSER, **{"X-Forwarded-For": f"192.0.2.{number}"}).status_code
        for number in range(60)
    ]
    assert spoofed.count(401) <= 12
    through = [
        sent(client, wrong(number), PROXY, **{"X-Forwarded-For": f"192.0.2.{number}, {OTHER}"}).status_code
        for number in range(60)
    ]
    assert through.count(401) <= 12  # the proxy saw OTHER; what stands before it was written by the guesser
    assert {one["address"] for one in failures(site)} == {GUESSER, OTHER}


def test_a_guesser_does_not_frame_others(site):
    """Whoever writes the address of somebody else into the header does not lock them out."""
    client, key = create_app(site).test_client(), site.accounts.keys.new("ann").secret
    for number in range(50):
        sent(client, wrong(number), GUESSER, **{"X-Forwarded-For": OTHER})
    assert sent(client, key, OTHER).status_code == 200
    assert sent(client, key, PROXY, **{"X-Forwarded-For": OTHER}).status_code == 200


def test_owners_of_keys_wait_for_their_turn_after_a_restart(site, comparison, monkeypatch):
    """All keys have to be compared anew, few at once. Nobody is taken for a guesser; half of the threads stay free."""
    app, keys = create_app(site), [site.accounts.keys.new("ann").secret for _ in range(5)]
    begun, go, compare = threading.Semaphore(0), threading.Event(), comparison.verify

    def slow(*given):
        begun.release()
        assert go.wait(HANG_S)
        return compare(*given)

    monkeypatch.setattr(comparison, "verify", slow)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(sent, app.test_client(), key, OTHER) for key in keys[:4]]
        assert all(begun.acquire(timeout=HANG_S) for _ in range(2))
        while app.extensions["querygate"][0]._waiting._value:
            time.sleep(0.01)
        refused = sent(app.test_client(), keys[4], OTHER)
        assert not begun.acquire(timeout=0.7)  # more than two are not compared, however long it takes
        go.set()
        assert [one.result(HANG_S).status_code for one in waiting] == [200] * 4
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    assert refused.json["detail"] == "Too many keys are being checked at the moment."
    assert failures(site) == []


def test_a_process_that_begins_again_turns_no_owner_of_a_key_away(site, comparison, monkeypatch):
    """All of its threads have keys that it does not remember; whoever finds no place gets one a moment later."""
    monkeypatch.setattr(sign_in, "PLACE_S", HANG_S)  # however busy the machine is
    keys = [site.accounts.keys.new("ann").secret for _ in range(8)]
    app, together, compare = create_app(site), threading.Barrier(len(keys)), comparison.verify
    monkeypatch.setattr(comparison, "verify", lambda *given: time.sleep(0.02) or compare(*given))

    def come(key):
        together.wait(HANG_S)
        return sent(app.test_client(), key, OTHER).status_code

    with ThreadPoolExecutor(len(keys)) as pool:
        assert list(pool.map(come, keys)) == [200] * len(keys)
