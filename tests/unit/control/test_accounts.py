"""Users, keys and the door."""

import re
import secrets
import threading
from datetime import UTC, datetime, timedelta

import pytest

from querygate.control import Accounts, Database, Log
from querygate.control.keys import key_proofs, verified_keys
from querygate.control.keys import keys as key_module
from querygate.control.log.latest_time import CLOCK_ACCEPTED
from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.types import Principal


@pytest.fixture
def hashings(monkeypatch):
    """Every slow comparison that is made: with a verifier, or with the hash of a key from before there were any."""
    made, derive, match = [], key_proofs.make_verifier, key_module._matches
    monkeypatch.setattr(key_proofs, "make_verifier", lambda *given: made.append("verifier") or derive(*given))
    monkeypatch.setattr(key_module, "_matches", lambda *given: made.append("hash") or match(*given))
    return made


def refusal(accounts, presented):
    with pytest.raises(NotPermitted) as refused:
        accounts.keys.authenticate(presented)
    assert refused.value.__cause__ is None
    return refused.value


# -- users -----------------------------------------------------------------------------------------------


def test_users_are_added_and_listed(accounts):
    accounts.add_user("bob", "custodian")
    added = accounts.add_user("ann@example.org", "researcher")
    assert (added.name, added.role, added.disabled) == ("ann@example.org", "researcher", None)
    assert added.created == "2026-03-01T12:00:00.000000Z"
    assert [user.name for user in accounts.list_users()] == ["ann@example.org", "bob"]


@pytest.mark.parametrize("name", ["a", "A1", "x" * 64, "a.b_c@d-e", "0"])
def test_good_names(accounts, name):
    assert accounts.add_user(name, "researcher").name == name


@pytest.mark.parametrize(
    "name", ["", "x" * 65, ".a", "-a", "_a", "@a", "a b", "a\n", "ä", "a/b", "a'b", "١", "a\ud800"]
)
def test_bad_names(accounts, name):
    with pytest.raises(ConfigError) as refused:
        accounts.add_user(name, "researcher")
    assert refused.value.code == "QG806"
    assert accounts.list_users() == ()


@pytest.mark.parametrize("role", ["root", "", "Admin", "researcher "])
def test_bad_roles(accounts, role):
    with pytest.raises(ConfigError) as refused:
        accounts.add_user("ann", role)
    assert refused.value.code == "QG806"
    assert "researcher, reviewer, custodian, auditor, admin" in refused.value.remedy


@pytest.mark.parametrize("again", ["ann", "Ann"])
def test_a_name_is_taken_once_whatever_its_letters(accounts, again):
    accounts.add_user("ann", "researcher")
    with pytest.raises(ConfigError) as refused:
        accounts.add_user(again, "admin")
    assert refused.value.code == "QG806"
    assert [user.role for user in accounts.list_users()] == ["researcher"]


# -- keys ------------------------------------------------------------------------------------------------


def test_a_key_lets_its_owner_in(accounts):
    accounts.add_user("ann", "custodian")
    key = accounts.keys.new("ann")
    assert accounts.keys.authenticate(key.secret) == Principal("ann", "custodian")
    assert accounts.keys.authenticate(key.secret) == Principal("ann", "custodian")


def test_the_text_of_a_key(accounts):
    accounts.add_user("ann", "researcher")
    key = accounts.keys.new("ann")
    prefix, key_id, secret = key.secret.split("_")
    assert (prefix, key_id) == ("qg", key.id)
    assert re.fullmatch("[a-z2-7]{8}", key_id)
    assert re.fullmatch("[a-z2-7]{52}", secret)
    assert secret not in repr(key)


def test_only_a_hash_of_the_secret_is_kept(accounts, database, path):
    accounts.add_user("ann", "researcher")
    secret = accounts.keys.new("ann").secret.split("_")[2]
    [row] = database.rows("SELECT hash FROM keys")
    assert row["hash"].startswith("$argon2id$")
    database.close()
    stored = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"$argon2id$" in stored
    assert secret.encode() not in stored


