"""Random logs over random tables with missing values, ties and constants: nothing stops the auditor.

5,000 logs (SOAK_LOGS), every hundredth of 200 statements, on all cores. A log that ends in an error is a crash; a
finding is proved, or marked unproved; and what it says is held against the records. Warnings of arithmetic are errors.
The time limit is SOAK_LIMIT_S, in seconds.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from querygate.custody.audit.audit import AuditOptions
from tests.attack.audited_truth import audited, failures, untrue
from tests.attack.random_logs import KNOWN, SECRET, random_log
from tests.report import row

LOGS = 5_000
LIMIT_S = 7_200.0
FIRST_SEED = 7_000_000
STATEMENTS, MANY, EVERY = 12, 200, 100


@dataclass
class Outcome:
    """What came of one log."""

    findings: int = 0
    unproved: int = 0
    crash: str = ""
    failed: list[str] = field(default_factory=list)
    untrue: list[str] = field(default_factory=list)


def run() -> list[dict[str, Any]]:
    logs, limit = int(os.environ.get("SOAK_LOGS", LOGS)), float(os.environ.get("SOAK_LIMIT_S", LIMIT_S))
    began, outcomes = time.monotonic(), []
    with multiprocessing.get_context("fork").Pool() as pool:
        for outcome in pool.imap_unordered(try_log, range(FIRST_SEED, FIRST_SEED + logs), 5):
            outcomes.append(outcome)
            if time.monotonic() - began > limit:
                pool.terminate()
                break
    wrong = [text for one in outcomes for text in (one.crash, *one.failed, *one.untrue) if text]
    print("\n".join(wrong[:20]))
    tried, findings = f"{len(outcomes):,} logs", f"{sum(one.findings for one in outcomes):,} findings"
    return [
        _none("crashes", sum(bool(one.crash) for one in outcomes), tried),
        row("audit_robust: unproved", sum(one.unproved for one in outcomes), "of", findings),
        row("audit_robust: statements and tests that failed", sum(len(one.failed) for one in outcomes), "of", tried),
        _none("findings that the records contradict", sum(len(one.untrue) for one in outcomes), findings),
    ]


def _none(what: str, number: int, tried: str) -> dict[str, Any]:
    return row(f"audit_robust: {what}", number, "of", tried, target=0, met=not number)


def try_log(seed: int) -> Outcome:
    """One log, audited to its end."""
    warnings.simplefilter("error", RuntimeWarning)
    logging.getLogger("querygate").setLevel(logging.CRITICAL)
    log = random_log(np.random.default_rng(seed), MANY if seed % EVERY == 0 else STATEMENTS)
    try:
        found, records = audited(log.people, log.entries, AuditOptions(log.k, SECRET, KNOWN))
        failed = [f"seed {seed}: {text}" for text in failures(found)]
        wrong = [f"seed {seed}: {text}" for text in untrue(found, records)]
        return Outcome(len(found.findings), len(found.unproved), "", failed, wrong)
    except Exception as error:
        return Outcome(crash=f"seed {seed}: {type(error).__name__}: {error}")
