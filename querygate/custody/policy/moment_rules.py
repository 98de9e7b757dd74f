"""Rules for publishing more about sensitive numbers than their intervals: they need a guard, enough members, a k.

Sharper numbers also help colluding members. The rules here depend on the policy alone; what depends on the data (the
range left for each member) is tested at publication.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from querygate.custody.policy.column_policy import ColumnPolicy
from querygate.custody.policy.toml_reader import TomlTable

LEAST_K_EXACT = 10
"""Exact sums need classes of at least this many: pooling all values of a class but one reveals the last."""


def check_carry(table: TomlTable, column: ColumnPolicy) -> None:
    """Check that intervals that follow the data have a guard: without one they end at values."""
    if column.carry in ("univariate", "joint") and column.guard == 0:
        table.fail("guard", f"0 is off, and carry {column.carry} needs a guard", "a number above 0")


def check_moments(anonymise: TomlTable, wanted: str | None, k: int, columns: Iterable[ColumnPolicy]) -> None:
    """Check moments of classes: a step of e / k needs a guard e, and exact sums need classes that are not small."""
    if wanted not in ("rounded", "exact"):
        return
    bare = [c.name for c in columns if has_moments(c) and not c.guard]
    if bare:
        what = f"{wanted} needs a guard, but {', '.join(bare)} has none"
        anonymise.fail("class_moments", what, "none, or a guard above 0 for every sensitive number")
    if wanted == "exact" and k < LEAST_K_EXACT:
        anonymise.fail(
            "class_moments", f"exact needs a k of at least {LEAST_K_EXACT}", f"none, rounded, or k >= {LEAST_K_EXACT}"
        )


def has_moments(column: ColumnPolicy) -> bool:
    """Whether class sums of a column are meaningful: for numbers, but not days."""
    return column.role == "sensitive" and column.type in ("integer", "number")


def moments_warnings(wanted: str) -> Iterator[str]:
    if wanted == "exact":
        yield (
            "anonymise.class_moments: exact: if all members of a class but one pool their values, they know the last "
            "value exactly"
        )
