"""Descriptions of datasets of every kind: the examples are accepted, the ends of domains are readable."""

from __future__ import annotations

from dataclasses import replace

import pytest

from querygate.core.ports import Limits
from querygate.core.types import Catalog, Column, NoiseOptions
from querygate.gate.description import explain_policy, make_description, make_examples
from querygate.gate.sharpness import Sharpness
from querygate.sql import understand
from querygate.sql.noisy_plan import understand_noisy
from tests.sql.study import NATIVE

AWKWARD = Catalog(
    dataset="visits",
    version=2,
    title="",
    k=3,
    rows=50,
    columns=(
        Column("visited on", 0, "quasi-identifier", "date", False, 18_262, 19_722),
        Column("order", 1, "quasi-identifier", "category", True, values=("it's", "other")),
        Column('say "weight"', 2, "public", "number", False, 0.5, 250.0),
        Column("alive", 3, "sensitive", "boolean", False, values=("false", "true")),
    ),
    tight=True,
    min_group=10,
)


def test_examples_of_awkward_names_are_accepted():
    examples = make_examples(AWKWARD, NATIVE, Limits())
    assert "SELECT COUNT(*) FROM visits" in examples
    assert any("\"visited on\" BETWEEN DATE '2020-12-31' AND DATE '2022-12-31'" in sql for sql in examples)
    assert [understand(sql, AWKWARD, NATIVE).dataset for sql in examples] == ["visits"] * len(examples)


@pytest.mark.parametrize("modes", [("interval",), ("laplace",), ("interval", "laplace")])
def test_examples_are_accepted_in_the_mode_of_the_dataset(modes):
    noise = NoiseOptions(1.0, 10.0, 10.0) if "laplace" in modes else None
    codes = Column("dx", 4, "codes", "codes", False, values=("E11", "I10"))
    catalog = replace(AWKWARD, columns=(*AWKWARD.columns, codes), modes=modes, noise=noise)
    examples = make_examples(catalog, NATIVE, Limits())
    accepts = understand if "interval" in modes else understand_noisy
    for sql in examples:
        accepts(sql, catalog, NATIVE)
    assert len(examples) >= 3
    assert any("AVG(" in sql for sql in examples)


def test_a_dataset_of_nothing_but_a_category_has_examples():
    catalog = Catalog("tiny", 1, "", 2, 4, (Column("sex", 0, "quasi-identifier", "category", False, values=("F",)),))
    assert make_examples(catalog, NATIVE, Limits()) == [
        "SELECT COUNT(*) FROM tiny",
        "SELECT sex, COUNT(*) FROM tiny GROUP BY sex",
        "SELECT COUNT(*) FROM tiny WHERE sex = 'F'",
    ]


def test_dates_are_told_as_dates():
    columns = {column["name"]: column for column in make_description(AWKWARD, NATIVE, Limits())["columns"]}
    assert columns["visited on"]["domain"] == ["2020-01-01", "2023-12-31"]
    assert columns['say "weight"']["domain"] == [0.5, 250.0]
    assert columns["alive"]["values"] == ["false", "true"]


def test_the_policy_in_words_names_every_promise():
    said = " ".join(explain_policy(AWKWARD))
    for words in ("at least 2 others (k = 3)", "values that occur", "unchanged: say", "10 records", "withheld"):
        assert words in said


def test_what_counts_of_people_with_several_rows_is_said_for_each_mode():
    noise = NoiseOptions(1.0, 10.0, 10.0, person="mrn", rows_per_person=3)
    several = replace(AWKWARD, persons=20)
    both, noisy = (replace(several, noise=noise, modes=modes) for modes in (("interval", "laplace"), ("laplace",)))
    rows, capped = "k counts people, ranges count rows.", "Noisy numbers count at most 3 rows of each person."
    assert [rows in " ".join(explain_policy(one)) for one in (several, both, noisy)] == [True, True, False]
    assert [capped in " ".join(explain_policy(one)) for one in (several, both, noisy)] == [False, True, True]


def test_examples_follow_the_cuts_of_the_data():
    sharp = Sharpness(
        cuts={"visited on": (18_262, 18_628, 18_993, 19_358)},
        values={"order": ("other",), "alive": ("false", "true")},
        decided={"order": 0.4, "alive": 1.0},
    )
    examples = make_examples(AWKWARD, NATIVE, Limits(), sharp)
    assert any("\"visited on\" BETWEEN DATE '2021-01-01' AND DATE '2022-12-31'" in sql for sql in examples)
    assert any("WHERE alive = " in sql or "GROUP BY alive" in sql for sql in examples)
    floating = Column("height", 4, "quasi-identifier", "number", False, 0.0, 2.0)
    catalog = replace(AWKWARD, columns=(floating,))
    (condition,) = [
        sql
        for sql in make_examples(catalog, NATIVE, Limits(), Sharpness({"height": (0.0, 0.4, 1.6)}))
        if "WHERE" in sql
    ]
    assert condition.endswith("WHERE height >= 0.4 AND height < 1.6")


def test_without_a_cut_inside_the_domain_examples_are_as_before():
    sharp = Sharpness(cuts={"visited on": (18_262,)})
    assert make_examples(AWKWARD, NATIVE, Limits(), sharp) == make_examples(AWKWARD, NATIVE, Limits())
