"""Checks a new version against earlier ones: nobody who was hidden in each of them may be found by combining them.

All versions that can still be read are compared with the new one before it is served, once as it was planned and once
as it was written. If people could be distinguished in groups that are too small, the policy says what happens: the
publication is refused with a plan, classes are made again so that those of earlier versions stay together, or the
earlier versions are retired.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.publications.version_overlap import ClassHistory, OverlapRule, VersionOverlap
from querygate.custody.policy import Policy
from querygate.custody.policy.diversity_rules import least_values
from querygate.custody.policy.event_tables import without_last_day
from querygate.custody.publish.step_state import PublicationState, StepProgress
from querygate.methods.anonymise import Infeasible, Method, stay_together
from querygate.methods.anonymise.version_overlay import OverlayVerdict, SmallParts, in_the_way, judge, only, pairwise

OnOverlap = Literal["refuse", "sticky", "extend", "retire"]

DOUBLINGS = 4
"""How often a plan doubles k to find one that is enough."""

MOST_RECORDS = 2_000_000
"""With more records, a plan tries nothing out."""

Redivide = Callable[[PublicationState, Method | None, int], PublicationState]
"""Divides the records again, by another method or by the policy's own, and for another k."""


@dataclass(frozen=True, slots=True)
class VersionHandling:
    """What to do about earlier versions. `retire`: retire these, whatever is found. `compare` off ignores them."""

    on_overlap: OnOverlap = "refuse"
    few_changes: bool = False  # people who came, left or changed in groups below k are only reported
    retire: tuple[int, ...] = ()
    compare: bool = True

    @classmethod
    def by(cls, policy: Policy, on_overlap: OnOverlap | None = None) -> VersionHandling:
        """As the policy says; `on_overlap` replaces its setting for this publication."""
        options = policy.republish
        return cls(on_overlap or options.on_overlap, options.few_changes == "report")


@dataclass(frozen=True, slots=True)
class Overlap:
    """What the new version reveals together with an earlier one, or with all of them."""

    smallest: int  # fewest people who were together and are together now
    divided: int  # people in parts of a class that are too small
    left: int  # people who left, or were left behind, in groups that are too small
    came: int
    changed: int  # people who stayed, with other secret values, in groups that are too small

    @classmethod
    def of(cls, verdict: OverlayVerdict) -> Overlap:
        small = (verdict.divided, verdict.left, verdict.came, verdict.changed)
        return cls(verdict.smallest, *(part.people for part in small))

    @property
    def told(self) -> int:
        """People whose values the difference reveals to anyone who knows that it is about them."""
        return self.left + self.came + self.changed


@dataclass(frozen=True, slots=True)
class Republication:
    """Whether the new version is compatible with the earlier ones. `by_version` has an entry for each that was
    compared."""

    by_person: bool
    sticky: bool
    retired: tuple[int, ...]
    together: Overlap
    by_version: dict[int, Overlap]
    same: tuple[int, ...] = ()  # versions of views that reveal exactly the same
    certified: tuple[int, ...] = ()  # versions of views that it was certified with


def make_keeping(policy: Policy) -> OverlapRule:
    """What every group must keep besides k: the number of distinct values that a guarantee requires, and the guards."""
    sensitive = policy.named("sensitive")
    values = {column.name: least for column in sensitive if (least := least_values(column.diversity)) > 1}
    widths = {column.name: float(column.guard) for column in sensitive if column.is_numeric and column.guard}
    secret = tuple(column.name for column in policy.named("sensitive", "codes"))
    spared = frozenset(column.name for column in sensitive if column.spares_missing)
    return OverlapRule(policy.person or None, values, widths, secret, spared)


# -- before it is written ----------------------------------------------------------------------------------------


def go_with_earlier(
    state: PublicationState, meeting: VersionOverlap, handling: VersionHandling, redivide: Redivide
) -> PublicationState:
    """Check that the classes are compatible with earlier versions, and say which of these are to be retired.

    Raises ConfigError QG803 with a plan where they do not, and the policy does not say how to go on.
    """
    state.progress.say("comparing versions")
    k, met = state.policy.k, meeting.met()
    if goes_with(met, meeting, handling, k):
        return replace(state, retire=handling.retire)
    if handling.on_overlap == "retire":
        return replace(state, retire=_to_retire(met, meeting, handling, k))
    before = _Tried(met, judge(met, k), _loss(state))
    if (
        handling.on_overlap in ("sticky", "extend")
        and not meeting.several
        and meeting.by_person | (0 in meeting.changed)
    ):
        state = redivide(state, sticky(meeting, handling), k)
        if goes_with(meeting.met(), meeting, handling, k):
            return replace(state, retire=handling.retire)
    raise _refusal(state, meeting, handling, before, redivide)


