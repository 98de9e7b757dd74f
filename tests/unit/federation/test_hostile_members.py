"""What another machine sends is no answer before it was looked at: anything else ends with a code, or is pooled."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from querygate.cli.research.federate import print_pooled
from querygate.client.answer import Answer
from querygate.core.errors import ConfigError
from querygate.federation import Member, ask_members
from tests.each import each
from tests.seeds import seeds

Body = dict[str, Any]
SQL = "SELECT sex, COUNT(*), AVG(a), VAR_SAMP(a), 100.0 * COUNT_IF(a > 1) / COUNT(*) FROM t GROUP BY sex"
FIGURES = 10
ODD: tuple[Any, ...] = (
    *(None, True, "x", "", [], {}, -1, 1e308, float("nan"), float("inf"), 10**400, "1e999", "NaN", "\ud800"),
    *("2020-13-45", [[[]]], {"low": 1}, 2**63, "a" * 1000),
)


def body() -> Body:
    names = [*(f"f{at}" for at in range(FIGURES)), "records"]
    figures = {name: {"low": 1, "high": 5, "sharp": False, "may_be_null": False, "estimate": None} for name in names}
    columns = [{"name": name, "kind": "range", "type": "number"} for name in names]
    return {
        "query_id": "q",
        "dataset": "t",
        "version": 1,
        "mode": "interval",
        "notes": ["a note"],
        "columns": [{"name": "k0", "kind": "key", "type": "text"}, *columns],
        "rows": [{"k0": key, **copy.deepcopy(figures), "_group": {"certain": True}} for key in ("a", "b")],
    }


def changed(rng: random.Random) -> Body:
    """One value somewhere is another, or is missing."""
    made = body()
    node: Any = made
    while isinstance(node, dict | list) and node and (node is made or rng.random() < 0.8):
        place = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
        parent, node = node, node[place]
    if rng.random() < 0.8:
        parent[place] = copy.deepcopy(rng.choice(ODD))
    else:
        del parent[place]
    return made


def pooled(told: Callable[[], Body], *, first: bool) -> None:
    members = [Member("north", "t", lambda sql: Answer(body())), Member("south", "t", lambda sql: Answer(told()))]
    found = ask_members(SQL, members[::-1] if first else members)
    json.dumps(found)
    for form in ("table", "json", "csv", "jsonl"):
        print_pooled(found, form)


@each("seed", seeds(800))
def test_a_member_cannot_break_the_program_that_asks(seed: int) -> None:
    rng = random.Random(seed)
    code = "QG804"
    try:
        pooled(lambda: changed(rng), first=rng.random() < 0.5)
    except ConfigError as refused:
        code = refused.code
    assert code == "QG804"


@pytest.mark.parametrize(
    ("key", "value"),
    [("notes", 3.5), ("notes", [["x"]]), ("notes", ["\ud800"]), ("columns", []), ("version", []), ("rows", {"a": 1})],
)
def test_what_is_no_answer(key: str, value: Any) -> None:
    with pytest.raises(ConfigError, match="What south sent is no answer"):
        pooled(lambda: body() | {key: value}, first=True)


def test_a_key_that_cannot_be_written() -> None:
    made = body()
    made["rows"][0]["k0"] = "half \ud800"
    with pytest.raises(ConfigError, match="What south sent is no answer"):
        pooled(lambda: made, first=False)
