"""The source of a publication and the tables that the policy joins to it: where each column comes from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import JoinedTable, Source
from querygate.core.types import folded
from querygate.custody.policy import ColumnPolicy, EventsPolicy, JoinPolicy, Policy
from querygate.custody.policy.derived_ages import worked_out_ages

Beside = Callable[[str], Source]
"""Opens a table that a policy names."""


def tell_no_others(specification: str) -> Source:
    """Stands in where no other tables can be opened."""
    raise ConfigError(
        "QG801", "The policy names other tables, but only the source was given.", "Publish from the policy's folder."
    )


def open_joined(policy: Policy, open_beside: Beside, source: Source) -> tuple[JoinedTable, ...]:
    """Opens the tables to be joined, and those of events, and checks that they have the needed columns. Event tables
    whose columns are all withheld are not opened.
    """
    kinds = wanted_columns(policy)
    joined = [_open(join, open_beside, kinds) for join in policy.joins]
    summed = [_open_events(events, open_beside, source, kinds) for events in policy.events]
    return (*joined, *(table for table in summed if table.derived or table.of_source))


def _open(join: JoinPolicy, open_beside: Beside, kinds: Mapping[str, str]) -> JoinedTable:
    source = open_beside(join.source)
    there = source.columns()
    for key, names in (("on", [theirs for theirs, _ in join.on]), ("columns", join.columns)):
        _check(f"join.{join.name}.{key}: the table has no column", names, there)
    columns = {name: kind for name, kind in kinds.items() if name in join.columns}
    return JoinedTable(join.name, source, join.on, columns, inner=join.kind == "inner")


def _open_events(events: EventsPolicy, open_beside: Beside, source: Source, kinds: Mapping[str, str]) -> JoinedTable:
    """The events without withheld columns."""
    opened = open_beside(events.source) if events.source else source
    there = opened.columns()
    _check(f"events.{events.name}.on: the table has no column", [theirs for theirs, _ in events.on], there)
    _check(f"events.{events.name}.time: the table has no column", [events.time] if events.time else [], there)
    derived = tuple(column for column in events.derived if column.name in kinds)
    for column in derived:
        _check(f"derive.{column.name}: the table of events has no column", column.read, there)
    columns = {column.name: kinds[column.name] for column in derived}
    return JoinedTable(
        events.name, opened, events.on, columns, derived=derived, time=events.time, of_source=not events.source
    )


def check_columns(policy: Policy, source: Source, joins: Sequence[JoinedTable]) -> None:
    """Every column that the policy names must be in one of the tables, with the same spelling; others are not read."""
    there = source.columns()
    for join in joins:
        _check(f"{join.label}.on: the source has no column", [ours for _, ours in join.on], there)
        for column in join.derived:
            around = [column.around] if column.around else []
            _check(f"derive.{column.name}.around: the source has no column", around, there)
    brought = policy.brought
    for name, table in brought.items():
        if folded(name) in map(folded, there):
            raise ConfigError(
                "QG801",
                f"{table}: the source also has a column {name}.",
                "Rename one of them, for example in a view, so that the policy can distinguish them.",
            )
    _check_one_each(policy, joins)
    _check_ages(policy, there)
    named = [column.name for column in policy.columns if column.of_codes is None and column.age is None]
    _check("The policy names columns that the source does not have:", named, [*there, *brought])


def _check_one_each(policy: Policy, joins: Sequence[JoinedTable]) -> None:
    """If the source itself holds events, a record is a person, so only the key may be taken from its own columns."""
    of_source = next((join for join in joins if join.of_source), None)
    if of_source is None:
        return
    if len(of_source.on) > 1 or of_source.on[0][0] != of_source.on[0][1]:
        raise ConfigError(
            "QG801",
            f"{of_source.label}.on: the source itself holds the events, so both columns are the same one.",
            'Name the column that says whose event it is twice, as in on = { patient = "patient" }.',
        )
    key = of_source.on[0][1]
    own = [name for name in wanted_columns(policy, exclude=policy.brought) if name != key]
    if own or any(column.around for join in joins for column in join.derived):
        raise ConfigError(
            "QG801",
            f"{of_source.label}: the source has several rows per {key}, so its columns have no one value: "
            f"{', '.join(own) or 'around'}.",
            'Take one value of them with [derive.NAME], for example with take = "last".',
        )


def _check_ages(policy: Policy, there: Sequence[str]) -> None:
    """The dates that ages are derived from are in the source itself; rows that were read before have the age
    instead."""
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
    """The columns that go into the vault, with their types; withheld ones do not, unless they hold people's wishes or
    the visits of codes."""
    wanted = [
        column
        for column in policy.columns
        if (column.role != "withheld" or column.name in policy.wishes | policy.visits)
        and column.of_codes is None
        and column.name not in exclude
    ]
    return {c.name: "visits" if c.name in policy.visits else _kept_as(c) for c in wanted}


def _kept_as(column: ColumnPolicy) -> str:
    """Texts, and identifiers without a type, are kept as written."""
    return "category" if column.type is None or column.is_in_extracts or str(column.type) == "text" else column.type


def _check(what: str, names: Collection[str], there: Sequence[str]) -> None:
    absent = [name for name in names if name not in there]
    if absent:
        raise ConfigError("QG801", f"{what} {', '.join(absent)}.", f"Accepted: {', '.join(there)}.")
