"""Groups of codes that views publish, made again from the policy and the raw lists.

The codes of a group, and whose flag is true, are worked out here from the tree of the code system and sets of texts.
For groups that are published separately, anybody must be able to have any combination of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from querygate.core.publications.vault_ports import VerifierTables
from querygate.core.types import Bools, Catalog, Column, Ints
from querygate.custody.code_lists.public_codes import CodeSystem, open_system
from querygate.custody.code_lists.record_code_lists import read_texts
from querygate.custody.policy import CodesPolicy, ColumnPolicy, Policy
from querygate.custody.verify.verifier_types import require
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
    """Check that every flag is true of those who have a code of its group, and that no group reveals another."""
    units: dict[str, Sequence[str]] = {column.name: (column.name,) for column in policy.columns}
    units |= {name: margin.sensitive for margin in catalog.margins for name in margin.sensitive}
    for column in policy.named("codes"):
        if _flags(policy, column):
            system = open_system(column)
            groups = _groups(policy, column, system)
            lists = _Lists.of(column, system, staging)
            flags = {name: lists.have(codes, catalog.rows) for name, codes in groups.items()}
            for name, own in flags.items():
                raw = staging.raw_column(name)
                told = np.array([text == "true" for text in raw.texts] or [False])[raw.values]
                right = not raw.missing.any() and np.array_equal(told, own)
                require(right, f"{name} is true of those who have one of its codes")
            for one, other in combinations(groups, 2):
                apart = units[one] != units[other] and not groups[one].isdisjoint(groups[other])
                require(not apart, f"{one} and {other} have no code in common, or are linked")
            complete = frozenset[str]().union(*groups.values()) == frozenset(system.codes)
            _check_apart(column.name, units, lists.lengths(catalog.rows), flags, complete=complete)


def _check_apart(
    name: str, units: Mapping[str, Sequence[str]], lengths: Ints, flags: Mapping[str, Bools], *, complete: bool
) -> None:
    """Could anybody have any combination of separate groups, with a list no longer than some, and not empty if none is?
    `complete` says that every code is in a group.
    """
    true: dict[Sequence[str], Ints] = {}
    for flag, own in flags.items():
        true[units[flag]] = true.get(units[flag], np.zeros_like(lengths)) + own
    if len(true) > 1:
        most = sum(int(number.max()) for number in true.values())
        require(most <= int(lengths.max()), f"some list of {name} has as many codes as groups are told apart")
        require(not complete or not lengths.all(), f"a code of {name} is in no group, or some list is empty")


@dataclass(frozen=True)
class _Lists:
    """The codes of each record, each pair once."""

    record: Ints
    code: tuple[str, ...]

    @classmethod
    def of(cls, column: ColumnPolicy, system: CodeSystem, staging: VerifierTables) -> _Lists:
        raw = staging.code_texts(column.name, (column.codes or CodesPolicy()).separator)
        places = read_texts(column, system, raw, "lists")[0]
        pairs = sorted(set(zip(raw.record.tolist(), places[raw.text].tolist(), strict=True)))
        return cls(np.array([record for record, _ in pairs], dtype=np.int64), tuple(system.codes[p] for _, p in pairs))

    def have(self, codes: frozenset[str], rows: int) -> Bools:
        """Whether each record has one of the codes."""
        found: Bools = np.zeros(rows, dtype=np.bool_)
        found[self.record[np.array([code in codes for code in self.code], dtype=np.bool_)]] = True
        return found

    def lengths(self, rows: int) -> Ints:
        return np.bincount(self.record, minlength=rows)


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
    """The codes that a name of the system stands for; any other text is a single code, perhaps spelt differently."""
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