def sticky(meeting: VersionOverlap, handling: VersionHandling) -> Method:
    """The method that keeps people together whom earlier versions left together."""

    def run(table: Any, k: int, guards: Sequence[Any] = (), *, progress: Any = None) -> Any:
        return stay_together(table, meeting.history(), k, guards, apart=not handling.few_changes, progress=progress)

    return Method(run, by_record=True)


def goes_with(met: ClassHistory, meeting: VersionOverlap, handling: VersionHandling, k: int) -> bool:
    """Do all versions that stay readable go with the new one? With those that are to be retired it need not be known
    who came and who left, but no class of theirs is divided either: what they answered is known.
    """
    if not meeting.by_person and 0 not in meeting.changed:
        return False  # it is not known who has changed and who is new
    if meeting.several:
        return set(meeting.versions) <= set(handling.retire)
    rest = [place for place, version in enumerate(meeting.versions) if version not in handling.retire]
    lenient = handling.few_changes or len(rest) < len(meeting.versions)
    return judge(met, k).keeps(few_changes=lenient) and (
        not rest or judge(only(met, rest), k).keeps(few_changes=handling.few_changes)
    )


def _to_retire(met: ClassHistory, meeting: VersionOverlap, handling: VersionHandling, k: int) -> tuple[int, ...]:
    if meeting.several or (not meeting.by_person and 0 not in meeting.changed):
        return meeting.versions
    return tuple(meeting.versions[place] for place in in_the_way(met, k, few_changes=handling.few_changes))


# -- after it was written ------------------------------------------------------------------------------------------


def measure(
    meeting: VersionOverlap | None, handling: VersionHandling, k: int, *, sticky: bool, retired: Sequence[int]
) -> Republication:
    """Compare what was written; `meeting` has the versions that stay readable, None if there are none."""
    if meeting is None:
        nothing = Overlap(0, 0, 0, 0, 0)
        return Republication(True, sticky, tuple(retired), nothing, {})
    met = meeting.met()
    if not goes_with(met, meeting, handling, k):
        raise ConfigError(
            "QG803",
            "The verifier found that the release would break a guarantee: groups of all versions together.",
            "Nothing was published. This is a fault of the anonymiser; please report it with the policy.",
        )
    by_version = dict(zip(meeting.versions, map(Overlap.of, pairwise(met, k)), strict=True))
    return Republication(meeting.by_person, sticky, tuple(retired), Overlap.of(judge(met, k)), by_version)


# -- the plan ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Tried:
    """One way to divide the records: what it reveals, and what it loses."""

    met: ClassHistory
    verdict: OverlayVerdict
    loss: float


def _loss(state: PublicationState) -> float:
    return sum(state.loss.values()) / max(1, len(state.loss))


def _refusal(
    state: PublicationState, meeting: VersionOverlap, handling: VersionHandling, before: _Tried, redivide: Redivide
) -> ConfigError:
    """What was found, and every remedy, with figures."""
    state.progress.say("trying alternatives")
    state = replace(state, progress=StepProgress())  # nothing is published after this
    gone, new = meeting.changed
    is_known = not meeting.several and (meeting.by_person or 0 in (gone, new))
    lines = _found(state.policy.k, meeting, before.verdict, handling) if is_known else []
    plan = []
    if meeting.several:
        lines.append(
            f"People have several rows in the new version or in {listed_versions(meeting.versions)}, so it is not "
            "known what these versions together reveal about one person."
        )
    elif not is_known:
        lines.append(
            f"{counted(gone, 'record')} of {listed_versions(meeting.versions)} changed or disappeared in the new "
            f"version, and {new:,} of the new version were not there before. It is not known who is new and who has "
            "only changed."
        )
        plan.append('name the column that identifies persons: person = "..." above the first table, role identifier')
    elif state.rows <= MOST_RECORDS:
        options, vain = _tried(state, meeting, handling, before, redivide)
        plan, lines = plan + options, lines + vain
        plan += without_last_day(state.policy) if before.verdict.changed.parts and not handling.few_changes else ()
        plan += _accepted(state, meeting, handling, before, redivide)
    which = _to_retire(before.met, meeting, handling, state.policy.k) or meeting.versions
    plan.append(
        f'retire {listed_versions(which)}: republish.on_overlap = "retire", or --on-overlap retire this once. A '
        "retired version is never served again, but those who asked still know its answers"
    )
    return ConfigError("QG803", "\n".join(lines), "Options:\n" + "\n".join(f"- {step}." for step in plan))