def test_a_user_may_have_several_keys(accounts):
    accounts.add_user("ann", "researcher")
    keys = [accounts.keys.new("ann") for _ in range(3)]
    accounts.keys.revoke(keys[1].id)
    assert accounts.keys.authenticate(keys[0].secret) == accounts.keys.authenticate(keys[2].secret)
    refusal(accounts, keys[1].secret)
    assert {(key.id, key.user, key.revoked is None) for key in accounts.keys.all()} == {
        (keys[0].id, "ann", True),
        (keys[1].id, "ann", False),
        (keys[2].id, "ann", True),
    }


def test_a_key_needs_a_user(accounts):
    with pytest.raises(ConfigError) as refused:
        accounts.keys.new("nobody")
    assert refused.value.code == "QG808"


def test_revoking_needs_a_key_and_repeats_nothing_it_was_given(accounts):
    with pytest.raises(ConfigError) as refused:
        accounts.keys.revoke("qg_aaaaaaaa_topsecret")
    assert refused.value.code == "QG808"
    assert "topsecret" not in str(refused.value.to_dict())


def test_a_key_stays_revoked_since_the_first_time(accounts, clock):
    accounts.add_user("ann", "researcher")
    key = accounts.keys.new("ann")
    first = accounts.keys.revoke(key.id)
    clock.pass_minutes(5)
    assert accounts.keys.revoke(key.id) == first


# -- the door --------------------------------------------------------------------------------------------


def test_every_way_of_being_wrong_has_one_wording(accounts):
    for name in ("ann", "bob", "cyd"):
        accounts.add_user(name, "researcher")
    good, revoked, shut = (accounts.keys.new(name) for name in ("ann", "bob", "cyd"))
    assert accounts.keys.authenticate(revoked.secret).name == "bob"
    accounts.keys.revoke(revoked.id)
    accounts.disable_user("cyd")
    other_secret = good.secret[:-1] + ("b" if good.secret.endswith("a") else "a")
    malformed = ["", "qg_", "qg__", good.secret + "a", good.secret + "\n", " " + good.secret, good.secret.upper()]
    malformed += [good.id, f"qg_{good.id}_", "qg_aaaaaaaa_" + "ä" * 52, "\ud800", "x" * 100_000, "' OR 1=1 --"]
    unknown = "qg_aaaaaaaa_" + good.secret.split("_")[2]
    wrong = [other_secret, unknown, revoked.secret, shut.secret, *malformed]
    assert len({str(refusal(accounts, text).to_dict()) for text in wrong}) == 1
    assert refusal(accounts, "").code == "QG301"


def test_only_the_first_request_pays_for_the_comparison(accounts, hashings):
    accounts.add_user("ann", "researcher")
    key = accounts.keys.new("ann")
    hashings.clear()
    for _ in range(5):
        accounts.keys.authenticate(key.secret)
    assert len(hashings) == 1


def test_wrong_unknown_revoked_and_disabled_cost_the_same_each_time(accounts, database, hashings):
    """Also of a key from before there were verifiers: as long as one of those opens, all cost what it costs."""
    for name in ("ann", "bob", "old"):
        accounts.add_user(name, "researcher")
    good, revoked, shut, old = (accounts.keys.new(name) for name in ("ann", "ann", "bob", "old"))
    accounts.keys.revoke(revoked.id)
    accounts.disable_user("bob")
    unknown = "qg_aaaaaaaa_" + old.secret.split("_")[2]
    wrong = (unknown, good.secret[:-4] + "aaaa", revoked.secret, shut.secret, old.secret[:-4] + "aaaa")

    def costs():
        for presented in wrong * 2:
            hashings.clear()
            refusal(accounts, presented)
            yield tuple(hashings)

    assert set(costs()) == {("verifier",)}
    with database.writing() as connection:
        connection.execute("UPDATE keys SET scram = NULL WHERE id = ?", (old.id,))
    assert accounts.keys.has_slow_keys()
    assert set(costs()) == {("verifier", "hash")}
    accounts.keys.revoke(old.id)
    assert not accounts.keys.has_slow_keys()
    assert set(costs()) == {("verifier",)}


