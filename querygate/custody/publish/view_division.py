"""The step that makes views: frame cells of all records, and then certified classes and figures in each cell.

Combinations of quasi-identifiers, and how many records have each, give the frame. Everything else is read some frame
cells at a time, and cells are made side by side. What is kept of one is what will be written, and its certificates for
the verifier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.custody.publish.joined_classes import JoinedClass, joined_classes
from querygate.custody.publish.partition import prepare
from querygate.custody.publish.step_state import PublicationState, Step
from querygate.custody.publish.version_turnover import check_people, earlier_views, in_order, joined_cells
from querygate.custody.publish.view_cells import MarginCells, margin_cells
from querygate.custody.publish.view_certificates import CellCertificates, UnitCertificate
from querygate.custody.publish.view_records import (
    FrameRecords,
    Unit,
    frame_records,
    in_batches,
    make_plan,
    quasi_table,
    rules_of,
    units_of,
)
from querygate.custody.publish.view_risk import CellRisk, cell_risk, measured_cells
from querygate.custody.publish.view_versions import refusal
from querygate.custody.verify.earlier_views import EarlierVersion
from querygate.methods.anonymise.parallel import side_by_side
from querygate.methods.views import (
    CellRelease,
    EarlierViews,
    TooFewPeople,
    Uncertified,
    ViewPlan,
    cell_records,
    certified_beside,
    certified_cell,
)

AT_ONCE = 200_000
"""Records read at a time; a frame cell with more is read by itself."""


@dataclass(frozen=True)
class Coarsening:
    """Nodes of a view that were collapsed, for counts (no unit) or for a unit, and why. For the custodian alone: what
    was collapsed depends on sensitive values.
    """

    view: int
    unit: tuple[str, ...]
    reason: str
    nodes: int


@dataclass(frozen=True)
class FrameCell:
    """The result for one frame cell."""

    place: int
    records: int
    margins: tuple[MarginCells, ...]
    certificates: CellCertificates
    least_cut: float  # the fewest people in any combination of classes of the first two views
    coarsened: Mapping[tuple[int, int, str], int]  # view, unit (-1: counts), reason: nodes
    joined: tuple[JoinedClass, ...]
    risk: tuple[CellRisk, ...] | None  # by unit, if it is measured


@dataclass(frozen=True)
class MadeViews:
    """All frame cells, in order."""

    cells: tuple[FrameCell, ...]

    @property
    def classes(self) -> int:
        return sum(margin.classes for cell in self.cells for margin in cell.margins)

    def coarsenings(self, units: Sequence[Unit]) -> tuple[Coarsening, ...]:
        total: Counter[tuple[int, int, str]] = Counter()
        for cell in self.cells:
            total.update(cell.coarsened)
        names = [unit.names for unit in units]
        return tuple(
            Coarsening(view, names[unit] if unit >= 0 else (), reason, nodes)
            for (view, unit, reason), nodes in sorted(total.items())
        )


LITTLE = 10_000
"""Records of which one view is made sooner than other processes have begun."""


def divide_views(state: PublicationState, versions: Sequence[EarlierVersion] = ()) -> PublicationState:
    """Put frame cells into the staging tables, instead of classes, and views into the state. They are compatible with
    these versions, by row of the new one.
    """
    state.progress.begin(Step.DIVIDE, "making views")
    prepare(state)
    plan = make_plan(state)
    whole = quasi_table(state)
    try:
        cells = cell_records(whole.table, plan)
    except TooFewPeople:
        raise ConfigError(
            "QG803", "No class would have k people.", "Publish more records, or lower k in the policy."
        ) from None
    combination = np.repeat(np.arange(whole.records.size), whole.records)
    if versions:
        versions = in_order(versions, state.staging.record_rows())
        cells = joined_cells(whole.table, cells, combination, versions)
        check_people(state, whole.table, cells, combination, versions)
    frame = np.zeros(whole.records.size, dtype=np.int64)
    for number, rows in enumerate(cells):
        frame[rows] = number
    state.staging.add_classes(frame)
    state.staging.seal_classes()
    sizes = np.array([whole.records[rows].sum() for rows in cells])
    del cells
    measured = measured_cells(sizes) if state.measures_risk else frozenset()
    made: list[FrameCell] = []
    for batch in in_batches(sizes, AT_ONCE):
        told = earlier_views(state, versions, np.isin(frame, batch)[combination]) if versions else None
        here = frame_records(state, whole, frame, batch)
        try:
            made += _made(state, here, told, batch, plan, int(sizes[: batch.start].sum()), measured)
        except Uncertified as reason:
            raise refusal([one.number for one in versions], f"it cannot be proved to be safe: {reason}") from None
    views = MadeViews(tuple(made))
    _check_certified(state, views)
    return replace(state, views=views, classes=views.classes)


def check_persons(state: PublicationState) -> None:
    """The proof lets single rows trade values, which does not show that a person with several rows could be without
    one. Checked as soon as the rows are loaded, before anything else.
    """
    if state.policy.views is not None and state.repeated and units_of(state.policy):
        raise ConfigError(
            "QG803",
            "People have several rows, so views cannot guarantee that nobody's value is certain.",
            'Publish one row per person, or classes instead of views: views.mode = "none".',
        )


def _made(
    state: PublicationState,
    records: FrameRecords,
    told: EarlierViews | None,
    batch: range,
    plan: ViewPlan,
    before: int,
    measured: Collection[int],
) -> list[FrameCell]:
    """The frame cells of a batch, in order; so many records were done before."""
    units, done = units_of(state.policy), before
    work = partial(
        _one, state=state, records=records, told=told, batch=batch, plan=plan, units=units, measured=measured
    )
    found: list[FrameCell] = []
    is_little = len(plan.views) == 1 and state.rows < LITTLE
    for cell in map(work, range(len(batch))) if is_little else side_by_side(work, len(batch)):
        found.append(cell)
        done += cell.records
        state.progress.within(done / state.rows)
    return sorted(found, key=lambda cell: cell.place)


def _one(
    number: int,
    *,
    state: PublicationState,
    records: FrameRecords,
    told: EarlierViews | None,
    batch: range,
    plan: ViewPlan,
    units: Sequence[Unit],
    measured: Collection[int],
) -> FrameCell:
    place = batch[number]
    mine = np.flatnonzero(records.frame == place)
    earlier = None if told is None else told.of(mine)
    if earlier is None or not earlier.has_any:
        made = certified_cell(records.table, plan, mine)
    else:
        made = certified_beside(records.table, plan, mine, earlier)
    certificates = CellCertificates(
        made.balances,
        tuple(UnitCertificate(one.views, one.safe.worlds, one.safe.sided, one.beside) for one in made.columns),
        made.together,
    )
    return FrameCell(
        place,
        int(made.records.size),
        tuple(margin_cells(state, records, units, made)),
        certificates,
        made.least_cut / records.table.person,
        _coarsened(made),
        tuple(joined_classes(state, records.table, made, rules_of(state.policy).told, [unit.names for unit in units])),
        cell_risk(records.table, made, plan.values, place) if place in measured else None,
    )


def _coarsened(made: CellRelease) -> Counter[tuple[int, int, str]]:
    found: Counter[tuple[int, int, str]] = Counter()
    for one in made.collapses:
        found[one.view, -1, one.reason] += 1
    for unit, column in enumerate(made.columns):
        for one in column.collapses:
            found[one.view, unit, one.reason] += 1
    return found


def _check_certified(state: PublicationState, views: MadeViews) -> None:
    """Refuse coarsened views if the policy wants views as they are or not at all."""
    found = views.coarsenings(units_of(state.policy))
    if rules_of(state.policy).on_uncertified == "coarsen" or not found:
        return
    lines = [
        f"  view {one.view + 1}, {', '.join(one.unit) or 'counts'}: {counted(one.nodes, 'class', 'classes')} joined: "
        f"{one.reason}"
        for one in found
    ]
    raise ConfigError(
        "QG803",
        "\n".join(["The views cannot be certified as they are:", *lines]),
        'Let QueryGate coarsen them: views.on_uncertified = "coarsen". Or use fewer columns per view, or lower k.',
    )
