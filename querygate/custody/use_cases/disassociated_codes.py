"""Releases a list of codes by disassociation: every code unchanged, but fewer links between them.

A separate file rather than a column of an extract: nothing in it is about one record. Its guarantee is checked by
counting again before anything is written.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from querygate.core.answer_forms.spreadsheet_cells import escape
from querygate.core.errors import ConfigError, ExtractRefused
from querygate.core.progress import Progress, no_progress
from querygate.core.publications.vault_ports import Source
from querygate.custody.code_lists.record_code_lists import read_lists
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.publish.coded_rows import load
from querygate.custody.publish.step_state import PublicationState, StepProgress
from querygate.custody.use_cases.scratch_vault import scratch_rows
from querygate.methods.disassociation import Chunk, Disassociated, disassociate, find_faults

HEAD = ("joint_cluster", "cluster", "records", "chunk", "codes")
CODES, REPORT = "codes.csv", "report.json"


@dataclass(frozen=True)
class DisassociationReport:
    """What was released. `counted` is the share of entries (a code of a record) in chunks, which say how many records
    have it; the others are terms, of which it only says that somebody in the cluster has them.
    """

    column: str
    k: int
    m: int
    records: int
    clusters: int
    codes: int
    terms: int  # codes that are terms in some cluster
    counted: float
    verified: bool = True


def release_disassociated(
    policy: Policy,
    source: Source,
    name: str,
    out: Path,
    *,
    m: int,
    base_dir: Path = Path(),
    progress: Progress = no_progress,
) -> DisassociationReport:
    """Write codes.csv and report.json into a folder. ConfigError and ExtractRefused leave it empty."""
    column = _column(policy, name)
    k = (column.codes.protect.k if column.codes else None) or policy.k
    records = _records(policy, column, source, base_dir, progress)
    if len(records) < k:
        raise ExtractRefused("QG605", f"There are fewer than k = {k} records.", "Lower k, or name another source.")
    progress("making chunks")
    released = disassociate(records, k, m)
    progress("verifying")
    faults = find_faults(released, records)
    if faults.any:
        raise ExtractRefused(
            "QG605",
            f"The chunks do not keep their guarantee: {json.dumps(asdict(faults))}.",
            "Nothing was written. Report this fault to the makers of QueryGate.",
        )
    report = _report(name, released, records)
    (out / CODES).write_text(_table(released), encoding="utf-8")
    (out / REPORT).write_text(json.dumps(asdict(report), indent=2) + "\n", encoding="utf-8")
    return report


def _column(policy: Policy, name: str) -> ColumnPolicy:
    lists = [column.name for column in policy.named("codes")]
    if name not in lists:
        raise ConfigError("QG806", f"{name} is not a list of codes.", f"Accepted: {', '.join(lists) or 'none'}.")
    return policy.column(name)


def _records(
    policy: Policy, column: ColumnPolicy, source: Source, base_dir: Path, progress: Progress
) -> list[frozenset[str]]:
    """The codes of each person, as the code system spells them."""
    with scratch_rows(policy, source, base_dir, progress=progress) as rows, closing(rows.staging()) as staging:
        state = load(PublicationState(policy, staging, StepProgress(progress), is_extract=True), rows.selected(""))
        lists = read_lists(column, staging, state.rows)
    spelt = [lists.system.codes[place] for place in lists.occurring.tolist()]
    return [frozenset(spelt[code] for code in codes) for codes in lists.baskets.lists()]


def _report(name: str, released: Disassociated, records: list[frozenset[str]]) -> DisassociationReport:
    clusters = [cluster for joint in released.joints for cluster in joint.clusters]
    chunks = [chunk for joint in released.joints for chunk in joint.shared]
    chunks += [chunk for cluster in clusters for chunk in cluster.chunks]
    entries = sum(map(len, records))
    told = sum(len(part) for chunk in chunks for part in chunk.parts)
    return DisassociationReport(
        name,
        released.k,
        released.m,
        len(records),
        len(clusters),
        len(frozenset[str]().union(*records)),
        len(frozenset[str]().union(*(cluster.terms for cluster in clusters))),
        round(told / max(1, entries), 4),
    )


def _table(released: Disassociated) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for number, joint in enumerate(released.joints, 1):
        writer.writerows(_parts(number, "", joint.records, "shared", joint.shared))
        for at, cluster in enumerate(joint.clusters, 1):
            writer.writerow((number, at, cluster.records, "terms", escape("; ".join(sorted(cluster.terms)))))
            writer.writerows(_parts(number, str(at), cluster.records, "chunk", cluster.chunks))
    return text.getvalue()


def _parts(
    joint: int, cluster: str, records: int, kind: str, chunks: tuple[Chunk, ...]
) -> Iterator[tuple[object, ...]]:
    for number, chunk in enumerate(chunks, 1):
        for part in chunk.parts:
            yield joint, cluster, records, f"{kind} {number}", escape("; ".join(sorted(part)))
