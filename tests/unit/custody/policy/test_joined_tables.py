"""Tables beside the source: public ones to be joined in statements, protected ones joined before publication."""

from __future__ import annotations

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy import JoinPolicy, ReferencePolicy, parse_policy
from tests.each import each
from tests.policies import make_policy, quasi

TOP = make_policy("d", {"q": quasi("category")})
BROUGHT = '[columns.x]\nrole = "public"\ntype = "integer"\n[columns.y]\nrole = "withheld"\n'
REFERENCE = '[references.r]\nfile = "r.csv"\nkey = "code"\ncolumns = ["name", "land"]\n'
JOIN = '[join.j]\nsource = "j.csv"\non = { pid = "id" }\ncolumns = ["x", "y"]\n'


def test_a_reference() -> None:
    policy = parse_policy(TOP + REFERENCE)

    assert policy.references == (ReferencePolicy("r", "r.csv", "code", (("name", "category"), ("land", "category"))),)
    typed = REFERENCE.replace('["name", "land"]', '{ name = "category", people = "integer", area = "number" }')
    assert dict(parse_policy(TOP + typed).references[0].columns) == {
        "name": "category",
        "people": "integer",
        "area": "number",
    }


def test_a_join() -> None:
    policy = parse_policy(TOP + BROUGHT + JOIN)

    assert policy.joins == (JoinPolicy("j", "j.csv", (("pid", "id"),), ("x", "y"), "left", "refuse"),)
    assert parse_policy(TOP + BROUGHT + JOIN + 'kind = "inner"\nmany = "refuse"\n').joins[0].kind == "inner"


@each(
    "text, path, told",
    [
        (TOP + "references = 3\n", "columns.q.references", "it belongs at the top of the file"),
        ("references = 3\n" + TOP, "references", "one table [references.NAME] per table"),
        ("join = []\n" + TOP, "join", "one table [join.NAME] per table"),
        (TOP + "[references]\nr = 1\n", "references.r", "accepted: keys file, key, columns"),
        (TOP + REFERENCE.replace("references.r", "references.d"), "references.d", "is the name of the dataset"),
        (TOP + REFERENCE.replace("references.r", "references.R"), "references.R", "[a-z][a-z0-9_]{0,62}"),
        (TOP + REFERENCE.replace('file = "r.csv"\n', ""), "references.r.file", "is missing; accepted: a .csv"),
        (TOP + REFERENCE.replace("r.csv", "r.xlsx"), "references.r.file", "a .csv, .tsv or .parquet file"),
        (TOP + REFERENCE.replace("r.csv", "postgresql://u:p@h/d#r.csv"), "references.r.file", "not a file name"),
        (TOP + REFERENCE.replace('key = "code"\n', ""), "references.r.key", "is missing"),
        (TOP + REFERENCE.replace('"code"', '" "'), "references.r.key", "is not an accepted string"),
        (
            TOP + REFERENCE.replace('["name", "land"]', "[]"),
            "references.r.columns",
            "at least one distinct column name",
        ),
        (
            TOP + REFERENCE.replace('["name", "land"]', "{}"),
            "references.r.columns",
            "at least one distinct column name",
        ),
        (TOP + REFERENCE.replace('"land"', '"NAME"'), "references.r.columns", "names name twice"),
        (TOP + REFERENCE.replace('"land"', '"Code"'), "references.r.columns", "names code twice"),
        (TOP + REFERENCE.replace('["name", "land"]', '{ a = "date" }'), "references.r.columns", "integer, number"),
        (TOP + REFERENCE.replace('["name", "land"]', "{ a = 1 }"), "references.r.columns", "category, integer, number"),
        (TOP + REFERENCE + "title = 1\n", "references.r.title", "file, key, columns"),
        (TOP + JOIN, "join.j.columns", "x has no rules; accepted: columns that have a table [columns.NAME]"),
        (TOP + BROUGHT + JOIN.replace('source = "j.csv"\n', ""), "join.j.source", "is missing"),
        (TOP + BROUGHT + JOIN.replace('on = { pid = "id" }\n', ""), "join.j.on", 'as { its_column = "column of'),
        (TOP + BROUGHT + JOIN.replace('{ pid = "id" }', "{}"), "join.j.on", "is not a table of names"),
        (TOP + BROUGHT + JOIN.replace('{ pid = "id" }', "{ pid = 1 }"), "join.j.on", "is not a table of names"),
        (TOP + BROUGHT + JOIN.replace('{ pid = "id" }', '"pid"'), "join.j.on", "is not a table of names"),
        (TOP + BROUGHT + JOIN.replace('["x", "y"]', '["x", "X"]'), "join.j.columns", "names x twice"),
        (TOP + BROUGHT + JOIN + JOIN.replace(".j]", ".i]"), "join.i.columns", "that join.j also brings"),
        (TOP + BROUGHT + JOIN + 'kind = "outer"\n', "join.j.kind", "accepted: left, inner"),
        (TOP + BROUGHT + JOIN + 'many = "first"\n', "join.j.many", "accepted: refuse"),
    ],
)
def test_broken(text: str, path: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_policy(text, "p.toml")
    lines = [line for line in caught.value.detail.splitlines() if line.startswith(f"p.toml: {path}: ")]

    assert caught.value.code == "QG801"
    assert lines
    assert told in lines[0]
    assert "u:p@h" not in caught.value.detail


def test_what_changes_the_hash() -> None:
    """What is offered and how it is joined; not where it lies, for a location may hold a password."""
    whole = TOP + BROUGHT + REFERENCE + JOIN
    same = (
        whole.replace("r.csv", "elsewhere/r.parquet"),
        whole.replace('"j.csv"', '"postgresql://u:secret@h/d#j"'),
        whole.replace('["x", "y"]', '["y", "x"]'),
        whole + 'kind = "left"\nmany = "refuse"\n',
        TOP + BROUGHT + JOIN + REFERENCE,
    )
    other = (
        TOP + BROUGHT,
        TOP + BROUGHT + REFERENCE,
        whole + 'kind = "inner"\n',
        whole.replace("pid =", "patient ="),
        whole.replace('"id"', '"pid"'),
        whole.replace('["x", "y"]', '["x"]'),
        whole.replace('"code"', '"id"'),
        whole.replace('["name", "land"]', '["name"]'),
        whole.replace('["name", "land"]', '{ name = "category", land = "integer" }'),
        whole.replace("references.r", "references.s"),
    )

    assert {parse_policy(text).hash for text in same} == {parse_policy(whole).hash}
    assert len({parse_policy(text).hash for text in (whole, *other)}) == len(other) + 1
    assert '"references"' not in parse_policy(TOP).canonical()
