"""The source of a publication with the tables that the policy joins to it: which column comes from where."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from querygate.core.errors import ConfigError
from querygate.core.types import folded
from querygate.core.vault_ports import JoinedTable, Source
from querygate.custody.policy import ColumnPolicy, JoinPolicy, Policy
from querygate.custody.policy.derived_ages import worked_out_ages

Beside = Callable[[str], Source]
"""Opens a table that a policy names."""


def tell_no_others(specification: str) -> Source:
    """What opens other tables where there are none."""
    raise ConfigError(
        "QG801", "The policy names other tables, but only the source was given.", "Publish from the policy's folder."
    )


def open_joined(policy: Policy, open_beside: Beside) -> tuple[JoinedTable, ...]:
    """The tables to be joined, open; the columns they are joined on and bring must be there."""
    return tuple(_open(policy, join, open_beside) for join in policy.joins)


def _open(policy: Policy, join: JoinPolicy, open_beside: Beside) -> JoinedTable:
    source = open_beside(join.source)
    there = source.columns()
    for key, names in (("on", [theirs for theirs, _ in join.on]), ("columns", join.columns)):
        _check(f"join.{join.name}.{key}: the table has no column", names, there)
    columns = {name: kind for name, kind in wanted_columns(policy).items() if name in join.columns}
    return JoinedTable(join.name, source, join.on, columns, inner=join.kind == "inner")


def check_columns(policy: Policy, source: Source, joins: Sequence[JoinedTable]) -> None:
    """Every column the policy names must be in one of the tables, as spelled; what it does not name is left there."""
    there = source.columns()
    for join in joins:
        _check(f"join.{join.name}.on: the source has no column", [ours for _, ours in join.on], there)
    brought = [(join.name, name) for join in policy.joins for name in join.columns]
    for join_name, name in brought:
        if folded(name) in map(folded, there):
            raise ConfigError(
                "QG801",
                f"join.{join_name}.columns: the source also has a column {name}.",
                "Rename one of them, for example in a view, so that the policy can distinguish them.",
            )
    _check_ages(policy, there)
    named = [column.name for column in policy.columns if column.of_codes is None and column.age is None]
    _check("The policy names columns that the source does not have:", named, [*there, *(name for _, name in brought)])


def _check_ages(policy: Policy, there: Sequence[str]) -> None:
    """What ages are worked out from is in the source itself; rows that were read before have the age in its place."""
    for age in worked_out_ages(policy):
        taken = folded(age.name) in map(folded, there)
        if taken and age.born in there:
            raise ConfigError(
                "QG801",
                f"columns.{age.name}: the source has a column of this name already.",
                "Give the age that is worked out another name, or remove `from` and `at`.",
            )
        for key, name in (("from", age.born), ("at", age.at)) if not taken else ():
            _check(f"columns.{age.name}.{key}: the source has no column", [name] if name else [], there)


def wanted_columns(policy: Policy, exclude: Collection[str] = ()) -> dict[str, str]:
    """The columns that go into the vault, with their types; withheld ones do not, unless they say what people guard
    or which codes were given together."""
    wanted = [
        column
        for column in policy.columns
        if (column.role != "withheld" or column.name in policy.wishes | policy.visits)
        and column.of_codes is None
        and column.name not in exclude
    ]
    return {c.name: "visits" if c.name in policy.visits else _kept_as(c) for c in wanted}


def _kept_as(column: ColumnPolicy) -> str:
    """Texts, and identifiers of which no type is told, are kept as they are written."""
    return "category" if column.type is None or column.is_in_extracts or str(column.type) == "text" else column.type


def _check(what: str, names: Collection[str], there: Sequence[str]) -> None:
    absent = [name for name in names if name not in there]
    if absent:
        raise ConfigError("QG801", f"{what} {', '.join(absent)}.", f"Accepted: {', '.join(there)}.")
