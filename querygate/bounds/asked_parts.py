"""The conditions and keys that put a record into a group, divided by the columns they use."""

from __future__ import annotations

from collections.abc import Sequence

from querygate.core.expression import Constant
from querygate.core.frozen_classes import frozen
from querygate.core.plan import FetchedGroup, GroupKey, LeftOut, Plan
from querygate.core.predicate import TRUE, And, Atom, Predicate, columns, is_not_null
from querygate.core.types import Scalar

MOST_KEPT = 32
"""Results about all records that are cached with a block; further columns are not cached, so that nobody can fill
memory."""


@frozen
class AskedParts:
    """Conditions, and keys by their places; `all_keys` is how many keys the plan has."""

    parts: tuple[Predicate, ...]
    keys: tuple[int, ...]
    all_keys: int

    @classmethod
    def of(cls, plan: Plan, chosen: Sequence[int], where: Predicate) -> AskedParts:
        """Of groups with these keys and this condition."""
        parts = where.parts if isinstance(where, And) else () if where == TRUE else (where,)
        return cls(parts, tuple(i for i in chosen if _tells_apart(plan.keys[i])), len(plan.keys))

    @property
    def is_nothing(self) -> bool:
        return not self.parts and not self.keys

    @property
    def is_of_all(self) -> bool:
        """Whether only known columns are required: the result is the same for every statement and may be cached."""
        return not self.keys and all(isinstance(p, Atom) and p == is_not_null(p.column) for p in self.parts)

    def within(self, plan: Plan, known: frozenset[str]) -> AskedParts:
        """The parts that use only these columns."""
        parts = tuple(part for part in self.parts if columns(part) <= known)
        keys = tuple(key for key in self.keys if frozenset(plan.keys[key].by.columns) <= known)
        return AskedParts(parts, keys, self.all_keys)

    def without(self, others: AskedParts) -> AskedParts:
        """The parts that the others lack."""
        parts = tuple(part for part in self.parts if part not in others.parts)
        return AskedParts(parts, tuple(key for key in self.keys if key not in others.keys), self.all_keys)

    def and_those_not_in(self, covered: Sequence[AskedParts], everything: AskedParts) -> AskedParts:
        """These parts, and those that none of the others has."""
        parts = {part for asked in covered for part in asked.parts}
        keys = {key for asked in covered for key in asked.keys}
        return AskedParts(
            (*self.parts, *(part for part in everything.parts if part not in parts)),
            (*self.keys, *(key for key in everything.keys if key not in keys)),
            self.all_keys,
        )

    def keys_of(self, group: FetchedGroup | None) -> tuple[Scalar, ...]:
        """The keys of a group that are used here, None in place of the others."""
        if group is None or not self.keys:
            return (None,) * self.all_keys
        if len(self.keys) == self.all_keys:
            return group.keys
        return tuple(value if i in self.keys else None for i, value in enumerate(group.keys))


def _tells_apart(key: GroupKey) -> bool:
    """Constants, and the keys that a grouping set leaves out, distinguish no records."""
    return not isinstance(key.by, Constant | LeftOut)
