"""A version that goes on from the one before: classes in which nothing has changed are taken over as they are.

All other rows, of newcomers and of whoever was in a class that somebody left or in which a value changed, are divided
as the republication guard wants it: what earlier versions left together stays together, and newcomers have classes of
their own. That takes as long as there are changes. Where it cannot be done so, or the guard does not hold, all rows are
divided anew.

People in classes that are carried over need not be compared with earlier versions again: with each of these, the new
version tells of them what the version before told, and that was compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from querygate.core.errors import ConfigError
from querygate.core.json_body import from_json
from querygate.core.publications.carried_classes import CarriedClasses
from querygate.core.publications.vault_ports import StagingTables
from querygate.core.publications.version_overlap import OverlapRule, VersionOverlap
from querygate.core.types import Catalog
from querygate.custody.columns.value_codes import NumberCodes, bin_codes
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.publish.guarantees import make_guards
from querygate.custody.publish.method_choice import divided, is_measured
from querygate.custody.publish.method_trial import Trial
from querygate.custody.publish.partition import prepare, quasi_identifiers, read_table, with_classes, with_loss
from querygate.custody.publish.republication_guard import VersionHandling, goes_with, make_keeping, sticky
from querygate.custody.publish.step_state import PublicationState, Step
from querygate.custody.verify.verifier_types import Measurement
from querygate.methods.anonymise import loss_by_attribute

BY_CLASS = frozenset({"distinct", "p-sensitive", "entropy", "recursive", "alpha", "ke", "em"})
"""Guarantees by which each class is judged by itself. Others compare it with the whole table, which has changed."""


class Predecessors(Protocol):
    """Earlier versions, as a publication knows them."""

    def earlier(self) -> Mapping[int, Catalog | None]: ...

    def figures(self, version: int) -> str: ...

    def intervals(self, version: int, column: int) -> tuple[tuple[float, ...], tuple[float, ...]]: ...

    def carry(self, staging: StagingTables, version: int) -> CarriedClasses | None: ...

    def meet(
        self, staging: StagingTables, keeping: OverlapRule, carried: CarriedClasses | None = None
    ) -> VersionOverlap | None: ...


def extend(
    state: PublicationState, earlier: Predecessors, handling: VersionHandling, clock_s: Callable[[], float]
) -> PublicationState | None:
    """Divide what has changed since the last version, and take over the rest. None where all has to be divided anew;
    the staging tables are then as they were.
    """
    began = clock_s()
    state.progress.begin(Step.DIVIDE, "comparing with the version before")
    version = _last(state, earlier, handling)
    told = earlier.figures(version) if version is not None else ""
    if version is None or not told or (numbers := _kept_bins(state, earlier, version)) is None:
        return None
    carried = earlier.carry(state.staging, version)
    if carried is None:
        return None
    _set_codes(state, numbers)
    before = from_json(Measurement, json.loads(told)["measured"])
    coded = replace(state, carried=carried, measured_before=before, numbers={**state.numbers, **numbers})
    made = _divide(coded, earlier, handling)
    if made is None:
        state.staging.carry_nothing()
        _set_codes(state, {name: state.numbers[name] for name in numbers})
        return None
    note = f"classes made anew; {carried.classes:,} are those of version {version}"
    loss = float(np.mean(list(made.loss.values())))
    trial = Trial("mondrian", state.policy.k, made.classes, loss, {}, clock_s() - began, chosen=True, note=note)
    return replace(made, comparison=(trial,))


def may_extend(policy: Policy) -> bool:
    """Whether classes of a policy can be judged one by one, so that what held of one goes on holding."""
    return (
        policy.views is None
        and bool(policy.person and quasi_identifiers(policy))
        and not is_measured(policy)
        and policy.k_map is None
        and all(_is_by_class(column) for column in policy.published)
    )


def _is_by_class(column: ColumnPolicy) -> bool:
    return column.codes is None and column.carry != "univariate" and all(d.kind in BY_CLASS for d in column.diversity)


def _last(state: PublicationState, earlier: Predecessors, handling: VersionHandling) -> int | None:
    """The version to go on from: the last one, if all that can be read are of this policy and have each person once."""
    known = earlier.earlier()
    if not known or handling.retire or state.repeated or not may_extend(state.policy):
        return None
    last = known[max(known)]
    if last is None or last.policy_hash != state.policy.hash:
        return None
    same = all(
        c is not None and c.person == state.policy.person and not c.persons and not c.margins for c in known.values()
    )
    return last.version if same else None


# -- codes ---------------------------------------------------------------------------------------------------------


def _kept_bins(state: PublicationState, earlier: Predecessors, version: int) -> dict[str, NumberCodes] | None:
    """Sparse bins are joined by how many records they hold, and cells that are carried over have the bins of then: the
    codes by which these stay, of the numbers that have others now. None where a bin would have too few records.
    """
    found = {}
    for index, column in enumerate(state.policy.published):
        if column.carry != "bins":
            continue
        then = list(zip(*earlier.intervals(version, index), strict=True))
        if set(then) <= _intervals(state.numbers[column.name]):
            continue
        profile, fine = state.profiles[column.name], bin_codes(column)
        low, high = (np.array([ends[i] for ends in then], dtype=fine.low.dtype) for i in (0, 1))
        place = np.searchsorted(low, fine.low, side="right") - 1
        inside = (place >= 0) & (fine.high <= high[place])
        begins = np.diff(np.where(inside, place, -2), prepend=-3) != 0
        codes = fine.merged(np.cumsum(begins | ~inside) - 1)
        held = np.bincount(codes.of(profile.values), profile.counts, codes.size)
        if not set(then) <= _intervals(codes) or ((held > 0) & (held < state.policy.k)).any():
            return None
        found[column.name] = codes
    return found


def _intervals(codes: NumberCodes) -> set[tuple[float, float]]:
    return set(zip(codes.low.tolist(), codes.high.tolist(), strict=True))


def _set_codes(state: PublicationState, numbers: Mapping[str, NumberCodes]) -> None:
    for name, codes in numbers.items():
        values = state.profiles[name].values
        state.staging.set_codes(name, values, codes.of(values))


# -- classes -------------------------------------------------------------------------------------------------------


def _divide(state: PublicationState, earlier: Predecessors, handling: VersionHandling) -> PublicationState | None:
    """Classes of what is not carried over; None where they do not keep what they have to."""
    policy = state.policy
    prepare(state)
    meeting = earlier.meet(state.staging, make_keeping(policy), state.carried)
    if meeting is None or meeting.several or not meeting.by_person:
        return None
    state, table = read_table(state, by_record=True)
    state.progress.say("making classes of what has changed")
    guards = make_guards(state)
    try:
        labels = divided(sticky(meeting, handling), table, policy, policy.k, guards, state.progress.within)
    except ConfigError:  # even all of them together do not keep the policy
        return None
    state = replace(with_classes(replace(state, combinations=None), table, labels), sticky=True)
    if not goes_with(meeting.met(), meeting, handling, policy.k):
        return None
    return with_loss(state, loss_by_attribute(table, labels, state.boxes))
