"""A hospital of 100,000 people in the OMOP common data model: a policy is proposed, published untouched, and asked."""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from querygate.control import stamp_now
from querygate.core.types import Group
from querygate.custody.policy import parse_policy
from querygate.custody.policy.drafts.clinical_models import OMOP
from querygate.custody.publish.publish import publish
from querygate.custody.use_cases.clinical_draft import draft_clinical
from querygate.custody.workload import public_cuts, standing_workload
from querygate.custody.workload.trial_answers import ask_version
from querygate.custody.workload.workload_sample import drawn
from querygate.site.open_gate import now, shared_native
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.store.held_release import HeldRelease
from querygate_adapters.vault.version_writer import DuckDBVersionWriter
from tests.omop_study import outside, truth_of, write_omop
from tests.report import row

PERSONS, QUESTIONS = 100_000, 200


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        hospital = write_omop(folder / "hospital", PERSONS)
        began = time.process_time()
        drafted = draft_clinical(OMOP, str(hospital), hospital)
        proposed = time.process_time()
        policy = parse_policy(drafted.text, folder=hospital)
        report = publish(
            policy,
            open_source(str(hospital / "person.parquet")),
            DuckDBVersionWriter(folder / "store", folder / "vault"),
            now=partial(stamp_now, now),
            clock_s=time.monotonic,
            open_beside=lambda specification: open_source(specification, hospital),
        )
        published = time.process_time()
        store = next((folder / "store").rglob("*.duckdb"))
        release = HeldRelease(store)
        questions = drawn(standing_workload(release.catalog, public_cuts(policy), most=100_000), QUESTIONS)
        answers: list[tuple[str, list[Group]]] = []
        for question in questions:
            groups = ask_version(question.sql, release, shared_native())
            if groups is not None:
                answers.append((question.sql, groups))
        with truth_of(hospital, policy) as truth:
            wrong = [line for sql, groups in answers for line in outside(sql, groups, truth)]
    print("\n".join(wrong[:20]))
    return [
        row("omop: draft", proposed - began, "s", f"{PERSONS:,} persons, processor time"),
        row("omop: publication", published - proposed, "s", f"{PERSONS:,} persons, processor time"),
        row("omop: persons per class", report.measured.k, "at least", f"k = {policy.k}", target=policy.k,
            met=report.measured.k >= policy.k),
        row("omop: outside", len(wrong), "figures", f"{len(answers)} of {QUESTIONS} questions answered", target=0,
            met=not wrong and len(answers) > QUESTIONS / 2),
    ]  # fmt: skip
