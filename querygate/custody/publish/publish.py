"""The path of a publication, top to bottom. This file is its specification.

    load        the source into the vault, typed, with joined tables; find out whose rows they are
    flag_codes  who has a code of each group that views publish
    hide_rare   put rare values of categories into a group that the policy names
    code        give every published value a code; from here on no step sees a value
    divide      make classes that keep every guarantee of the policy, or certified views; where the policy wants that,
                classes of the version before in which nothing has changed are taken over
    compare     with earlier versions: if people can be told apart by combining them, divide again or refuse
    generalise  classes to cells: intervals, sets, and moments if the policy wants them
    write       the version, in a place where nobody reads it yet
    verify      read the written version back and measure it with a verifier that shares no code with these steps
    describe    how sharp answers about sensitive numbers will be
    close       keep the rows and the class of each in the vault
    compare_written   the same as `compare`, using only the files
    switch      serve the version, and retire earlier ones as planned

Nothing is served before the last step; if any step fails, the previous version is still served.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from querygate.core.block import CodeSets
from querygate.core.files.file_digest import FileDigest
from querygate.core.progress import Progress, no_progress
from querygate.core.publications.carried_classes import CarriedClasses, CarriedProof
from querygate.core.publications.vault_ports import JoinedTable, PartDivision, Source, StagingTables
from querygate.core.publications.version_overlap import OverlapRule, VersionOverlap
from querygate.core.types import Catalog, Column
from querygate.custody.code_lists import code_groups
from querygate.custody.code_lists.code_items import CodeReport
from querygate.custody.columns.person_rows import check_unnamed
from querygate.custody.columns.population import Population, read_population
from querygate.custody.columns.reference_tables import read_references
from querygate.custody.columns.source_columns import Beside, check_columns, open_joined, tell_no_others
from querygate.custody.policy import Policy
from querygate.custody.publish import class_cells as cells
from querygate.custody.publish import coded_rows, rare_values
from querygate.custody.publish.columns_outside_views import untold_warnings
from querygate.custody.publish.extension import extend
from querygate.custody.publish.method_trial import Trial
from querygate.custody.publish.number_widths import NumberReport, describe_numbers
from querygate.custody.publish.partition import partition, redivide
from querygate.custody.publish.parts_in_place import divide_in_place
from querygate.custody.publish.republication_guard import (
    Republication,
    VersionHandling,
    go_with_earlier,
    make_keeping,
    measure,
)
from querygate.custody.publish.revealing_codes import code_warnings
from querygate.custody.publish.step_state import PublicationState, Step, StepProgress
from querygate.custody.publish.view_division import check_persons, divide_views
from querygate.custody.publish.view_risk import UnitRisk
from querygate.custody.publish.view_summary import ViewFigures, summarise
from querygate.custody.publish.view_versions import concerns_views, conclude, decide, lay_beside
from querygate.custody.verify.earlier_views import KeptVersion
from querygate.custody.verify.verify import Measurement, Written, verify_extended, verify_release
from querygate.custody.verify.view_check import verify_views
from querygate.methods.anonymise import Method


class Publication(Protocol):
    """One version in the making, under the dataset's lock."""

    version: int

    def staging(self) -> StagingTables: ...

    def write(self, catalog: Catalog, tables: Mapping[str, Any], codes: Mapping[int, CodeSets]) -> Written: ...

    def write_beside(self, catalog: Catalog, tables: Mapping[str, Any], carried: CarriedClasses) -> Written:
        """The same with cells of the classes that are carried over; what is read back are the others."""

    def prove(self, catalog: Catalog, carried: CarriedClasses) -> CarriedProof:
        """Measure the whole of what was written, and that carried classes are what they were."""

    def carry(self, staging: Any, version: int) -> CarriedClasses | None:
        """The classes of an earlier version in which nothing has changed; from now on only the others are made."""

    def figures(self, version: int) -> str:
        """What publishing measured of a version; empty where that is not there."""

    def intervals(self, version: int, column: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Low and high ends of all intervals of a number that a version tells."""

    def earlier(self) -> Mapping[int, Catalog | None]:
        """The catalog of every readable version; None if its file is lost."""

    def same_as(self, versions: Collection[int]) -> tuple[int, ...]:
        """The versions among these that reveal exactly the same as what was written."""

    def kept(self, versions: Collection[int]) -> AbstractContextManager[Sequence[KeptVersion]]:
        """Versions with their raw rows."""

    def meet(self, staging: Any, keeping: OverlapRule, carried: CarriedClasses | None = None) -> VersionOverlap | None:
        """The rows of the staging tables with the people of all readable versions; None if there are none. People in
        carried classes are left out.
        """

    def meet_written(
        self, keeping: OverlapRule, without: Collection[int], carried: CarriedClasses | None = None
    ) -> AbstractContextManager[VersionOverlap | None]:
        """The same, using only the files and without the versions to be retired."""

    def switch(self, retire: Sequence[int] = ()) -> None: ...


class VersionWriter(Protocol):
    """Where publications are made."""

    def publishing(self, dataset: str) -> AbstractContextManager[Publication]: ...


@dataclass(frozen=True, slots=True)
class PublicationJob:
    """Everything that the steps may touch, besides the state. `anonymiser` replaces the policy's method."""

    source: Source
    joins: Sequence[JoinedTable]
    population: Population | None
    publication: Publication
    close_staging: Callable[[], None]
    handling: VersionHandling
    now: Callable[[], str]
    clock_s: Callable[[], float]
    anonymiser: Method | None
    kept: str  # with the raw rows


@dataclass(frozen=True, slots=True)
class Report:
    """What was published, in figures that are safe to print."""

    dataset: str
    version: int
    rows: int
    persons: int  # whose rows they are
    classes: int
    cells: int
    measured: Measurement
    loss: Mapping[str, float]  # per quasi-identifier, the mean share of its domain that a class covers
    warnings: tuple[str, ...]
    seconds: float
    joined: Mapping[str, int]  # per joined table, records of the source that have a row there
    references: Mapping[str, str]  # per reference table, its hash
    comparison: tuple[Trial, ...] = ()  # what was tried, the published one first
    versions: Republication | None = None  # how it goes with earlier versions; None for a first one
    numbers: tuple[NumberReport, ...] = ()  # per sensitive number, widths and leaks of the choice and its alternatives
    codes: tuple[CodeReport, ...] = ()  # per list of codes, what became of them
    views: ViewFigures | None = None  # None: classes over all quasi-identifiers
    file: FileDigest | None = None  # what was verified


def publish(
    policy: Policy,
    source: Source,
    writer: VersionWriter,
    *,
    now: Callable[[], str],
    clock_s: Callable[[], float],
    open_beside: Beside = tell_no_others,
    progress: Progress = no_progress,
    anonymiser: Method | None = None,
    handling: VersionHandling | None = None,
    kept: str = "",
) -> Report:
    """Publish a source under a policy as the next version. If it fails, ConfigError says what to change, and nothing
    has changed.

    `open_beside` opens the other tables that the policy names. `anonymiser` replaces the policy's method; its classes
    are verified like any others. `handling` replaces what the policy says about earlier versions. `kept` is stored with
    the raw rows for later use.
    """
    began = clock_s()
    handling = handling or VersionHandling.by(policy)
    joins = open_joined(policy, open_beside, source)
    population = read_population(policy, open_beside)
    check_columns(policy, source, joins)
    code_groups.check_groups(policy)
    with writer.publishing(policy.dataset) as publication, ExitStack() as opened:
        staging = publication.staging()
        opened.callback(staging.close)
        references = read_references(policy, open_beside)
        state = PublicationState(policy, staging, StepProgress(progress), references)
        job = PublicationJob(
            source, joins, population, publication, opened.close, handling, now, clock_s, anonymiser, kept
        )
        for step in STEPS:
            state = step(state, job)
    return make_report(state, publication.version, clock_s() - began)


def publish_on_trial(
    policy: Policy,
    source: Source,
    publication: Publication,
    *,
    now: Callable[[], str],
    open_beside: Beside = tell_no_others,
    measures_risk: bool = False,
) -> tuple[UnitRisk, ...]:
    """The same, but only up to a file that is not served, so it is neither compared with earlier versions nor verified.
    What can be believed about people is measured on request, since that takes as long as all the rest.
    """
    joins = open_joined(policy, open_beside, source)
    population = read_population(policy, open_beside)
    check_columns(policy, source, joins)
    code_groups.check_groups(policy)
    with ExitStack() as opened:
        staging = publication.staging()
        opened.callback(staging.close)
        references = read_references(policy, open_beside)
        state = PublicationState(policy, staging, StepProgress(), references, measures_risk=measures_risk)
        handling = replace(VersionHandling.by(policy), compare=False)
        job = PublicationJob(source, joins, population, publication, opened.close, handling, now, lambda: 0.0, None, "")
        for step in TRIAL_STEPS:
            state = step(state, job)
        return summarise(state, state.views).risk if state.views is not None and measures_risk else ()


# -- the steps -----------------------------------------------------------------------------------------------


def load(state: PublicationState, job: PublicationJob) -> PublicationState:
    state = coded_rows.load(state, job.source, job.joins)
    check_persons(state)
    named = {column.name for column in state.policy.columns if column.role != "withheld" and column.of_codes is None}
    others = [name for name in job.source.columns() if name not in named]
    read = partial(state.staging.count_source_values, job.source)
    check_unnamed(state.policy, others, state.staging.count_values, read)
    return state


def flag_codes(state: PublicationState, job: PublicationJob) -> PublicationState:
    code_groups.flag_codes(state.policy, state.staging, state.rows)
    return state


def hide_rare(state: PublicationState, job: PublicationJob) -> PublicationState:
    return rare_values.hide_rare(state)


def code(state: PublicationState, job: PublicationJob) -> PublicationState:
    return coded_rows.code(state)


def divide(state: PublicationState, job: PublicationJob) -> PublicationState:
    if isinstance(state.staging, PartDivision):
        return divide_in_place(state, state.staging, job.clock_s)
    if state.policy.views is not None:
        state = decide(state, job.publication.earlier() if job.handling.compare else {}, job.handling)
        with job.publication.kept(state.beside) as kept:
            versions = lay_beside(state, kept)
        return divide_views(state, versions)
    if job.handling.on_overlap == "extend" and job.handling.compare and job.anonymiser is None:
        extended = extend(state, job.publication, job.handling, job.clock_s)
        if extended is not None:
            return extended.without_table()
    return partition(state, job.anonymiser, job.population, job.clock_s).without_table()


def compare(state: PublicationState, job: PublicationJob) -> PublicationState:
    if state.carried is not None:  # it was, when its classes were made
        state.staging.keep_policy(job.kept)
        return replace(state, has_earlier=True)
    earlier = job.publication.earlier() if job.handling.compare and state.policy.views is None else {}
    beside_views = concerns_views(state, earlier)
    meeting = job.publication.meet(state.staging, make_keeping(state.policy)) if earlier and not beside_views else None
    if beside_views:
        state = decide(state, earlier, job.handling)
    elif meeting is not None:
        again = partial(redivide, anonymiser=job.anonymiser, population=job.population, clock_s=job.clock_s)
        state = replace(go_with_earlier(state, meeting, job.handling, again), has_earlier=True)
    state.staging.keep_policy(job.kept)
    return state


def generalise(state: PublicationState, job: PublicationJob) -> PublicationState:
    return cells.generalise(state) if state.views is None else cells.generalise_views(state)


def write(state: PublicationState, job: PublicationJob) -> PublicationState:
    catalog = make_catalog(state, job.publication.version, job.now())
    state.progress.begin(Step.WRITE, "writing")
    if state.carried is not None:
        written = job.publication.write_beside(catalog, cells.tables(state), state.carried)
    else:
        written = job.publication.write(catalog, cells.tables(state), cells.code_sets(state))
    return replace(state.without_cells(), written=written, number_of_cells=cells.number_of(state))


def verify(state: PublicationState, job: PublicationJob) -> PublicationState:
    state.progress.begin(Step.VERIFY, "verifying")
    state = replace(state, file=state.written.digest())  # before it is read: what is changed from now on is noticed
    if state.views is not None:
        given = {cell.place: cell.certificates for cell in state.views.cells}
        with job.publication.kept(state.beside) as kept:
            measured = verify_views(state.written, state.policy, state.staging, state.rows, given, kept)
        return replace(state, measured=measured)
    if state.carried is None or state.measured_before is None:
        measured = verify_release(state.written, state.policy, state.staging, state.rows, job.population)
        return replace(state, measured=measured)
    proof = job.publication.prove(state.written.catalog(), state.carried)
    measured = verify_extended(state.written, state.policy, state.staging, state.rows, proof, state.measured_before)
    return replace(state, measured=measured, number_of_cells=proof.cells)


def describe(state: PublicationState, job: PublicationJob) -> PublicationState:
    if state.views is not None:
        return replace(state, view_figures=summarise(state, state.views), views=None)
    if state.carried is not None or isinstance(state.staging, PartDivision):  # it takes every value of every class
        return state
    return replace(state, number_reports=describe_numbers(state))


def close(state: PublicationState, job: PublicationJob) -> PublicationState:
    job.close_staging()
    return state


def compare_written(state: PublicationState, job: PublicationJob) -> PublicationState:
    if not state.has_earlier:
        return state
    earlier = job.publication.earlier()
    if concerns_views(state, earlier):
        same = job.publication.same_as((*state.beside, *state.alike))
        return replace(state, versions=conclude(state, same))
    with job.publication.meet_written(make_keeping(state.policy), state.retire, state.carried) as meeting:
        found = measure(meeting, job.handling, state.policy.k, sticky=state.sticky, retired=state.retire)
    return replace(state, versions=found)


def switch(state: PublicationState, job: PublicationJob) -> PublicationState:
    job.publication.switch(state.retire)
    return state


STEPS: tuple[Callable[[PublicationState, PublicationJob], PublicationState], ...] = (
    load,
    flag_codes,
    hide_rare,
    code,
    divide,
    compare,
    generalise,
    write,
    verify,
    describe,
    close,
    compare_written,
    switch,
)

TRIAL_STEPS = (load, flag_codes, hide_rare, code, divide, generalise, write, close)


# -- what they leave -----------------------------------------------------------------------------------------


def make_report(state: PublicationState, version: int, seconds: float) -> Report:
    return Report(
        state.policy.dataset,
        version,
        state.rows,
        state.persons,
        state.classes + (state.carried.classes if state.carried else 0),
        state.number_of_cells,
        state.measured,
        state.loss,
        (*state.policy.warnings, *untold_warnings(state), *code_warnings(state)),
        seconds,
        state.staging.matched,
        {table.name: table.hash for table in state.references},
        state.comparison,
        state.versions,
        numbers=state.number_reports,
        codes=tuple(made.report for made in state.code_lists.values()),
        views=state.view_figures,
        file=state.file,
    )


def listed_codes(state: PublicationState) -> Iterator[Column]:
    """Lists of codes whose groups views publish: their public codes, and the flag of each group."""
    for index, told in enumerate(code_groups.grouped_lists(state.policy) if state.margins else (), len(state.columns)):
        codes, groups = told.system.codes, tuple((name, told.texts(name)) for name in told.groups)
        column, parents = told.column, told.system.parents
        yield Column(
            column.name, index, "codes", "codes", False, None, None, codes, column.title, parents=parents, groups=groups
        )


def make_catalog(state: PublicationState, version: int, published: str) -> Catalog:
    policy = state.policy
    return Catalog(
        dataset=policy.dataset,
        version=version,
        title=policy.title,
        k=policy.k,
        rows=state.rows,
        columns=(*state.columns, *listed_codes(state)),
        tight=policy.anonymise.edges == "tight",
        min_group=policy.answers.min_group,
        modes=policy.answers.modes,
        policy_hash=policy.hash,
        published=published,
        unit=policy.unit,
        references=state.references,
        noise=policy.noise,
        on_differencing=policy.audit.on_differencing,
        in_extracts=tuple(column.name for column in policy.columns if column.is_in_extracts),
        person="" if state.repeated else policy.person,
        persons=state.persons if state.repeated else 0,
        margins=state.margins,
    )
