"""Groups of codes in views: a flag for each group, true for records whose list has one of its codes.

Views prove that nobody's value in a column is certain with tables in which people have other values in that column
alone. So the values of one column must not determine those of another: groups without common codes can occur in any
combination, others have to be linked. Nor may lists be so short that somebody with one group cannot have another too,
or so complete that somebody in no other group must be in this one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import ListedCodes, LoadedRows
from querygate.core.types import Bools, Ints
from querygate.custody.code_lists.public_codes import CodeSystem, open_system
from querygate.custody.code_lists.record_code_lists import CodeLists, read_lists
from querygate.custody.policy import ColumnPolicy, Policy


class FlaggedRows(ListedCodes, LoadedRows, Protocol):
    """Rows with lists, which get a flag for each group."""


@dataclass(frozen=True)
class GroupedList:
    """A list of codes with its groups: the positions of each group's codes, by the name of its flag."""

    column: ColumnPolicy
    system: CodeSystem
    groups: Mapping[str, frozenset[int]]
    units: tuple[tuple[str, ...], ...]
    """The units of flags that stay together in views."""

    def texts(self, group: str) -> tuple[str, ...]:
        return tuple(self.system.codes[place] for place in sorted(self.groups[group]))

    @property
    def covers_all(self) -> bool:
        return len(frozenset[int]().union(*self.groups.values())) == len(self.system.codes)


def grouped_lists(policy: Policy) -> tuple[GroupedList, ...]:
    """The lists of the policy that have groups. ConfigError QG801 if a name is not a code of the system."""
    found = []
    for column in policy.named("codes"):
        flags = [flag for flag in policy.columns if flag.of_codes is not None and flag.of_codes.column == column.name]
        if flags:
            system = open_system(column)
            groups = {flag.name: frozenset(_places(column, system, flag)) for flag in flags}
            found.append(GroupedList(column, system, groups, _units(policy, [flag.name for flag in flags])))
    return tuple(found)


def _places(column: ColumnPolicy, system: CodeSystem, flag: ColumnPolicy) -> Iterator[int]:
    for name in flag.of_codes.codes if flag.of_codes is not None else ():
        places = system.under(name) or tuple(system.read([name]).codes.tolist())
        if -1 in places:
            raise ConfigError(
                "QG801",
                f"views.codes.{column.name}.{flag.name}: {name} is neither a code nor a group of its code system.",
                "Write codes as in the code system; of codes, dots and case do not matter.",
            )
        yield from places


def _units(policy: Policy, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    linked = {name: group for group in (policy.views.linked if policy.views else ()) for name in group}
    units: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        units.setdefault(linked.get(name, (name,)), []).append(name)
    return tuple(map(tuple, units.values()))


def check_groups(policy: Policy) -> None:
    """Check that groups with codes in common are linked. ConfigError QG801."""
    for told in grouped_lists(policy) if policy.views is not None else ():
        unit_of = {name: unit for unit in told.units for name in unit}
        for one, other in combinations(told.groups, 2):
            if unit_of[one] != unit_of[other] and told.groups[one] & told.groups[other]:
                raise ConfigError(
                    "QG801",
                    f"views.codes.{told.column.name}: {one} and {other} have codes in common, so each reveals "
                    "something about the other.",
                    "Take these codes out of one of them, or link both: views.linked = "
                    f"{json.dumps([[one, other]], ensure_ascii=False)}.",
                )


def flag_codes(policy: Policy, rows: FlaggedRows, number: int) -> None:
    """Give the rows a flag for each group. ConfigError QG803 if lists are too short or too complete for separate
    groups.
    """
    for told in grouped_lists(policy):
        lists = read_lists(told.column, rows, number)
        flags = {name: _flags(lists, places, number) for name, places in told.groups.items()}
        if policy.views is not None:
            _check_apart(told, np.diff(lists.baskets.starts), flags)
        for name, own in flags.items():
            rows.add_flag(name, own)


def _flags(lists: CodeLists, places: frozenset[int], number: int) -> Bools:
    record = np.repeat(np.arange(number), np.diff(lists.baskets.starts))
    flags: Bools = np.zeros(number, dtype=np.bool_)
    if lists.occurring.size:
        flags[record[np.isin(lists.occurring, sorted(places))[lists.baskets.members]]] = True
    return flags


def _check_apart(told: GroupedList, lengths: Ints, flags: Mapping[str, Bools]) -> None:
    if len(told.units) < 2:
        return
    longest = int(lengths.max())
    needed = sum(int(np.sum([flags[name] for name in unit], axis=0).max()) for unit in told.units)
    link = f"views.linked = {json.dumps([list(told.groups)], ensure_ascii=False)}"
    if needed > longest:
        raise ConfigError(
            "QG803",
            f"Column {told.column.name}: no list has more than {counted(longest, 'code')}, and {len(told.units):,} "
            "groups of them are separate: anybody who has some of them can have no other.",
            f"Link them: {link}. Or name fewer groups; a list of one code is a category.",
        )
    if told.covers_all and lengths.min() > 0:
        raise ConfigError(
            "QG803",
            f"Column {told.column.name}: every list has a code, and every code is in a group: anybody in no other "
            "group is in the last one.",
            f"Leave some codes out of all groups, or link them: {link}.",
        )
