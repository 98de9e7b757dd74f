"""Whatever the file says, the loader answers with a usable policy or with one ConfigError."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from querygate.core.errors import ConfigError
from querygate.custody.policy import Policy, bin_edges, grid_edges, parse_policy
from querygate.custody.policy.policy_keys import CHOICES, KEYS

NUMBERS = st.one_of(
    st.integers(-3, 400).map(str),
    st.sampled_from(["0.5", "-0.0", "5e-324", "1e300", "inf", "nan", "9223372036854775807", "true"]),
)
DATES = st.sampled_from(["1970-01-01", "2024-02-29", "9999-12-31", "12:00:00", "2020-01-01T00:00:00Z"])
WORDS = st.sampled_from(sorted({f'"{word}"' for words in CHOICES.values() for word in words} | {'"d"', '""'}))
ITEMS = st.one_of(NUMBERS, DATES, WORDS)
LISTS = st.lists(ITEMS, max_size=4).map(lambda items: f"[{', '.join(items)}]")
TABLES = st.dictionaries(st.sampled_from(KEYS["columns.*.diversity"]), ITEMS, max_size=3).map(
    lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"
)
VALUES = st.one_of(ITEMS, LISTS, TABLES)


def lines(keys: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Some of these keys, each with any value."""
    table = st.dictionaries(st.sampled_from(keys), VALUES, max_size=5)
    return table.map(lambda pairs: "".join(f"{key} = {value}\n" for key, value in pairs.items()))


def numeric_column() -> st.SearchStrategy[str]:
    """A column that is nearly right, so that many get past the first checks."""
    role = st.sampled_from(["quasi-identifier", "sensitive", "public"])
    kind = st.sampled_from(["integer", "number", "date"])
    domain = st.sampled_from(["[0, 120]", "[0, 1]", "[-1e300, 1e300]", "[0.0, 5e-324]", '["1970-01-01", "9999-12-31"]'])
    rest = lines(("grid", "cuts", "weight", "carry", "bins", "guard"))
    parts = st.tuples(role, kind, domain, rest)
    return parts.map(lambda p: f'role = "{p[0]}"\ntype = "{p[1]}"\ndomain = {p[2]}\n{p[3]}')


def attempt(text: str) -> tuple[Policy | None, list[str]]:
    try:
        return parse_policy(text), []
    except ConfigError as error:
        return None, error.detail.splitlines()


@given(st.one_of(lines(KEYS["columns.*"]), numeric_column()), lines(KEYS["anonymise"] + KEYS["answers"]))
def test_a_policy_or_one_error(column, options):
    text = (
        'dataset = "d"\nk = 5\n[columns.q]\nrole = "quasi-identifier"\ntype = "boolean"\n'
        f"[columns.x]\n{column}[anonymise]\n{options}"
    )
    policy, problems = attempt(text)
    assert all("; accepted: " in line for line in problems)
    if policy is None:
        assert problems
        return
    x = policy.column("x")
    assert len(policy.hash) == 64
    if x.grid is not None:
        assert grid_edges(x)[-1] == x.high
    if x.carry == "bins":
        edges = bin_edges(x)
        assert edges[0] == x.low
        assert len(edges) >= 2


@given(st.text(alphabet="ak_1-.:=#,[]{}\"'\\ \n\r\x00é", max_size=60))
def test_any_text_at_all(text):
    with pytest.raises(ConfigError):
        parse_policy(text)
