"""Times and ids."""

import secrets
from datetime import UTC, datetime, timedelta, timezone

from querygate.control import new_query_id, stamp


def test_a_stamp_is_utc_and_sorts_as_text():
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert stamp(noon) == "2026-03-01T12:00:00.000000Z"
    assert stamp(noon.astimezone(timezone(timedelta(hours=5)))) == stamp(noon)
    later = [noon + timedelta(microseconds=step) for step in (0, 1, 999_999, 1_000_000, 86_400_000_000)]
    assert [stamp(moment) for moment in later] == sorted(stamp(moment) for moment in later)


def test_a_query_id_is_a_ulid(clock):
    made = new_query_id(clock, secrets.token_bytes)
    assert made.startswith("q_")
    assert len(made) == 28
    assert set(made[2:]) <= set("0123456789ABCDEFGHJKMNPQRSTVWXYZ")


def test_a_query_id_follows_the_ulid_specification():
    # The example of the specification: 01ARZ3NDEK is the millisecond 1469922850259.
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=1469922850259)
    assert new_query_id(lambda: moment, lambda size: b"\xff" * size) == "q_01ARZ3NDEKZZZZZZZZZZZZZZZZ"


def test_later_query_ids_sort_after_earlier_ones(clock):
    made = []
    for _ in range(50):
        made.append(new_query_id(clock, secrets.token_bytes))
        clock.pass_minutes(1)
    assert made == sorted(made)


def test_query_ids_of_one_moment_differ(clock):
    assert len({new_query_id(clock, secrets.token_bytes) for _ in range(1000)}) == 1000