def test_a_key_from_before_there_were_verifiers_opens_by_its_hash_and_leaves_one(accounts, database, hashings):
    accounts.add_user("ann", "researcher")
    key = accounts.keys.new("ann")
    with database.writing() as connection:
        connection.execute("UPDATE keys SET scram = NULL")
    assert refusal(accounts, key.secret[:-4] + "aaaa").code == "QG301"
    assert accounts.keys.authenticate(key.secret).name == "ann"
    assert database.rows("SELECT scram FROM keys")[0]["scram"]


def test_revocation_by_another_process_takes_effect_at_once(accounts, path, clock):
    accounts.add_user("ann", "researcher")
    key = accounts.keys.new("ann")
    assert accounts.keys.authenticate(key.secret).name == "ann"
    elsewhere = Database(path)
    Accounts(elsewhere, clock, secrets.token_bytes).keys.revoke(key.id)
    elsewhere.close()
    assert refusal(accounts, key.secret).code == "QG301"


def test_a_disabled_user_stays_out_until_enabled(accounts):
    accounts.add_user("ann", "researcher")
    key = accounts.keys.new("ann")
    accounts.keys.authenticate(key.secret)
    accounts.disable_user("ann")
    refusal(accounts, key.secret)
    assert accounts.list_users()[0].disabled is not None
    accounts.enable_user("ann")
    assert accounts.keys.authenticate(key.secret).name == "ann"
    with pytest.raises(ConfigError):
        accounts.disable_user("nobody")


def test_a_key_whose_row_has_changed_is_verified_anew(accounts, database):
    accounts.add_user("ann", "researcher")
    key = accounts.keys.new("ann")
    accounts.keys.authenticate(key.secret)
    with database.writing() as connection:
        connection.execute("UPDATE keys SET scram = ?", (accounts.keys.proofs.make("ann", "another"),))
    refusal(accounts, key.secret)


def test_memory_of_verified_keys_is_bounded_and_forgets_the_least_used(accounts, hashings, monkeypatch):
    monkeypatch.setattr(verified_keys, "REMEMBERED", 2)
    accounts.add_user("ann", "researcher")
    keys = [accounts.keys.new("ann").secret for _ in range(3)]
    for key in (keys[0], keys[1], keys[0], keys[2]):
        accounts.keys.authenticate(key)
    hashings.clear()
    accounts.keys.authenticate(keys[0])
    assert hashings == []
    accounts.keys.authenticate(keys[1])
    assert len(hashings) == 1


