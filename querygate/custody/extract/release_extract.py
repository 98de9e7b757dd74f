"""Release extracts: every record at the public cells of the policy, and nothing else done to it.

There is no k. The guarantee is that, on average, a record is no easier to find in a population than the policy's
threshold allows: a number, or the risk of Safe Harbor on the same records. The figure is counted again on what is
released.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.errors import ConfigError, ExtractRefused
from querygate.core.progress import Progress
from querygate.core.types import Ints
from querygate.custody.columns.population import Population, records_of
from querygate.custody.columns.value_groups import with_values
from querygate.custody.extract import reviewer_figures
from querygate.custody.extract.class_columns import publish_column
from querygate.custody.extract.k_anonymous import RecordReader
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.public_cells import drawn_members, lay_into_cells, looked_up, made_of, of_classes
from querygate.custody.extract.raw_tables import out_of
from querygate.custody.extract.release_check import PopulationMatch, look_up
from querygate.custody.extract.required_classes import check_required
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.policy.policy_types import SAFE_HARBOR
from querygate.custody.policy_search.lattice_study import LatticeStudy, harbor, lay_out
from querygate.custody.publish.step_state import PublicationState, StepProgress
from querygate.custody.verify.diversity_check import GuaranteeCheck
from querygate.methods.policy_search import PolicyRisk, explain_measured, rules

ROOM = 1e-9
"""Relative tolerance for the order in which shares are added."""


def make_release(
    policy: Policy,
    rows: RecordReader,
    where: str,
    register: Population | None,
    *,
    year: int,
    draw: Callable[[str], np.random.Generator],
    progress: Progress,
) -> tuple[ProtectedRecords, dict[str, Any]]:
    """The selected records at their cells, in random order, and their risk over the population."""
    release, register, linked = looked_up(policy, register)
    state = PublicationState(replace(policy, k=1), rows.staging(), StepProgress(progress))
    try:
        state = lay_into_cells(state, rows, where)
        protected = _protected(state, draw)
    finally:
        state.staging.close()
    looked, matches = look_up(protected.table, linked, register)
    progress("looking up records in the population")
    ground, problem = _ground(linked, protected.raw, register)
    found = _figures(policy, looked, ground, problem, year)
    found["population"] = {"people": int(register.persons.sum()), "columns": [column.name for column in linked]}
    found["unknown"] = [c.name for c in policy.named("quasi-identifier") if c not in linked]
    threshold = found["threshold"]
    if looked.risk > threshold * (1 + ROOM):
        raise ExtractRefused(
            "QG605",
            f"The average risk over the population is {looked.risk:.4g}, above the threshold of "
            f"{threshold:.4g}{' (Safe Harbor on the same records)' if release.threshold == SAFE_HARBOR else ''}; the "
            f"maximum is {looked.greatest:.4g}, and the fewest people who match a record are {looked.k_map}.",
            "Publish with a coarser policy (`querygate policy search` finds some), or leave out columns.",
        )
    kept = GuaranteeCheck(
        f"average risk of at most {threshold:.4g}", "average risk over the population", looked.risk, True
    )
    protected = replace(protected, kept=(kept, *check_required(release.require, protected, policy)))
    people = of_classes(protected.classes, matches)
    told = reviewer_figures.risk_of_classes(protected, policy, None, people)
    return protected, {**told, "release": found, "words": [*found["words"], *told["words"]]}


def _protected(state: PublicationState, draw: Callable[[str], np.random.Generator]) -> ProtectedRecords:
    out = list(out_of(state.policy))
    members = drawn_members(state, draw)
    classes: Ints = np.asarray(members["class"], dtype=np.int64)
    of = {box.name: box for box in with_values(state)}
    published = {c.name: publish_column(state, c, of[c.name]) for c in out if c.name in of}
    return made_of(state, members, published, classes, kind="release", method="cells", loss=state.loss)


def _ground(
    linked: list[ColumnPolicy], raw: pa.Table, register: Population
) -> tuple[LatticeStudy | None, ConfigError | None]:
    """Raw records and people, to measure Safe Harbor on; or why that is impossible."""
    try:
        return lay_out(linked, records_of(linked, raw), register, fixed=False), None
    except ConfigError as problem:
        return None, problem


def _figures(
    policy: Policy, looked: PopulationMatch, ground: LatticeStudy | None, problem: ConfigError | None, year: int
) -> dict[str, Any]:
    wanted = SAFE_HARBOR if policy.release is None else policy.release.threshold
    words = [explain_measured(PolicyRisk(**looked.to_dict()))]
    safe = intact = None
    does: dict[str, str] = {}
    if ground is not None:
        yardstick, does = harbor(ground, year)
        safe, intact = ground.study.measure(yardstick), ground.study.measure(ground.lattice.finest)
        words.append(
            f"Under Safe Harbor ({'; '.join(rules(yardstick)) or 'which changes nothing here'}) the average would be "
            f"{safe.risk:.3g}, and with unchanged values {intact.risk:.3g}."
        )
    elif wanted == SAFE_HARBOR and problem is not None:
        raise ExtractRefused(
            "QG605", f"Safe Harbor cannot be measured on these records: {problem.detail}", problem.remedy
        )
    threshold = float(safe.risk if safe is not None and wanted == SAFE_HARBOR else wanted)
    return {
        **looked.to_dict(),
        "threshold": threshold,
        "threshold_from": SAFE_HARBOR if wanted == SAFE_HARBOR else "a number",
        "safe_harbor": None if safe is None else {**safe.to_dict(), "does": does},
        "intact": None if intact is None else intact.to_dict(),
        "words": words,
    }
