"""The path of a publication: source to vault to classes to cells, verified, then served.

Each step below is a function of the draft so far. Nothing is served before the independent verifier has re-measured
what was written; whatever fails, the version before goes on serving.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from querygate.core.block import CodeSets
from querygate.core.errors import ConfigError
from querygate.core.ports import JoinedTable, Profile, Source, StagingTables
from querygate.core.progress import Progress, no_progress
from querygate.core.types import Catalog, Ints
from querygate.core.version_overlap import OverlapRule, VersionOverlap
from querygate.custody.codes.code_items import CodeReport, in_classes, publish_codes
from querygate.custody.columns.hierarchies import make_tree
from querygate.custody.columns.population import read_population
from querygate.custody.columns.reference_tables import read_references
from querygate.custody.columns.source_joins import Beside, check_columns, open_joined, tell_no_others, wanted_columns
from querygate.custody.columns.value_codes import bin_codes, check_values, exact_codes, grid_codes
from querygate.custody.columns.value_groups import group_codes
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.publish.class_moments import PER_CLASS, own_intervals
from querygate.custody.publish.generalise import code_sets, generalise, tables
from querygate.custody.publish.method_comparison import Trial
from querygate.custody.publish.number_widths import NumberReport, describe_numbers
from querygate.custody.publish.partition import partition, redivide
from querygate.custody.publish.publication_state import PublicationState, Step
from querygate.custody.publish.republication_guard import (
    Republication,
    VersionHandling,
    go_with_earlier,
    make_keeping,
    measure,
)
from querygate.custody.verify.verify import Measurement, Written, verify_release
from querygate.methods.anonymise import Method


class Publication(Protocol):
    """One version in the making, under the dataset's lock."""

    version: int

    def workshop(self) -> StagingTables: ...

    def write(self, catalog: Catalog, tables: Mapping[str, Any], codes: Mapping[int, CodeSets]) -> Written: ...

    def meet(self, workshop: Any, keeping: OverlapRule) -> VersionOverlap | None:
        """The rows of the workshop beside the people of all versions that can be read; None where there are none."""

    def meet_written(
        self, keeping: OverlapRule, without: Collection[int]
    ) -> AbstractContextManager[VersionOverlap | None]:
        """The same from the files alone, without the versions that are to be retired."""

    def switch(self, retire: Sequence[int] = ()) -> None: ...


class VersionWriter(Protocol):
    """Where publications are made."""

    def publishing(self, dataset: str) -> AbstractContextManager[Publication]: ...


@dataclass(frozen=True, slots=True)
class Report:
    """What was published, in figures that are safe to print."""

    dataset: str
    version: int
    rows: int
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


def publish(
    policy: Policy,
    source: Source,
    shelf: VersionWriter,
    *,
    now: Callable[[], str],
    clock_s: Callable[[], float],
    open_beside: Beside = tell_no_others,
    progress: Progress = no_progress,
    anonymiser: Method | None = None,
    handling: VersionHandling | None = None,
    kept: str = "",
) -> Report:
    """Publish a source under a policy as the next version. ConfigError says what to change; nothing is half done.

    `open_beside` opens the other tables that the policy names. `anonymiser` stands in for the policy's method; its
    classes are verified like any others. `handling` stands in for what the policy says about earlier versions. `kept`
    is kept with the raw rows, for whoever makes something else of them later.
    """
    began = clock_s()
    retire: tuple[int, ...] = ()
    handling = handling or VersionHandling.by(policy)
    joins = open_joined(policy, open_beside)
    population = read_population(policy, open_beside)
    check_columns(policy, source, joins)
    with shelf.publishing(policy.dataset) as publication:
        draft = PublicationState(
            policy, publication.workshop(), progress, references=read_references(policy, open_beside)
        )
        try:
            load(draft, source, joins)
            code(draft)
            partition(draft, anonymiser, population, clock_s)
            keeping = make_keeping(policy)
            meeting = publication.meet(draft.workshop, keeping) if handling.compare else None
            if meeting is not None:
                again = partial(redivide, draft, anonymiser, population, clock_s)
                retire = go_with_earlier(draft, meeting, handling, again)
            draft.workshop.keep_policy(kept)
            generalise(draft)
            catalog = make_catalog(draft, publication.version, now())
            draft.begin(Step.WRITE, "writing")
            written = publication.write(catalog, tables(draft), code_sets(draft))
            draft.let_cells_go()
            draft.begin(Step.VERIFY, "verifying")
            measured = verify_release(written, policy, draft.workshop, draft.rows, population)
            numbers = describe_numbers(draft)
        finally:
            draft.workshop.close()
        versions = None
        if meeting is not None:
            with publication.meet_written(keeping, retire) as written_beside:
                versions = measure(written_beside, handling, policy.k, sticky=draft.sticky, retired=retire)
        publication.switch(retire)
    return Report(
        policy.dataset,
        publication.version,
        draft.rows,
        draft.classes,
        draft.number_of_cells,
        measured,
        draft.loss,
        policy.warnings,
        clock_s() - began,
        draft.workshop.matched,
        {table.name: table.hash for table in draft.references},
        draft.comparison,
        versions,
        numbers=numbers,
        codes=tuple(made.report for made in draft.code_lists.values()),
    )