def test_the_door_is_safe_for_threads(accounts):
    accounts.add_user("ann", "researcher")
    keys = [accounts.keys.new("ann").secret for _ in range(4)]
    seen = []

    def knock(secret: str) -> None:
        seen.extend(accounts.keys.authenticate(secret).name for _ in range(50))

    threads = [threading.Thread(target=knock, args=(secret,)) for secret in keys * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["ann"] * 400


# -- the life of a key ------------------------------------------------------------------------------------------------


class Later:
    def __init__(self):
        self.now = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def timed(tmp_path):
    clock = Later()
    database = Database(tmp_path / "timed.db")
    made = Accounts(database, clock, secrets.token_bytes)
    made.add_user("carl", "custodian")
    yield made, clock
    database.close()


def opens(accounts, key):
    try:
        return accounts.keys.authenticate(key.secret).name
    except NotPermitted:
        return None


def test_a_key_expires(timed):
    accounts, clock = timed
    key = accounts.keys.new("carl", expires=clock.now + timedelta(hours=1))
    assert opens(accounts, key) == "carl"
    clock.now += timedelta(hours=1)
    assert opens(accounts, key) is None
    with pytest.raises(ConfigError):
        accounts.keys.new("carl", expires=clock.now)


def test_a_key_is_replaced_with_an_overlap(timed):
    accounts, clock = timed
    old = accounts.keys.new("carl", scopes=["worker"])
    new = accounts.keys.rotate(old.id, timedelta(hours=24))
    assert accounts.keys.authenticate(new.secret).scopes == {"worker"}
    assert (opens(accounts, old), opens(accounts, new)) == ("carl", "carl")
    accounts.keys.rotate(old.id, timedelta(days=90))  # an end does not move further away
    clock.now += timedelta(hours=24)
    assert (opens(accounts, old), opens(accounts, new)) == (None, "carl")
    for gone in (old.id, "nonsense"):
        with pytest.raises(ConfigError):
            accounts.keys.rotate(gone, timedelta(0))


@pytest.mark.parametrize("meanwhile", ["revoked", "rotated"])
def test_a_key_that_another_process_ends_while_it_is_replaced(accounts, path, clock, meanwhile):
    """The new key is drawn after the old one was looked up: that is when the other process comes."""
    accounts.add_user("ann", "researcher")
    old = accounts.keys.new("ann", expires=clock() + timedelta(days=30))
    elsewhere = Database(path)
    other = Accounts(elsewhere, clock, secrets.token_bytes)

    def end(size):
        if size == 5 and meanwhile == "revoked":
            other.keys.revoke(old.id)
        elif size == 5:
            other.keys.rotate(old.id, timedelta(hours=1))
        return secrets.token_bytes(size)

    mine = Accounts(Database(path), clock, end)
    if meanwhile == "revoked":
        with pytest.raises(ConfigError) as refused:
            mine.keys.rotate(old.id, timedelta(hours=1))
        assert refused.value.code == "QG806"
        assert [key.id for key in accounts.keys.all()] == [old.id]
    else:
        made = mine.keys.rotate(old.id, timedelta(hours=1), keeps_end=True)
        assert accounts.keys.find(made.id).expires == accounts.keys.find(old.id).expires
    elsewhere.close()


def test_what_has_ended_stays_so_though_the_clock_is_set_back(timed):
    accounts, clock = timed
    log = Log(accounts._database, clock)
    key = accounts.keys.new("carl", expires=clock.now + timedelta(hours=1))
    clock.now += timedelta(hours=2)
    log.note("user.change", user=None)  # anything that is put on record while the clock is right
    clock.now -= timedelta(hours=2)
    for _ in range(2):
        log.note("user.change", user=None)  # and after: earlier times on record do not help either
        assert opens(accounts, key) is None
        assert accounts.keys.proofs.principal(key.id) is None
        with pytest.raises(ConfigError):
            accounts.keys.rotate(key.id, timedelta(hours=1))
        with pytest.raises(ConfigError):
            accounts.keys.new("carl", expires=clock.now + timedelta(minutes=1))
    log.note(CLOCK_ACCEPTED, user=None)  # unless it was the later time that was wrong
    assert opens(accounts, key) == "carl"


def test_the_last_use_is_known_to_the_minute_and_written_once_a_minute(timed, monkeypatch):
    accounts, clock = timed
    key = accounts.keys.new("carl")
    written = []
    note = accounts.keys._note_use
    monkeypatch.setattr(accounts.keys, "_note_use", lambda *given: (written.append(1), note(*given)))
    for _ in range(100):
        opens(accounts, key)
        clock.now += timedelta(seconds=3)
    assert 4 <= len(written) <= 6
    [stored] = accounts.keys.all()
    assert stored.used == "2026-03-01T12:05:00.000000Z"


@pytest.mark.parametrize("scopes", [["root"], ["ask", ""], [" ask"]])
def test_scopes_that_there_are_not(timed, scopes):
    with pytest.raises(ConfigError):
        timed[0].keys.new("carl", scopes=scopes)


def test_what_a_key_was_replaced_by_is_revoked_with_it(accounts):
    """Whoever stole a key may have replaced it, more than once."""
    accounts.add_user("ann", "researcher")
    first, other = accounts.keys.new("ann"), accounts.keys.new("ann")
    second = accounts.keys.rotate(first.id, timedelta(hours=1))
    twin = accounts.keys.rotate(first.id, timedelta(hours=1))
    third = accounts.keys.rotate(second.id, timedelta(hours=1))
    noted = []
    accounts.keys.revoke(twin.id)
    revoked = accounts.keys.revoke(first.id, note=lambda connection, key: noted.append(key.id))
    assert revoked.id == first.id
    assert noted[0] == first.id
    assert sorted(noted) == sorted([first.id, second.id, third.id])
    for key in (first, second, twin, third):
        refusal(accounts, key.secret)
    assert accounts.keys.authenticate(other.secret).name == "ann"
