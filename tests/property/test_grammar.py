"""The truth is inside every range, over the whole grammar.

Random tables are published under random policies through the real path, and asked random statements of every construct
there is. DuckDB's answer on the raw rows must lie in the gate's, without tolerance; NULL only where a range says so,
every true group shown, every certain group true, HAVING and LIMIT included. What is refused has a code.
`make soak ONLY=grammar` has 10,000 answered statements.
"""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path

import pytest
from sqlglot import exp

from querygate.sql.aggregates import NAMES
from querygate.sql.allow_list import FUNCTIONS, GRAMMAR
from querygate.sql.code_tests import TESTS
from tests.property.grammar import Writer
from tests.property.grammar_values import Field
from tests.property.tally import Tally, constructs, try_table

PARTS = 2
ANSWERED = 16
PER_TABLE = 8
FIRST_SEED = 500_000

UNWRITTEN = {exp.Join, exp.Exists}
"""Reference tables to join, and persons to look for, like code lists, belong to a policy; they have tests of their
own."""


@pytest.mark.parametrize("part", range(PARTS))
def test_truth_is_inside_every_range(part: int, tmp_path: Path) -> None:
    tally = Tally()
    seed = FIRST_SEED + 1_000 * part
    while tally.answered < ANSWERED:
        tally.add(try_table(seed, tmp_path / str(seed), min(PER_TABLE, ANSWERED - tally.answered)))
        seed += 1
    print(f"{tally.answered} of {tally.asked} answered, {tally.skipped} skipped, refused: {dict(tally.refused)}")

    assert not tally.wrong, "\n".join(tally.wrong[:5])
    assert tally.share >= 0.4  # of few statements; the soak asks for more of many
    assert tally.skipped <= 0.05 * tally.asked


OF_ORDER = {"mann_whitney", "superiority", "spearman", "kendall"}
"""Aggregates that the database cannot compute: tests/unit/gate/test_rank_order.py compares them with scipy."""


def test_the_whole_grammar_is_written() -> None:
    """A construct that no random statement has is one whose ranges nobody compared."""
    days = tuple(dt.date(2001, 1, 1) + dt.timedelta(days) for days in range(5))
    fields = [
        Field("c0", "integer", (1, 2, 3), 10),
        Field("c1", "number", (0.5, 1.5)),
        Field("c2", "date", days, 400),
        Field("c3", "category", ("a", "B")),
        Field("c4", "boolean", (True, False), 2),
        Field("c5", "number", (7.5,)),
    ]
    writer = Writer(random.Random(0), fields)
    questions = [writer.question() for _ in range(4_000)]
    texts = " ".join(question.sql for question in questions).lower()
    seen = set().union(*(constructs(question.sql) for question in questions))

    assert {kind.__name__ for kind in GRAMMAR.keys() - UNWRITTEN} <= seen
    assert NAMES.keys() - OF_ORDER <= {name for name in NAMES if f"{name}(" in texts}
    assert all(f"{name}(" in texts for name in FUNCTIONS - TESTS)
    assert any(question.sql != question.truth for question in questions)
