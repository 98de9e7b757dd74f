"""Coefficients and values of any size: whole numbers stay whole, and nothing overflows."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from querygate.core.json_body import to_json
from querygate.custody.audit.audit import AuditOptions, LogStatement
from querygate.custody.audit.audit_page import make_audit_page
from querygate.custody.audit.audit_report import AuditOutcome, make_body
from querygate.methods.audit import QueryTotal, find, notices
from querygate.methods.audit.linear_attack import null_vectors
from querygate.methods.audit.prime_field import PRIME
from querygate.methods.audit.shortest_proof import is_combination
from tests.attack.audited_truth import audited, failures, untrue
from tests.attack.random_logs import KNOWN, SECRET, random_log

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def test_a_common_denominator_of_hundreds_of_digits() -> None:
    primes = [p for p in range(2, 2_000) if all(p % q for q in range(2, int(p**0.5) + 1))]
    ones = np.ones((len(primes), 1), dtype=np.int16)
    target = np.array([1])
    shares = {i: Fraction(1, p) for i, p in enumerate(primes)}
    assert not is_combination(ones, shares, target)
    shares[0] += 1 - sum(shares.values())
    assert is_combination(ones, shares, target)


def test_null_vectors_of_large_coefficients_are_exact() -> None:
    random = np.random.default_rng(0)
    rows = random.integers(-200, 201, (20, 3_000)).astype(np.int16)
    for z in null_vectors(rows, 3).astype(np.int64):
        assert not ((rows.astype(np.int64) * z % PRIME).sum(axis=1) % PRIME).any()


def test_a_total_that_counts_some_two_hundred_times() -> None:
    members = np.ones(3, dtype=np.bool_)
    parts = (((-199,), np.array([1, 0, 0], bool)), ((1,), np.array([0, 1, 1], bool)))
    odd = QueryTotal("q1", "u", "x by place", members, "", Fraction(-193), Fraction(-193), "-193", "x", parts)
    rest = QueryTotal("q2", "u", "x", parts[1][1], "", Fraction(6), Fraction(6), "6", "x")
    found, left = find([odd, rest], {"x": np.array([1, 9, 9]), "x by place": np.array([1, 9, 9])}, 2)
    assert [one for one in found if one.rejected] == []
    assert left == []


@pytest.mark.parametrize("values", [(1e308, 1e308, 1e308), (1e308, 5e-324, 0.0), (0.0, 0.0, 0.0), (np.inf, 1.0, 1.0)])
def test_dominance_of_numbers_that_do_not_add_up(values: tuple[float, ...]) -> None:
    held = np.array(values)
    total = QueryTotal("q1", "u", "x", np.ones(3, dtype=np.bool_))
    found = notices([total], {"x": np.array([5, 5, 5])}, 5, {"x": (held, held, np.zeros(3))})
    assert [one.kind for one in found] == (["dominance"] if values[1] == 5e-324 else [])


def test_a_thousand_queries_of_one_log() -> None:
    log = random_log(np.random.default_rng(3), 1_000)
    found, records = audited(log.people, log.entries, AuditOptions(log.k, SECRET, KNOWN))
    assert failures(found) == []
    assert list(untrue(found, records)) == []


def test_values_beyond_doubles_are_written_to_the_page_and_as_json() -> None:
    entries = [
        LogStatement("q1", "r", "SELECT SUM(dose) FROM people WHERE age < 60", answer="1e390"),
        LogStatement("q2", "r", "SELECT SUM(dose) FROM people WHERE age < 41", answer="0.1"),
    ]
    people = random_log(np.random.default_rng(3)).people
    found, _ = audited(people, entries, AuditOptions(100, SECRET, KNOWN))
    report = make_body([AuditOutcome(found, entries, 100, reveal=True)], "log")
    assert any(one.high is not None and one.high > 10**389 for f in report.findings for one in f.inferred)
    assert json.dumps(to_json(report), allow_nan=False)
    assert "<html" in make_audit_page(report, [AuditOutcome(found, entries, 100)])
