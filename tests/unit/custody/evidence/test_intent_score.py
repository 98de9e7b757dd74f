"""The intent score: what counts, how much, and that it looks at nothing else."""

import pytest

from querygate.custody.evidence.intent_score import parted, score_users

SQL = "SELECT AVG(sbp) FROM p WHERE age BETWEEN {} AND {}"


def entry(sql, minute=0, *, user="ann", code=None, meaning=None):
    time = f"2026-03-01T{12 + minute // 60:02d}:{minute % 60:02d}:00.000000Z"
    meaning = None if code else meaning or sql
    return {"user": user, "time": time, "dataset": "p", "sql": sql, "code": code, "canonical_hash": meaning}


def scored(*entries, **more):
    [one] = score_users(entries, **more)
    return one


def test_a_statement_and_another_by_one_constant():
    one = scored(entry(SQL.format(40, 50)), entry(SQL.format(40, 51)))
    assert (one.near, one.score, one.level) == (1, 1, "low")


@pytest.mark.parametrize(
    "others",
    [
        [SQL.format(40, 50)],  # the same again
        [SQL.format(30, 39)],  # another band
        ["SELECT AVG(sbp) FROM p WHERE weight BETWEEN 40 AND 51"],
    ],
)
def test_what_is_no_near_duplicate(others):
    assert scored(entry(SQL.format(40, 50)), *map(entry, others)).near == 0


def test_a_repeated_statement_does_not_count_again():
    one = scored(*(entry(SQL.format(40, last)) for last in (50, 51, 50, 51)))
    assert one.near == 1


def test_rewordings_are_texts_of_one_meaning():
    texts = ["a BETWEEN 1 AND 2", "NOT (a < 1 OR a > 2)", "a BETWEEN 1 AND 2", "a >= 1 AND a <= 2"]
    one = scored(*(entry(text, meaning="m") for text in texts))
    assert (one.rewordings, one.score) == (2, 4)


def test_refusals_for_disclosure_weigh_more():
    one = scored(entry("x", code="QG201"), entry("y", code="QG501"))
    assert (one.refusals, one.disclosing, one.score) == (2, 1, 6)


def test_rare_conditions_are_asked_of_the_store_and_not_of_answers():
    seen = []
    one = scored(
        entry("SELECT 1 FROM p"),
        entry("no", code="QG201"),
        is_rare=lambda entry: seen.append(entry) or True,
    )
    assert (one.rare, one.score) == (1, 4)
    assert [set(entry) for entry in seen] == [{"user", "time", "dataset", "sql", "code", "canonical_hash"}]


def test_points_count_by_the_hour():
    slow = scored(*(entry(f"q{n}", n * 60, code="QG201") for n in range(10)))
    assert (slow.score, slow.refusals) == (1, 10)
    quick = scored(*(entry(f"q{n}", n, code="QG201") for n in range(25)))
    assert (quick.score, quick.level, quick.busiest) == (25, "raised", "2026-03-01T12")
    assert scored(*(entry(SQL.format(n, 99), n // 3) for n in range(61))).level == "high"


def test_the_highest_come_first_and_users_are_told_apart():
    entries = [entry("x", user="bob"), entry(SQL.format(1, 2)), entry(SQL.format(1, 3))]
    assert [(one.user, one.score) for one in score_users(entries)] == [("ann", 1), ("bob", 0)]
    assert score_users([]) == []


def test_constants_are_numbers_and_texts_and_no_parts_of_names():
    assert parted("SELECT c1, 2.5 FROM t WHERE x = 'it''s 3'") == (
        "SELECT c1, ? FROM t WHERE x = ?",
        ("2.5", "'it''s 3'"),
    )
