"""Versions of views beside earlier versions.

What two collections of classes tell together is certified for views of one version alone. So a version of views stands
alone: all earlier ones are retired in the same switch, or they tell the very same, figure by figure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from querygate.core.errors import ConfigError
from querygate.core.types import Catalog
from querygate.custody.publish.publication_state import PublicationState
from querygate.custody.publish.republication_guard import Overlap, Republication, VersionHandling, listed_versions

Earlier = Mapping[int, Catalog | None]
"""By version that can be read what it says of itself; None where its file is lost."""


def concerns_views(state: PublicationState, earlier: Earlier) -> bool:
    """Is the new version, or one that can be read, published as views?"""
    return bool(earlier) and (
        state.policy.views is not None or any(one is not None and one.margins for one in earlier.values())
    )


def stand_alone(state: PublicationState, earlier: Earlier, handling: VersionHandling) -> PublicationState:
    """Say which versions are retired; ConfigError QG803 where others stay that cannot tell the same."""
    retire = tuple(earlier) if handling.on_overlap == "retire" else handling.retire
    others = {version: one for version, one in earlier.items() if version not in retire}
    different = [v for v, one in others.items() if one is None or one.policy_hash != state.policy.hash]
    if different:
        raise _refusal(different, "a dataset that is published as views was published under another policy before")
    return replace(state, retire=retire, has_earlier=True)


def check_same(earlier: Collection[int], same: Collection[int], retired: tuple[int, ...]) -> Republication:
    """Once it is written: every version that stays tells the same; ConfigError QG803 where one does not."""
    different = [version for version in earlier if version not in same and version not in retired]
    if different:
        raise _refusal(different, "the records of a dataset that is published as views have changed")
    kept = tuple(version for version in same if version not in retired)
    return Republication(True, False, retired, Overlap(0, 0, 0, 0, 0), {}, same=kept)


def _refusal(versions: Collection[int], reason: str) -> ConfigError:
    which = listed_versions(tuple(versions))
    return ConfigError(
        "QG803",
        f"Combined with {which}, the new version could tell of single people: {reason}, and nothing is known about "
        "what both tell together.",
        f'Options:\n- retire {which}: republish.on_overlap = "retire", or --on-overlap retire this once, or before '
        "with `querygate retire` where it is not served. A retired version is never served again, but those who asked "
        "still know its answers.",
    )
