"""The people of a new version compared with those of earlier ones, for publishing. All of this is vault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from querygate.core.types import Bools, Ints


@dataclass(frozen=True, slots=True)
class OverlapRule:
    """What tells persons apart (None: all that is known of a record), and what a group of them has to keep: at least so
    many different values of a column, numbers of a column at least so far apart; nothing of a `spared` column of which
    all their values are missing. `secret`: columns of which another value in a later version tells of whoever has it.
    """

    person: str | None
    values: Mapping[str, int]
    widths: Mapping[str, float]
    secret: tuple[str, ...] = ()
    spared: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ValueChanges:
    """Of each entry, a column per earlier version: how many of its people have had other secret values since, and
    whether these people keep what is asked of a group, by their old values and by their new ones.
    """

    people: Ints
    kept: Bools


@dataclass(frozen=True, slots=True)
class ClassHistory:
    """All who were in the same classes of every version, as one entry; -1 stands for a version they are not in.

    `earlier` has a column for each of the versions, `kept` says whether the entry keeps what is asked of a group.
    Without `changes`, nobody's secrets have changed.
    """

    earlier: Ints
    now: Ints
    people: Ints
    kept: Bools
    changes: ValueChanges | None = None


class VersionOverlap(Protocol):
    """The rows of a new version, and the people of the earlier ones."""

    @property
    def versions(self) -> tuple[int, ...]: ...

    @property
    def by_person(self) -> bool:
        """Are persons told apart by their own column, in every version?"""
        ...

    @property
    def several(self) -> bool:
        """Have people several rows in a version? Then what versions tell of one person together is not known."""
        ...

    @property
    def changed(self) -> tuple[int, int]:
        """How many of the earlier versions are not in the new one, and how many of the new one were in none."""
        ...

    def history(self) -> Ints:
        """With whom each record was together, in the order of the combinations by record; -1 for a newcomer."""
        ...

    def met(self) -> ClassHistory:
        """What the classes of the new version make of the groups of the earlier ones."""
        ...
