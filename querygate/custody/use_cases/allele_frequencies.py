"""Allele frequencies of a column of sequences, released with a guard against tests of membership.

A file of its own, as for codes in chunks: nothing in it is about one record. It is counted anew before it is written.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from querygate.core.errors import ConfigError, ExtractRefused
from querygate.core.progress import Progress, no_progress
from querygate.core.publications.vault_ports import Source
from querygate.custody.policy import Policy
from querygate.custody.publish.coded_rows import load
from querygate.custody.publish.step_state import PublicationState, StepProgress
from querygate.custody.risk_report.allele_risk import explain_alleles, find_allele_risk, read_alignment
from querygate.custody.risk_report.risk_body import AlleleRisk
from querygate.custody.use_cases.scratch_vault import scratch_rows
from querygate.methods.sequences import (
    Alignment,
    BadSequences,
    FrequencyGuard,
    check_frequencies,
    released_sites,
    site_frequencies,
)

HEAD = ("site", "common", "people", "other")
FREQUENCIES, REPORT = "frequencies.csv", "report.json"

Line = tuple[int, str, int, float]


@dataclass(frozen=True)
class FrequencyReport:
    """What was released, and what attackers find in it and would find without the guard."""

    column: str
    power: float
    rare: float
    k: int
    people: int
    sites: int
    released: int
    risk: AlleleRisk
    words: tuple[str, ...]
    verified: bool = True


def release_frequencies(
    policy: Policy,
    source: Source,
    name: str,
    out: Path,
    guard: FrequencyGuard,
    *,
    wanted: Sequence[int] | None = None,
    base_dir: Path = Path(),
    progress: Progress = no_progress,
) -> FrequencyReport:
    """Write frequencies.csv and report.json into a folder. `wanted`: sites from 1, the most wanted first.

    ConfigError and ExtractRefused leave the folder empty.
    """
    guard = replace(guard, k=max(guard.k, policy.k))
    alignment = _alignment(policy, source, name, base_dir, progress)
    progress("counting alleles")
    lines = _lines(alignment, guard, _places(wanted, alignment.sites))
    progress("verifying")
    faults = check_frequencies(alignment.texts(), lines, rare=guard.rare, k=guard.k)
    if faults.breaks(guard.power):
        raise ExtractRefused(
            "QG605",
            f"The frequencies do not keep their guarantee: {json.dumps(asdict(faults))}.",
            "Nothing was written. Report this fault to the makers of QueryGate.",
        )
    progress("trying both attacks")
    risk = find_allele_risk(name, alignment, guard)
    report = FrequencyReport(
        name,
        guard.power,
        guard.rare,
        guard.k,
        alignment.sequences,
        alignment.sites,
        len(lines),
        risk,
        explain_alleles(risk),
    )
    (out / FREQUENCIES).write_text(_table(lines), encoding="utf-8")
    (out / REPORT).write_text(json.dumps(asdict(report), indent=2) + "\n", encoding="utf-8")
    return report


def _alignment(policy: Policy, source: Source, name: str, base_dir: Path, progress: Progress) -> Alignment:
    """The sequences of all people who have one."""
    there = [column.name for column in policy.named("sequence")]
    if name not in there:
        raise ConfigError("QG806", f"{name} is not a column of sequences.", f"Accepted: {', '.join(there) or 'none'}.")
    with scratch_rows(policy, source, base_dir, progress=progress) as rows, closing(rows.staging()) as staging:
        load(PublicationState(policy, staging, StepProgress(progress), is_extract=True), rows.selected(""))
        selected = rows.selected("")
        with selected.reading():
            raw = selected.batches([name, *([policy.person] if policy.person else [])]).read_all()
    _check_persons(policy, raw)
    try:
        return read_alignment(raw[name])
    except BadSequences:
        raise ExtractRefused(
            "QG605",
            f"{name}: there are no sequences, or they are not aligned DNA.",
            "Align them in the source: all of one length, IUPAC letters, - for gaps and ? for unknown.",
        ) from None


def _check_persons(policy: Policy, raw: pa.Table) -> None:
    """A person in several rows would be several people to the guard."""
    persons = pc.count_distinct(raw[policy.person]).as_py() if policy.person else raw.num_rows
    if persons < raw.num_rows:
        raise ConfigError(
            "QG803",
            f"{policy.person}: {raw.num_rows - persons:,} rows repeat a person of another row.",
            "Keep one sequence for each person.",
        )


def _places(wanted: Sequence[int] | None, sites: int) -> list[int] | None:
    if wanted is None:
        return None
    if strange := sum(not 1 <= site <= sites for site in wanted):
        raise ConfigError(
            "QG806", f"{strange:,} of the {len(wanted):,} sites do not exist.", f"Number them from 1 to {sites:,}."
        )
    return [site - 1 for site in wanted]


def _lines(alignment: Alignment, guard: FrequencyGuard, wanted: Sequence[int] | None) -> list[Line]:
    found = site_frequencies(alignment)
    sites = np.sort(released_sites(found, guard, wanted))
    if not sites.size:
        raise ExtractRefused(
            "QG605",
            "No frequency may be released: at every site people are too few or an allele is too rare.",
            "Add people, name other sites, or accept a higher --power.",
        )
    letters = found.letters
    return [
        (site + 1, letters[site], int(found.known[site]), round(float(found.other[site]), 4)) for site in sites.tolist()
    ]


def _table(lines: Sequence[Line]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows(lines)
    return text.getvalue()
