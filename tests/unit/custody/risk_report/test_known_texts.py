"""Who is found by codes, sequences and notes: each by itself, and together with quasi-identifiers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from querygate.core.types import Catalog, Column
from querygate.custody.risk_report.known_texts import published_texts, raw_texts, released_texts
from querygate.custody.risk_report.risk_body import Sides
from querygate.custody.risk_report.risk_measures import verdict
from querygate.custody.risk_report.side_figures import side_figures
from querygate.custody.risk_report.sides import raw_sides
from tests.policies import SEX, code_list, make_policy

POLICY = make_policy(
    "t",
    {
        "sex": SEX,
        "dx": code_list("flat", values=["250.00", "401.9"], separator=";"),
        "dna": {"role": "sequence"},
        "note": {"role": "note"},
    },
    k=2,
).parsed()

RAW = pa.table(
    {
        "sex": ["F", "F", "M", "M", "F"],
        "dx": ["250.00;401.9", " 4019 ; 25000;401.9", None, "", "?"],
        "dna": ["AC", "AC", "AC", None, None],
        "note": ["ä", "ä ", "b", None, "c"],
    }
)


def test_lists_are_sets_however_they_are_spelt() -> None:
    """The first two have the same codes, the third and fourth have none, and the last has a code nobody knows."""
    texts = raw_texts(POLICY, RAW)
    assert texts["dx"].tolist() == [0, 0, 1, 1, 2]
    assert texts["dna"].tolist() == [0, 0, 0, 1, 1]
    assert texts["note"].tolist() == [0, 0, 1, 2, 3]


def test_lists_of_arrow_are_read_too() -> None:
    table = pa.table({"dx": [["401.9"], ["401.9", None, "401.9"], None, []]})
    assert raw_texts(POLICY, table)["dx"].tolist() == [0, 0, 1, 1]


def test_a_column_that_was_left_out_tells_nobody_apart() -> None:
    told = released_texts(POLICY, pa.table({"dx": ["250.00/401.9", "250.00/401.9", ""]}))
    assert told["dx"].tolist() == [0, 0, 1]
    assert told["dna"].tolist() == [0, 0, 0]


def test_joint_risk_is_that_of_all_columns_at_once() -> None:
    """By hand: by sex, codes, sequence and note the first two are alike, and three people are alone."""
    sides = raw_sides(POLICY, RAW, None, None, 2026)
    raw, harbor = sides.raw, sides.safe_harbor
    sides = Sides(*(side_figures(one, POLICY, None) for one in (raw, harbor, raw)))
    known = {one.columns: one for one in sides.raw.known}
    assert known[("dx",)].alone == 0.2
    assert known[("dx",)].average == 3 / 5
    together = known[("sex", "dx", "dna", "note")]
    assert (together.alone, together.average, together.greatest) == (0.6, 4 / 5, 1.0)
    lines = {line.measure: line for line in verdict(sides)}
    assert lines["known_all_together_alone"].after == 0.6
    assert lines["known_dx_average"].risk_against_safe_harbor == "same"


def test_sets_of_a_version_are_counted_by_class() -> None:
    """Two classes: in the first two records share a set, in the second one record has another."""
    catalog = Catalog("t", 1, "", 2, 3, (Column("dx", 0, "codes", "codes", False),))
    cells = {"class": np.array([1, 0]), "n": np.array([1, 2]), "c0_items": np.array([7, 4])}
    texts = published_texts(POLICY, catalog, cells, np.array([0, 1, 0]))
    assert texts["dx"].tolist() == [4, 7, 4]
    assert texts["dna"].tolist() == [0, 0, 0]
