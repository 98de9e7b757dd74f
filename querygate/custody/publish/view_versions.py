"""Compares a version of views with earlier versions.

Views of a new version are combined with those of every version that can still be read, and certified together with
them: nothing can be worked out about fewer than k people from all of them, and nobody's value is certain. Where that
cannot be shown, nothing is published, and the refusal says what to do. Classes over all quasi-identifiers and views are
never readable at the same time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from querygate.core.errors import ConfigError
from querygate.core.types import Catalog
from querygate.custody.publish.republication_guard import Overlap, Republication, VersionHandling, listed_versions
from querygate.custody.publish.step_state import PublicationState
from querygate.custody.verify.earlier_views import EarlierVersion, Incomparable, KeptVersion, read_earlier

Earlier = Mapping[int, Catalog | None]
"""The catalog of each readable version; None if its file is lost."""


def concerns_views(state: PublicationState, earlier: Earlier) -> bool:
    """Is the new version, or a readable one, published as views?"""
    return bool(earlier) and (
        state.policy.views is not None or any(one is not None and one.margins for one in earlier.values())
    )


def decide(state: PublicationState, earlier: Earlier, handling: VersionHandling) -> PublicationState:
    """Decide which versions are retired and which stay; ConfigError QG803 if one stays that is incompatible with views.

    If people have several rows, nobody can be followed: what stays must reveal exactly the same.
    """
    if not earlier:
        return state
    retire = tuple(earlier) if handling.on_overlap == "retire" else handling.retire
    others = {version: one for version, one in earlier.items() if version not in retire}
    lost = [version for version, one in others.items() if one is None]
    if lost:
        raise refusal(lost, "its file is lost, so it is not known what the two reveal together", "restore the file")
    as_views = state.policy.views is not None
    mixed = [version for version, one in others.items() if one is not None and bool(one.margins) != as_views]
    if mixed:
        why = "one is published as views and the other as classes, which together reveal complete records"
        raise refusal(mixed, why)
    stay = tuple(others)
    beside, alike = ((), stay) if state.repeated else (stay, ())
    return replace(state, retire=retire, beside=beside, alike=alike, has_earlier=True)


def lay_beside(state: PublicationState, kept: Sequence[KeptVersion]) -> tuple[EarlierVersion, ...]:
    """What these versions publish about the rows; ConfigError QG803 if they cannot be compared."""
    if kept:
        state.progress.say("comparing versions")
    found = []
    for version in kept:
        try:
            found.append(read_earlier(version, state.policy, state.staging.columns, state.staging.raw_column))
        except Incomparable as problem:
            raise refusal([version.number], problem.reason, *problem.options) from None
    return tuple(found)


def conclude(state: PublicationState, same: Collection[int]) -> Republication:
    """After writing and verifying: the versions it was certified with, and those that reveal exactly the same."""
    different = [version for version in state.alike if version not in same]
    if different:
        raise refusal(different, "people have several rows, so nobody can be followed from version to version")
    return Republication(True, False, state.retire, Overlap(0, 0, 0, 0, 0), {}, tuple(same), state.beside)


def refusal(versions: Collection[int], reason: str, *options: str) -> ConfigError:
    which = listed_versions(tuple(versions))
    retire = (
        f'retire {which}: republish.on_overlap = "retire", or --on-overlap retire this once, or before with `querygate '
        "retire` where it is not served. A retired version is never served again, but those who asked still know its "
        "answers"
    )
    plan = "\n".join(f"- {step}." for step in (*options, retire))
    return ConfigError(
        "QG803", f"Combined with {which}, the new version could reveal single people: {reason}.", f"Options:\n{plan}"
    )