# -- the steps -----------------------------------------------------------------------------------------------


def load(draft: PublicationState, source: Source, joins: Sequence[JoinedTable]) -> None:
    """Raw rows into the vault, typed by the policy; identifiers as text; withheld columns stay where they are."""
    draft.begin(Step.LOAD, " and ".join(["reading the source", *(f"joining {join.name}" for join in joins)]))
    wanted = wanted_columns(draft.policy, exclude=[name for join in draft.policy.joins for name in join.columns])
    draft.rows = draft.workshop.load(source, wanted, joins)
    if draft.policy.person:
        draft.workshop.check_persons(draft.policy.person)
    if draft.rows < draft.policy.k:
        raise ConfigError(
            "QG803",
            f"The source has {draft.rows:,} rows, fewer than k = {draft.policy.k}.",
            "Publish more records, or lower k in the policy.",
        )


def code(draft: PublicationState) -> None:
    """Give every published value its code."""
    draft.begin(Step.CODE, "coding")
    for column in draft.published:
        if in_classes(column):
            continue  # once there are classes
        if column.codes is not None:
            draft.code_lists[column.name] = publish_codes(column, draft.workshop, draft.rows, draft.policy.k)
            continue
        profile = draft.workshop.profile(column.name)
        check_values(column, profile)
        draft.profiles[column.name] = profile
        if column.is_numeric:
            codes = _number_codes(draft, column, profile)
        else:
            draft.texts[column.name] = tuple(sorted({*column.values, *map(str, profile.values)}))
            if column.hierarchy is not None:
                draft.trees[column.name] = make_tree(column, profile)
                draft.texts[column.name] = tuple(sorted(draft.trees[column.name].leaves))
            texts = np.array(draft.texts[column.name], dtype=object)
            codes = np.searchsorted(texts, profile.values).astype(np.int64)
            if column.groups:
                codes = group_codes(column, profile.values)
        draft.workshop.set_codes(column.name, profile.values, codes)


def _number_codes(draft: PublicationState, column: ColumnPolicy, profile: Profile) -> Ints:
    if column.role == "public" or (column.role == "quasi-identifier" and draft.policy.anonymise.edges == "tight"):
        numbers = exact_codes(column, profile)
    elif column.role == "quasi-identifier" or column.carry in PER_CLASS:
        numbers = grid_codes(column)
    elif column.carry == "univariate":
        numbers = own_intervals(column, profile, draft.policy.k)
    else:
        bins = bin_codes(column)
        counts = np.bincount(bins.of(profile.values), profile.counts, bins.size).astype(np.int64)
        groups = bins.joined(counts, draft.policy.k)
        numbers = bins.merged(groups)
    draft.numbers[column.name] = numbers
    return numbers.of(profile.values)


def make_catalog(draft: PublicationState, version: int, published: str) -> Catalog:
    policy = draft.policy
    return Catalog(
        dataset=policy.dataset,
        version=version,
        title=policy.title,
        k=policy.k,
        rows=draft.rows,
        columns=tuple(draft.columns),
        tight=policy.anonymise.edges == "tight",
        min_group=policy.answers.min_group,
        modes=policy.answers.modes,
        policy_hash=policy.hash,
        published=published,
        unit=policy.unit,
        references=draft.references,
        noise=policy.noise,
        on_differencing=policy.audit.on_differencing,
        in_extracts=tuple(column.name for column in policy.columns if column.is_transformed),
        person=policy.person,
    )
