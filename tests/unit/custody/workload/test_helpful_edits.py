"""Every change that is offered is a table to paste: what is printed is what is measured, and it loads."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from querygate.custody.policy import Policy, parse_policy
from querygate.custody.policy.policy_writer import write_toml
from querygate.custody.workload.helpful_edits import Edit, cost_edits, helpful_edits, k_edits
from tests.policies import AGE, SEX, PolicyText, diverse, make_policy, quasi, sensitive

ODD = 'größe "m"\\x'
CLASSES = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 100)),
        "seen": quasi("date", ("2020-01-01", "2024-12-31"), grid=30),
        "at": quasi("timestamp", ("2020-01-01T00:00:00", "2021-01-01T00:00:00"), grid="1d"),
        "dose": quasi("number", (0.0, 1.0), grid=0.1, cuts=[0.25]),
        ODD: SEX,
        "fixed": quasi("category", values=["a", "b"]),
        "sbp": sensitive("integer", (40, 300), bins=10, guard=10),
        "kg": sensitive("number", (0.0, 300.0), grid=0.5, bins=2.5),
        "day": sensitive("date", ("2020-01-01", "2024-12-31"), grid=10),
        "ill": sensitive("category", values=["no", "yes", "ü"]) | diverse("distinct", l=2),
    },
    k=7,
    anonymise={"method": "mondrian"},
)
VIEWS = make_policy(
    "t",
    {
        "age": AGE | {"cuts": [30, 60]},
        "sex": quasi("category", values=["f", "m"]),
        ODD: quasi("category", values=["a", "b"]),
        "school": quasi("category", values=["x", "y", "z"]),
        "sbp": sensitive("integer", (40, 300), bins=10, guard=10),
    },
    views={
        "spanning": [["age", "sex", ODD], ["age", "sex", "school"]],
        "extra": [[ODD, "school"]],
        "frame": ["age"],
        "prefer": {"age": [25, 50]},
        "values": 3,
    },
)


def edits_of(text: PolicyText, records: int = 100) -> dict[str, Edit]:
    policy, raw = text.parsed(), tomllib.loads(text)
    found = [*k_edits(policy), *cost_edits(policy, raw), *helpful_edits(policy, raw, records)]
    assert len({edit.name for edit in found}) == len(found)
    return {edit.name: edit for edit in found}


def pasted(text: str, into: PolicyText) -> dict[str, Any]:
    """The file after a custodian has put each table in the place of the one with its name."""
    file, tables = tomllib.loads(into), tomllib.loads(text)
    columns = file["columns"] | tables.get("columns", {})
    return file | tables | {"columns": columns}


def loaded(tables: dict[str, Any]) -> Policy:
    return parse_policy(write_toml(tables))


@pytest.mark.parametrize("text", [CLASSES, VIEWS], ids=["classes", "views"])
def test_what_is_printed_can_be_pasted_and_loads_as_what_is_measured(text: PolicyText) -> None:
    for edit in edits_of(text).values():
        after = loaded(pasted(edit.text, text))
        assert after == loaded(edit.applied(tomllib.loads(text))), edit.name
        assert after != text.parsed(), edit.name


def test_of_classes_every_quasi_identifier_guard_and_rule_has_a_line_and_every_detail_an_edit() -> None:
    assert [name for name in edits_of(CLASSES) if name != "views instead of classes"] == [
        *("k = 5", "k = 10", "k = 20"),
        *(f"without {name}" for name in ("age", "seen", "at", "dose", ODD, "fixed")),
        *("guard of sbp 10 -> 5", "guard of kg 1 -> 0.5", "guard of day 20 -> 10"),
        "without diversity of ill",
        *("cuts of age", "a finer grid of age", "cuts of seen", "a finer grid of seen", "cuts of at"),
        *("a finer grid of dose", f"rare values of {ODD} grouped"),
        *("class means", "narrower bins of kg"),
    ]


def test_half_a_guard_takes_bins_along_that_were_as_wide_and_never_makes_them_narrower_than_it() -> None:
    edits = edits_of(CLASSES)
    for name, guard, bins in (("sbp", 5, 5), ("kg", 0.5, 2.5)):
        (edit,) = [one for one in edits.values() if one.name.startswith(f"guard of {name}")]
        column = loaded(edit.applied(tomllib.loads(CLASSES))).column(name)
        assert (column.guard, column.bins) == (guard, bins)


def test_a_column_that_goes_leaves_every_list_of_views() -> None:
    edits = edits_of(VIEWS)
    without = loaded(edits[f"without {ODD}"].applied(tomllib.loads(VIEWS))).views
    assert without is not None
    assert (without.spanning, without.extra) == ((("age", "sex"), ("age", "sex", "school")), (("school",),))
    framed = loaded(edits["without age"].applied(tomllib.loads(VIEWS))).views
    assert framed is not None
    assert framed.frame == ()
    assert dict(framed.prefer) == {}


def test_of_views_classes_other_views_and_finer_bins_are_tried_and_what_else_the_table_says_stays() -> None:
    edits = edits_of(VIEWS)
    assert {"classes instead of views", "narrower bins of sbp", "views.values = 2", "guard of sbp 10 -> 5"} <= set(
        edits
    )
    assert loaded(edits["classes instead of views"].applied(tomllib.loads(VIEWS))).views is None
    others = [edit for edit in edits.values() if edit.tables.get("views", {}).get("mode") == "spanning"]
    starts = ("views: ", "views in the frame of sex: ", "views without a frame: ")
    assert all(any(edit.name.startswith(start) for edit in others) for start in starts)
    for edit in others:
        after = loaded(edit.applied(tomllib.loads(VIEWS))).views
        assert after is not None
        assert after.values == 3


def test_views_in_another_frame_say_that_cuts_are_given_up() -> None:
    others = [edit for name, edit in edits_of(VIEWS).items() if name.startswith("views in the frame of sex: ")]
    assert others
    assert all("may cross the cuts of age" in edit.gives_up for edit in others)


def test_of_many_guards_and_rules_all_are_changed_at_once() -> None:
    many = {f"n{i}": sensitive("integer", (0, 100), guard=10, bins=10) for i in range(7)}
    ill = {f"c{i}": sensitive("category", values=["no", "yes"]) | diverse("distinct", l=2) for i in range(7)}
    edits = edits_of(make_policy("t", {"age": AGE, "sex": SEX} | many | ill))
    assert "half the guards of all 7 numbers" in edits
    assert "without diversity of all 7 columns" in edits
    assert not [name for name in edits if name.startswith("guard of")]


def test_one_quasi_identifier_is_not_taken_away_and_no_sensitive_column_needs_nothing() -> None:
    assert list(edits_of(make_policy("t", {"age": AGE}))) == [
        "k = 10",
        "k = 20",
        "cuts of age",
        "views instead of classes",
    ]


def test_views_take_the_place_of_options_about_classes() -> None:
    after = loaded(edits_of(CLASSES)["views instead of classes"].applied(tomllib.loads(CLASSES)))
    assert after.views is not None
    assert after.anonymise.method == "auto"


def test_an_age_that_is_worked_out_is_left_out_and_not_withheld() -> None:
    raw = {
        "columns": {
            "birth": {"role": "identifier"},
            "age": {
                "role": "quasi-identifier",
                "type": "integer",
                "domain": [0, 120],
                "from": "birth",
                "at": "2024-01-01",
            },
            "sex": {"role": "quasi-identifier", "type": "category", "values": ["f", "m"]},
        }
    }
    policy = parse_policy(write_toml({"dataset": "t", "k": 5} | raw))
    (edit,) = [one for one in cost_edits(policy, raw) if one.name == "without age"]
    assert set(edit.applied(raw)["columns"]) == {"birth", "sex"}
    assert set(raw["columns"]) == {"birth", "age", "sex"}
