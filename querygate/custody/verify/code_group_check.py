"""Groups of codes that views tell of, made again from the policy and the raw lists.

Which codes a group has, and of whom its flag is true, is worked out here by the tree of the code system and sets of
texts. Groups that are told apart must be such that anybody could have any combination of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from querygate.core.types import Catalog, Column
from querygate.core.vault_ports import VerifierTables
from querygate.custody.codes.code_reader import read_texts
from querygate.custody.codes.public_codes import CodeSystem, open_system
from querygate.custody.policy import CodesPolicy, ColumnPolicy, Policy
from querygate.custody.verify.promises import require
from querygate.methods.code_lists.code_tree import ROOT

Groups = Mapping[str, frozenset[str]]
"""The codes of each group, by the name of its flag."""


def listed_columns(policy: Policy, first: int) -> Iterator[Column]:
    """What the catalog has to say of lists of codes with groups, behind so many other columns."""
    lists = [column for column in policy.named("codes") if _flags(policy, column)] if policy.views is not None else []
    for index, column in enumerate(lists, first):
        system = open_system(column)
        groups = tuple((name, tuple(sorted(codes))) for name, codes in _groups(policy, column, system).items())
        title, parents = column.title, system.parents
        yield Column(
            column.name,
            index,
            "codes",
            "codes",
            False,
            values=system.codes,
            title=title,
            parents=parents,
            groups=groups,
        )


def check_code_groups(catalog: Catalog, policy: Policy, staging: VerifierTables) -> None:
    """Every flag is true of those who have a code of its group, and no group tells of another one."""
    units = {name: margin.sensitive for margin in catalog.margins for name in margin.sensitive}
    for column in policy.named("codes"):
        if _flags(policy, column):
            system = open_system(column)
            groups = _groups(policy, column, system)
            held = _lists(column, system, staging, catalog.rows)
            flags = {name: [not codes.isdisjoint(own) for own in held] for name, codes in groups.items()}
            for name, own in flags.items():
                raw = staging.raw_column(name)
                told = np.array([text == "true" for text in raw.texts] or [False])[raw.values]
                right = not raw.missing.any() and told.tolist() == own
                require(right, f"{name} is true of those who have one of its codes")
            _check_apart(column, groups, units, system, held, flags)


def _check_apart(
    column: ColumnPolicy,
    groups: Groups,
    units: Mapping[str, Sequence[str]],
    system: CodeSystem,
    held: Sequence[set[str]],
    flags: Mapping[str, Sequence[bool]],
) -> None:
    """Could anybody have any combination of what is told apart?"""
    for one, other in combinations(groups, 2):
        apart = units[one] != units[other]
        require(
            not apart or not groups[one] & groups[other], f"{one} and {other} have no code in common, or are linked"
        )
    members: dict[Sequence[str], list[str]] = defaultdict(list)
    for name in groups:
        members[units[name]].append(name)
    if len(members) < 2:
        return
    most = sum(max(map(sum, zip(*(flags[name] for name in names), strict=True))) for names in members.values())
    require(most <= max(map(len, held)), f"some list of {column.name} has as many codes as groups are told apart")
    complete = frozenset[str]().union(*groups.values()) == frozenset(system.codes)
    require(not complete or not all(held), f"a code of {column.name} is in no group, or some list is empty")


def _flags(policy: Policy, column: ColumnPolicy) -> list[ColumnPolicy]:
    return [flag for flag in policy.columns if flag.of_codes is not None and flag.of_codes.column == column.name]


def _groups(policy: Policy, column: ColumnPolicy, system: CodeSystem) -> Groups:
    below: dict[str, list[str]] = defaultdict(list)
    for child, parent in system.parents:
        below[parent].append(child)
    found: dict[str, frozenset[str]] = {}
    for flag in _flags(policy, column):
        codes: set[str] = set()
        for name in flag.of_codes.codes if flag.of_codes is not None else ():
            codes |= set(system.codes) if name == ROOT else _under(name, below, system)
        found[flag.name] = frozenset(codes)
    return found


def _under(name: str, below: Mapping[str, Sequence[str]], system: CodeSystem) -> set[str]:
    """The codes that a name of the system stands for; another text is one code, written in another way."""
    if name not in below and name not in system.tree.place:
        (place,) = system.read([name]).codes.tolist()
        require(place >= 0, f"{name} is a code")
        return {system.codes[place]}
    found, waiting = set(), [name]
    while waiting:
        node = waiting.pop()
        found.add(node)
        waiting += [child for child in below.get(node, ()) if child not in found]
    return found & system.tree.place.keys()


def _lists(column: ColumnPolicy, system: CodeSystem, staging: VerifierTables, rows: int) -> list[set[str]]:
    raw = staging.code_texts(column.name, (column.codes or CodesPolicy()).separator)
    codes = [system.codes[place] for place in read_texts(column, system, raw, "lists")[0].tolist()]
    held: list[set[str]] = [set() for _ in range(rows)]
    for record, text in zip(raw.record.tolist(), raw.text.tolist(), strict=True):
        held[record].add(codes[text])
    return held
