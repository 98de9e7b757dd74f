"""Names and values that try to be more than names and values: SQL, paths, formats, control characters."""

from __future__ import annotations

from pathlib import Path

import pytest

from querygate.core.errors import ConfigError, NotPermitted, QueryGateError
from querygate.core.types import Request
from querygate.gate.answer import answer
from tests.policies import AGE, ILLNESS, make_column, make_policy, public, sensitive
from tests.unit.custody.publish.publications import RESEARCHER, ask, ends, new_site, put, raw_rows, shelf_of

AGES = [20, 21, 22, 40, 41, 42]
NAMES = [
    "a'b",
    'say ""hi""',
    'x" FROM rows; DROP TABLE rows; --',
    "x); ATTACH '/etc/passwd'; --",
    "$p0",
    "?",
    "%s",
    "{x}",
    "{low}",
    "naïve",
    "漢字",
    "a b",
    "\u202eevil",
    "ﬁ",
    "*",
    "n; SELECT 1",
]
VALUES = [
    "",
    " ",
    "'",
    "''; DROP TABLE cells; --",
    '"',
    "%",
    "_",
    "\\",
    "\\0",
    "a\x00b",
    "\x00",
    "a\nb",
    "NULL",
    "null",
    "-1",
    "0",
    "$p0",
    "?",
    "{x}",
    "é",
    "e\u0301",
    "漢",
    "🙂",
    "\u202e",
    "x" * 5000,
]


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def test_columns_of_any_name(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    roles = (public("integer"), ILLNESS | {"values": list("123789")}, sensitive("integer", (0, 9), bins=3, guard=0))
    policy = make_policy("t", {"age": AGE, **{name: roles[i % 3] for i, name in enumerate(NAMES)}}, k=2)
    columns = {"age": AGES}
    for i, name in enumerate(NAMES):
        columns[name] = [str(v) for v in (1, 2, 3, 7, 8, 9)] if i % 3 == 1 else [1, 2, 3, 7, 8, 9]
    put(opened, policy, columns)

    assert [row[1:] for row in raw_rows(opened, ["age", *NAMES])] == list(zip(*list(columns.values())[1:], strict=True))
    for i, name in enumerate(NAMES):
        where = f"{identifier(name)} IN ('1', '2', '3')" if i % 3 == 1 else f"{identifier(name)} < 4"
        low, high = ends(opened, "COUNT(*)", where)
        assert low <= 3 <= high, name
        assert ends(opened, f"COUNT({identifier(name)})") == (6, 6), name
    assert {path.name for path in opened.site.folder.iterdir()} >= {"store", "vault", "control.db"}


@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive"])
def test_categories_of_any_text(tmp_path: Path, role: str) -> None:
    opened = new_site(tmp_path)
    policy = make_policy("t", {"age": AGE, "v": make_column(role, "category")}, k=2)
    values = [value for value in VALUES for _ in range(2)]
    put(opened, policy, {"age": [50] * len(values), "v": values})

    groups = ask(opened, "SELECT v, COUNT(*) AS n FROM t GROUP BY v")
    assert [row["v"] for row in groups] == sorted(VALUES)
    for row in groups:
        assert row["n"]["low"] <= 2 <= row["n"]["high"], row["v"]
    for value in VALUES:
        if "\x00" not in value:
            low, high = ends(opened, "COUNT(*)", "v = '" + value.replace("'", "''") + "'")
            assert low <= 2 <= high, value
            assert (high <= 2) or role == "quasi-identifier", value


# -- datasets are names, never paths -------------------------------------------------------------------------------

PATHS = [
    "../vault/t",
    "t/../t",
    "../../etc",
    "/etc",
    "t/",
    "./t",
    "T",
    "t\x00",
    "t\n",
    "",
    "t;",
    "ｔ",
    "a" * 64,
    "..",
    "t'--",
]


@pytest.mark.parametrize("name", PATHS, ids=repr)
def test_a_path_is_not_a_dataset(tmp_path: Path, name: str) -> None:
    opened = new_site(tmp_path)
    (opened.site.vault / "t").mkdir(parents=True)
    (opened.site.vault / "t" / "v00001.duckdb").write_bytes(b"raw")
    (opened.site.vault / "t" / "current").write_text("1")

    for attempt in (opened.store.current, opened.store.versions):
        with pytest.raises(NotPermitted) as refused:
            attempt(name)
        assert refused.value.code == "QG303"
    with pytest.raises(NotPermitted) as refused:
        answer(Request(RESEARCHER, name, "SELECT COUNT(*) FROM t"), opened.gate)
    assert refused.value.code == "QG303"
    with pytest.raises(ConfigError) as invalid:
        shelf_of(opened).serve_version(name, 1)
    assert invalid.value.code == "QG806"
    with pytest.raises(ConfigError) as invalid, shelf_of(opened).publishing(name):
        pass
    assert invalid.value.code == "QG806"
    assert (opened.site.vault / "t" / "current").read_text() == "1"


@pytest.mark.parametrize("name", PATHS, ids=repr)
def test_a_policy_does_not_name_one(name: str) -> None:
    with pytest.raises(QueryGateError) as refused:
        make_policy(name, {"age": AGE}, k=2).parsed()

    assert refused.value.code == "QG801"
