"""Quotes and comments of a client's text: what they hide, closed or not."""

from __future__ import annotations

import pytest

from querygate.core.errors import NotPermitted, SyntaxRefused
from querygate.sql.postgres.client_statement import count_parameters, split_statements, with_values
from querygate.sql.postgres.text_parts import parts_of
from querygate.wire.session_commands import first_word
from tests.each import each

UNCLOSED = ["/* " * 20_000, "$a$" + "$$ " * 10_000, "".join(f"$a{i}$ " for i in range(9_000)), "E'" + "\\'" * 20_000]


@each("text", UNCLOSED)
def test_what_is_not_closed_hides_the_rest_and_is_read_once(text: str) -> None:
    whole = f"SELECT 1; {text}; SELECT $1"
    semicolon, rest = parts_of(whole)
    assert (semicolon.end, rest.start, rest.end) == (9, 10, len(whole))
    assert [place for place, _ in split_statements(whole)][:1] == [0]
    assert count_parameters(whole) == 0


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("SELECT 'a''$1' || $2", 2),
        (r"SELECT E'it\'s $3' || $2", 2),
        (r"SELECT E'\\' || $2", 2),
        ('SELECT "$3" || $2', 2),
        ("SELECT $tag$ $3 $$ ' $tag$ || $2", 2),
        ("SELECT /* /* $3 */ $4 */ $2", 2),
        ("SELECT $2 -- $3", 2),
    ],
)
def test_parameters_are_found_beside_what_hides_them(text: str, number: int) -> None:
    assert count_parameters(text) == number


def test_a_value_that_stands_there_often_does_not_make_a_text_of_any_length() -> None:
    with pytest.raises(SyntaxRefused, match="the limit is"):
        with_values("SELECT " + "$1," * 10_000, ["'" + "x" * 40_000 + "'"], [])
    assert with_values("SELECT " + "$1," * 10_000, ["1"], []).text.count(" 1 ,") == 10_000
    with pytest.raises(NotPermitted, match="at most 1,000"):
        count_parameters("SELECT $1001")


def test_the_first_word_comes_after_any_number_of_comments() -> None:
    assert first_word("--\n" * 20_000 + "/* /* x */ */ begin") == "BEGIN"
    assert first_word("/* begin") == ""
