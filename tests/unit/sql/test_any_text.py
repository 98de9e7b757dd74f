"""Whatever the text: a plan or a refusal, soon, and without a word on any stream."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from querygate.core.errors import Refusal
from querygate.core.ports import Limits
from querygate.sql import understand
from tests.seeds import cases
from tests.sql.study import CATALOG, NATIVE
from tests.unit.sql import random_sql
from tests.work import count_calls

WHERE = "SELECT COUNT(*) FROM patients WHERE "
MOST_CALLS = 2_000_000
"""Three times as many as the longest statement needs."""

COMMANDS = str.split(
    "EXPLAIN DESCRIBE SHOW PRAGMA SET ATTACH COPY INSTALL LOAD EXPORT CALL SUMMARIZE CREATE INSERT UPDATE"
)
COMMANDS += str.split(
    "DELETE DROP ALTER MERGE GRANT USE VACUUM CHECKPOINT DETACH KILL CACHE COMMENT BEGIN WITH PIVOT VALUES"
)
SIGNS = ["patients", "->", ":=", "[", "]", "{", "}", "$1", "?", "@", "#"]


def outcome(sql: str, limits: Limits | None = None) -> str:
    """ "ok" or the code of the refusal; anything else that is raised fails the test, and so does too much work."""

    def understood() -> str:
        try:
            understand(sql, CATALOG, NATIVE, limits)
        except Refusal as refusal:
            return refusal.code
        return "ok"

    found, calls = count_calls(understood)
    assert calls < MOST_CALLS, f"{calls:,} for {sql[:60]!r}"
    return found


@settings(max_examples=cases(60))
@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    assert outcome(text).startswith("QG")


@settings(max_examples=cases(60))
@given(st.text(max_size=30), st.text(max_size=5))
def test_any_text_in_a_condition(text: str, name: str) -> None:
    assert outcome(WHERE + text)
    assert outcome(f"{WHERE}city = '{text}' AND \"{name}\" = 1")


@pytest.mark.parametrize("seed", range(4))
def test_words_at_random(seed: int) -> None:
    rng = random.Random(seed)
    words = [
        *random_sql.STRAY,
        *random_sql.WORDS,
        *COMMANDS,
        "patients",
        "->",
        ":=",
        "[",
        "]",
        "{",
        "}",
        "$1",
        "?",
        "@",
        "#",
    ]
    for _ in range(150):
        start = rng.choice(["", "SELECT ", WHERE, f"{rng.choice(COMMANDS)} "])
        assert outcome(start + " ".join(rng.choice(words) for _ in range(rng.randint(1, 14))))


@pytest.mark.parametrize(
    ("sql", "codes"),
    {
        "brackets": ("(" * 50_000, {"QG102"}),
        "open brackets": (WHERE + "(" * 4_000, {"QG103"}),
        "closed brackets": (WHERE + "(" * 2_000 + "smoker" + ")" * 2_000, {"QG103"}),
        "NOT": (WHERE + "NOT " * 4_900 + "smoker", {"QG103"}),
        "more NOT": (WHERE + "NOT " * 5_000 + "smoker", {"QG102"}),
        "minus": (WHERE + "age = " + "- " * 4_900 + "1", {"QG103"}),
        "more minus": (WHERE + "age = " + "- " * 5_000 + "1", {"QG102"}),
        "CASE": (WHERE + "CASE WHEN " * 1_900 + "1", {"QG103"}),
        "index": (WHERE + "city" + "[1]" * 1_500 + " = 'a'", {"QG103"}),
        "IS TRUE": (WHERE + "smoker" + " IS TRUE" * 2_400, {"QG103"}),
        "IS NOT NULL": (WHERE + "smoker" + " IS NOT NULL IS TRUE" * 700, {"QG103", "QG208"}),
        "casts": (WHERE + "born = '2020-01-01'" + "::date" * 2_400, {"QG103", "QG209"}),
        "equals": (WHERE + "age" + " = 1" * 2_400, {"QG103", "QG208"}),
        "plus": (WHERE + "age = " + "+".join(["1"] * 2_400), {"QG103", "QG207"}),
        "joined texts": (WHERE + "city = " + " || ".join(["'a'"] * 2_400), {"QG103", "QG207"}),
        "dots": (WHERE + "a" + ".a" * 2_400 + " = 1", {"QG103", "QG207"}),
        "arrows": (WHERE + "x -> " * 1_600 + "1", {"QG103", "QG204", "QG101"}),
        "LIKE": (WHERE + "city LIKE " * 1_600 + "'a'", {"QG103", "QG208"}),
        "JOIN": ("SELECT COUNT(*) FROM patients" + " JOIN p ON TRUE" * 1_200, {"QG102"}),
        "UNION": (" UNION ALL ".join(["SELECT COUNT(*) FROM patients"] * 480), {"QG206", "QG103"}),
        "subqueries": ("SELECT COUNT(*) FROM " + "(SELECT * FROM " * 900 + "patients" + ")" * 900, {"QG103"}),
        "statements": ("SELECT COUNT(*) FROM patients;" * 600, {"QG104"}),
        "unknown columns": ("SELECT " + ", ".join(["AVG(agee)"] * 900) + " FROM patients", {"QG203"}),
    }.values(),
    ids=lambda value: value[:40] if isinstance(value, str) else None,
)
def test_towers_are_refused_soon(sql: str, codes: set[str]) -> None:
    assert outcome(sql) in codes


@pytest.mark.parametrize(
    "sql",
    {
        "AND": WHERE + " AND ".join(f"age <> {n}" for n in range(1_200)),
        "OR": WHERE + " OR ".join(f"age = {2 * n}" for n in range(1_200)),
        "mixed": WHERE + " OR ".join(f"age = {2 * n} AND sbp = {n}" for n in range(550)),
        "brackets": WHERE + " AND ".join(f"(age = {2 * n} OR sbp = {n})" for n in range(400)),
        "IN": WHERE + f"age IN ({', '.join(str(2 * n) for n in range(2_400))})",
        "items": "SELECT " + ", ".join(f"AVG(age) AS a{n}" for n in range(700)) + " FROM patients",
        "one name": "SELECT " + ", ".join(["AVG(age) AS a"] * 700) + " FROM patients",
        "text": WHERE + "city = '" + "''" * 9_000 + "'",
        "comments": "-- x\n" * 3_000 + "SELECT COUNT(*) FROM patients",
        "nested comments": "/* " * 50 + "*/ " * 50 + "SELECT COUNT(*) FROM patients",
        "spaces": " " * 19_000 + "SELECT COUNT(*) FROM patients",
        "thirty brackets": WHERE + "(" * 30 + "smoker" + ")" * 30,
        "thirty NOTs": WHERE + "NOT " * 30 + "smoker",
    }.values(),
    ids=lambda value: value[:40],
)
def test_what_is_long_and_flat_is_answered_soon(sql: str) -> None:
    assert outcome(sql) == "ok"


def test_what_is_over_the_limit_is_not_read() -> None:
    assert outcome("SELECT " + "x" * 1_000_000) == "QG102"
    assert outcome(WHERE + "age = 40", Limits(max_sql_chars=20)) == "QG102"
    assert outcome(WHERE + "((((((age = 40))))))", Limits(max_nesting=5)) == "QG103"


@pytest.mark.parametrize(
    "sql",
    [
        "\0",
        "SELECT COUNT(*) FROM patients\0",
        WHERE + "city = 'a\0b'",
        "\ud800",
        WHERE + "city = '\udfff'",
        'SELECT "\ud800"',
    ],
    ids=ascii,
)
def test_what_is_not_text_is_refused(sql: str) -> None:
    assert outcome(sql) == "QG101"


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_written_to_any_stream(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The parser would warn, with the statement in the warning."""
    outcome(f"{command} secret FROM patients")
    captured = capfd.readouterr()

    assert (captured.out, captured.err) == ("", "")


def test_a_parse_error_does_not_name_the_parsers_classes() -> None:
    for sql in (WHERE, WHERE + "age =", "SELECT COUNT(*) FROM", "SELECT COUNT( FROM patients", WHERE + "age BETWEEN"):
        with pytest.raises(Refusal) as caught:
            understand(sql, CATALOG, NATIVE)
        assert "<" not in caught.value.detail
        assert "sqlglot" not in caught.value.detail