def _found(k: int, meeting: VersionOverlap, verdict: OverlayVerdict, handling: VersionHandling) -> list[str]:
    lines = [
        f"Combined with {listed_versions(meeting.versions)}, the new version would separate people in groups below "
        f"k = {k} or with too few distinct values:"
    ]
    if verdict.divided.parts:
        lines.append(f"  {_counted(verdict.divided, 'part')} of earlier classes")
    if verdict.left.parts and not handling.few_changes:
        lines.append(f"  {_counted(verdict.left, 'group')} that some people left")
    if verdict.came.parts and not handling.few_changes:
        lines.append(f"  {_counted(verdict.came, 'group')} of people who came")
    if verdict.changed.parts and not handling.few_changes:
        lines.append(f"  {_counted(verdict.changed, 'group')} of people whose sensitive values changed")
    if 0 < verdict.smallest < k:  # of those who stayed; if it is not too small, others are
        lines.append(f"The smallest remaining group has {verdict.smallest:,}.")
    return lines


def _tried(
    state: PublicationState, meeting: VersionOverlap, handling: VersionHandling, before: _Tried, redivide: Redivide
) -> tuple[list[str], list[str]]:
    """Whether sticky classes would help, and which k; and what was tried in vain. Nothing is published after this, so
    the state may be divided again."""
    k, plan = state.policy.k, []
    if before.verdict.left.parts and not handling.few_changes:
        return [], []  # nothing can be done about those who left, however the others are divided
    if 0 < _most_changed(before.met) < k and not handling.few_changes:
        return [], []  # nor can so few who changed be hidden
    if (found := _try(state, meeting, handling, redivide, sticky(meeting, handling), k)) is not None:
        plan.append(
            'keep classes together: republish.on_overlap = "sticky". '
            f"Mean loss (NCP) {found.loss:.2%} instead of {before.loss:.2%}, smallest group {found.verdict.smallest:,}"
        )
    larger = [k << step for step in range(1, DOUBLINGS + 1) if k << step <= state.rows]
    for wanted in larger:
        if (found := _try(state, meeting, handling, redivide, None, wanted)) is not None:
            plan.append(f"raise k to {wanted}: mean loss (NCP) {found.loss:.2%} instead of {before.loss:.2%}")
            break
    else:
        return plan, [f"Raising k does not help: none up to {larger[-1]} is enough."] if larger else []
    return plan, []


def _accepted(
    state: PublicationState, meeting: VersionOverlap, handling: VersionHandling, before: _Tried, redivide: Redivide
) -> list[str]:
    """What to do about a few who came, left or changed: wait for more of them, or accept that they are revealed."""
    found = Overlap.of(before.verdict)
    if handling.few_changes or not found.told:
        return []
    plan = ["wait until more people have been added, so that they can form their own classes"] if found.came else []
    some = 0 < found.changed < _stayed(before.met)  # if all have changed, there is nobody to wait for
    plan += ["wait until the values of more people have changed"] if some else []
    step = 'accept a few changes: republish.few_changes = "report"'
    if before.verdict.divided.parts:
        lenient = replace(handling, few_changes=True)
        tried = _try(state, meeting, lenient, redivide, sticky(meeting, lenient), state.policy.k)
        if tried is None:
            return plan
        step += f' with on_overlap = "sticky", mean loss (NCP) {tried.loss:.2%} instead of {before.loss:.2%}'
    return [
        *plan,
        f"{step}. Anyone who has two versions and knows who these people are can then work out their values",
    ]


def _stayed(met: ClassHistory) -> int:
    return int(met.people[(met.now >= 0) & (met.earlier >= 0).any(axis=1)].sum())


def _most_changed(met: ClassHistory) -> int:
    return int(met.changes.people.sum(axis=0).max(initial=0)) if met.changes is not None else 0


def _try(
    state: PublicationState,
    meeting: VersionOverlap,
    handling: VersionHandling,
    redivide: Redivide,
    method: Method | None,
    k: int,
) -> _Tried | None:
    """Divide the records this way and measure it; None if this is not enough either."""
    try:
        state = redivide(state, method, k)
    except (Infeasible, ConfigError):
        return None
    met = meeting.met()
    if not goes_with(met, meeting, replace(handling, on_overlap="refuse"), state.policy.k):
        return None
    return _Tried(met, judge(met, state.policy.k), _loss(state))


def _counted(small: SmallParts, part: str) -> str:
    return f"{counted(small.people, 'person', 'people')} in {counted(small.parts, part)}"


def listed_versions(versions: Sequence[int]) -> str:
    return f"version{'s' * (len(versions) > 1)} {', '.join(map(str, versions))}"
