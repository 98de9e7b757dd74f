"""No log stops the auditor, and what it says of the answers is so: a few random ones; `make soak` has thousands."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.custody.audit.audit import AuditOptions, LogStatement
from tests.attack.audited_truth import audited, failures, untrue
from tests.attack.random_logs import HOSTILE, KNOWN, SECRET, random_log, random_people

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@pytest.mark.parametrize(
    ("seed", "statements"),
    [*((seed, 8) for seed in range(8)), (7_002_250, 12), (7_002_427, 12)],  # the last fix differences, by ranges
)
def test_a_random_log_is_audited_to_the_end_and_truthfully(seed: int, statements: int) -> None:
    log = random_log(np.random.default_rng(seed), statements)
    found, records = audited(log.people, log.entries, AuditOptions(log.k, SECRET, KNOWN))
    assert failures(found) == []
    assert list(untrue(found, records)) == []


@pytest.mark.parametrize(
    "answer",
    [None, 5, "1e999999999", 1.7976931348623157e308, {"low": 5, "high": "+3"}, [["x"]], [], [{}], "1_0", "1/3", "-2"],
)
def test_hostile_statements_with_hostile_answers_stop_nothing(answer: object) -> None:
    people = random_people(np.random.default_rng(8))
    asked = [*HOSTILE, "SELECT AVG(sbp) FROM people WHERE age < 42", "SELECT STDDEV(sbp), AVG(sbp) FROM people"]
    entries = [LogStatement(f"q{i}", "eve", sql, answer=answer) for i, sql in enumerate(asked)]  # type: ignore[arg-type]
    found, _ = audited(people, entries, AuditOptions(5, SECRET, KNOWN))
    assert failures(found) == []
