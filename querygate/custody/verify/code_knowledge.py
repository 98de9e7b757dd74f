"""Who could be found by codes, and what codes would reveal, counted only in what was published.

This judges code anonymisers and shares no code with them. An attacker who knows a code looks for records with an item
that has it; a suppressed code is in no item and narrows nothing down. Supports are counted by products of sparse
matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from querygate.core.publications.vault_ports import ListedCodes
from querygate.core.types import Array, Bools, Ints
from querygate.custody.code_lists.public_codes import CodeSystem
from querygate.custody.code_lists.record_code_lists import known_sets, listed_rules, sensitive_codes
from querygate.custody.policy import CodesPolicy, ColumnPolicy, ProtectPolicy
from querygate.custody.verify.diversity_check import GuaranteeCheck

ROUNDING = 1e-9


@dataclass(frozen=True)
class PublishedCodeSets:
    """The codes of each item, the items of each set; and rows of records: class, number of the set, how many."""

    items: Mapping[int, frozenset[str]]
    sets: Mapping[int, frozenset[int]]
    classes: Ints
    numbers: Ints
    counts: Ints

    def held(self) -> list[frozenset[int]]:
        """The items of each row."""
        return [self.sets[number] for number in self.numbers.tolist()]


def found_measure(name: str, asked: ProtectPolicy) -> str:
    """The name of the measure for the fewest records that codes lead to."""
    return f"fewest records with {'known' if asked.look_for == 'rest' else 'whole known sets of'} codes of {name}"


def told_measure(name: str, asked: ProtectPolicy) -> str:
    """The name of the measure for how surely codes reveal a sensitive one, or records a pattern."""
    return f"surest {'hidden pattern' if asked.kind == 'patterns' else 'sensitive code'} of {name}"


def open_measure(name: str) -> str:
    """The name of the measure for what the search for whole sets does not cover."""
    return f"share of known sets of {name} of which what is left leads to fewer than k records"


def measure_known(
    column: ColumnPolicy, system: CodeSystem, told: PublishedCodeSets, staging: ListedCodes, k: int
) -> list[GuaranteeCheck]:
    """What the policy promises about knowing codes, measured."""
    asked, name = (column.codes or CodesPolicy()).protect, column.name
    fewest, surest = _found(column, system, told, staging)
    k, kept = asked.k or k, []
    if asked.kind != "uncertainty":
        who = "knows codes" if asked.look_for == "rest" else "looks for whole known sets of codes"
        kept.append(
            GuaranteeCheck(f"k = {k} for anyone who {who} of {name}", found_measure(name, asked), fewest, fewest >= k)
        )
    if asked.look_for == "whole":
        share = _open(known_sets(column, system, staging), system, told, k)
        kept.append(
            GuaranteeCheck(
                "no k for anyone who looks for the remaining part of such sets", open_measure(name), share, True
            )
        )
    if asked.share:
        holds = surest <= asked.share + ROUNDING
        kept.append(GuaranteeCheck(_untold(name, asked), told_measure(name, asked), surest, holds))
    return kept


def _untold(name: str, asked: ProtectPolicy) -> str:
    """What cannot be inferred, in words."""
    if asked.kind != "patterns":
        return f"no sensitive code of {name} is inferred with a confidence above {asked.share:g}"
    rare = f", or fewer than {asked.support:,} do" if asked.support > 1 else ""
    return (
        f"of the records that tell the known codes of a listed pattern of {name}, at most {100 * asked.share:g} % tell "
        f"its secret codes too{rare}"
    )


def _found(
    column: ColumnPolicy, system: CodeSystem, told: PublishedCodeSets, staging: ListedCodes
) -> tuple[int, float]:
    """The fewest records that something known leads to, and the largest share of them with one sensitive code."""
    asked = (column.codes or CodesPolicy()).protect
    match asked.kind:
        case "k^m":
            return _fewest(told.held(), told.counts, asked.m), 0.0
        case "classes":
            return _fewest_in_classes(told, asked), 0.0
        case "complete":
            return int(np.bincount(told.numbers, told.counts)[np.unique(told.numbers)].min()), 0.0
        case "rules":
            return _by_rules(listed_rules(column, system), system, told)
        case "patterns":
            fewest = _fewest(told.held(), told.counts, asked.m)
            return fewest, _surest_told(listed_rules(column, system), system, told, asked.support)
        case "coherence" | "uncertainty":
            return _by_sets(sensitive_codes(column, system), system, told, asked)
    listed = [(codes, ()) for codes in known_sets(column, system, staging)]
    return _by_rules(listed, system, told, whole=asked.look_for == "whole")


# -- sets that are listed ------------------------------------------------------------------------------------------


def _by_rules(
    rules: Sequence[tuple[Sequence[int], Sequence[int]]],
    system: CodeSystem,
    told: PublishedCodeSets,
    *,
    whole: bool = False,
) -> tuple[int, float]:
    """The known codes of each rule, except those that lead to nobody: the published part of them, or only whole
    sets."""
    finder = _Finder(system, told)
    fewest, surest = int(told.counts.sum()), 0.0
    for known, secret in {(frozenset(known), frozenset(secret)) for known, secret in rules}:
        if whole and not finder.tells(known):
            continue
        having = finder.having(known)
        number = int(told.counts[having].sum())
        if number:
            fewest = min(fewest, number)
            share = int(told.counts[having & finder.having(secret)].sum()) / number
            surest = max(surest, share) if finder.tells(secret) else surest
    return fewest, surest


def _surest_told(
    rules: Sequence[tuple[Sequence[int], Sequence[int]]], system: CodeSystem, told: PublishedCodeSets, support: int
) -> float:
    """Of the records that tell what is known, those that tell the secret as well: the largest share, among rules that
    enough records tell. A code is told by an item that stands for nothing else."""
    alone = {item: next(iter(codes)) for item, codes in told.items.items() if len(codes) == 1}
    named = [{alone[item] for item in items if item in alone} for items in told.held()]
    surest = 0.0
    for known, secret in rules:
        first, all_of = ({system.codes[code] for code in codes} for codes in (known, (*known, *secret)))
        number = sum(n for codes, n in zip(named, told.counts.tolist(), strict=True) if all_of <= codes)
        if number >= max(1, support):
            having = sum(n for codes, n in zip(named, told.counts.tolist(), strict=True) if first <= codes)
            surest = max(surest, number / having)
    return surest


def _open(sets: Sequence[Sequence[int]], system: CodeSystem, told: PublishedCodeSets, k: int) -> float:
    """The share of sets of which a code is suppressed, and the rest leads to some records but fewer than k."""
    finder, found = _Finder(system, told), {frozenset(codes) for codes in sets}
    numbers = [int(told.counts[finder.having(one)].sum()) for one in found if not finder.tells(one)]
    return sum(0 < number < k for number in numbers) / max(1, len(found))


class _Finder:
    """Looks records up by codes."""

    def __init__(self, system: CodeSystem, told: PublishedCodeSets) -> None:
        self._codes, self._rows = system.codes, len(told.numbers)
        self._items: dict[str, list[int]] = {}
        for item, codes in told.items.items():
            for code in codes:
                self._items.setdefault(code, []).append(item)
        self._rows_of: dict[int, list[int]] = {}
        for row, items in enumerate(told.held()):
            for item in items:
                self._rows_of.setdefault(item, []).append(row)

    def having(self, known: frozenset[int]) -> Bools:
        """The rows that may have all of these codes, except codes that are published nowhere."""
        found = np.ones(self._rows, dtype=np.bool_)
        for code in known:
            items = self._items.get(self._codes[code])
            if items is not None:
                one = np.zeros(self._rows, dtype=np.bool_)
                one[[row for item in items for row in self._rows_of.get(item, ())]] = True
                found &= one
        return found

    def tells(self, secret: frozenset[int]) -> bool:
        """Is all of it published? An unpublished code is shown for nobody."""
        return bool(secret) and all(self._codes[code] in self._items for code in secret)


# -- sets by their size --------------------------------------------------------------------------------------------


def _fewest_in_classes(told: PublishedCodeSets, asked: ProtectPolicy) -> int:
    order = np.argsort(told.classes, kind="stable")
    cuts = np.flatnonzero(np.diff(told.classes[order])) + 1
    held, fewest = told.held(), []
    for rows in np.split(order, cuts):
        fewest.append(_fewest([held[row] for row in rows.tolist()], told.counts[rows], asked.m))
    return min(fewest)


def _by_sets(sensitive: Ints, system: CodeSystem, told: PublishedCodeSets, asked: ProtectPolicy) -> tuple[int, float]:
    """All sets of up to m codes: of public ones, or of all if sensitive ones may be known as well."""
    secret_codes = {system.codes[code] for code in sensitive.tolist()}
    is_secret = {item for item, codes in told.items.items() if codes & secret_codes}
    held = told.held()
    items = sorted({item for one in held for item in one})
    secret = [item for item in items if item in is_secret]
    known = items if asked.kind == "uncertainty" else [item for item in items if item not in is_secret]
    walk = _Walk(np.array(known, dtype=np.int64), np.array(secret, dtype=np.int64))
    walk.judge(np.array([told.counts.sum()]), told.counts[None, :] @ _matrix(held, secret), np.zeros((1, 0)))
    walk.step(_matrix(held, known), _matrix(held, secret), told.counts, (), asked.m)
    return walk.fewest, walk.surest


class _Walk:
    """Visits all sets of known items that somebody has, smaller ones first."""

    def __init__(self, known: Ints, secret: Ints) -> None:
        self.known, self.secret = known, secret
        self.fewest, self.surest = np.iinfo(np.int64).max, 0.0

    def step(
        self, held: sparse.csr_matrix, secret: sparse.csr_matrix, weight: Ints, chosen: tuple[int, ...], left: int
    ) -> None:
        """Rows are what the chosen items lead to. Each item behind the last of them is added to them, all at once; and
        then, where more may be known, one by one."""
        first = chosen[-1] + 1 if chosen else 0
        supports = np.asarray(weight @ held).ravel()
        here = np.flatnonzero(supports)
        joint = sparse.csr_matrix(held[:, here].multiply(weight[:, None])).T @ secret
        with_each = np.array([[self.known[i] for i in (*chosen, first + place)] for place in here.tolist()])
        self.judge(supports[here], joint.toarray(), with_each.reshape(here.size, len(chosen) + 1))
        columns = held.tocsc()
        for place in here.tolist() if left > 1 else ():
            rows = columns.indices[columns.indptr[place] : columns.indptr[place + 1]]
            self.step(held[rows][:, place + 1 :], secret[rows], weight[rows], (*chosen, first + place), left - 1)

    def judge(self, supports: Ints, joint: Array, chosen: Array) -> None:
        """Of sets of items, a row each: how many records they lead to, and how many of those have each secret item.
        What is known already is left out."""
        if supports.size:
            told = ~(chosen[:, :, None] == self.secret).any(axis=1)
            self.fewest = min(self.fewest, int(supports.min()))
            self.surest = max(self.surest, float((joint * told / supports[:, None]).max(initial=0.0)))


def _matrix(held: Sequence[frozenset[int]], items: Sequence[int]) -> sparse.csr_matrix:
    """A row for each set, a column for each of the items."""
    place = {item: column for column, item in enumerate(items)}
    pairs = [(row, place[item]) for row, one in enumerate(held) for item in one if item in place]
    row, column = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return sparse.csr_matrix((np.ones(row.size, dtype=np.int64), (row, column)), shape=(len(held), len(items)))


def _fewest(held: Sequence[frozenset[int]], weight: Ints, most: int) -> int:
    """The smallest number of records that have some set of up to so many items, among sets that occur."""
    return _fewest_of(_matrix(held, sorted({item for one in held for item in one})), weight, most)


def _fewest_of(held: sparse.csr_matrix, weight: Ints, most: int) -> int:
    if not held.nnz:
        return int(weight.sum())
    weighted = sparse.csr_matrix(held.multiply(weight[:, None]))
    if most == 2:
        return int((held.T @ weighted).data.min())  # single items stand on the diagonal
    fewest = int(np.asarray(weighted.sum(axis=0)).min())
    if most == 1:
        return fewest
    columns = held.tocsc()
    for item in range(held.shape[1] - 1):
        rows = columns.indices[columns.indptr[item] : columns.indptr[item + 1]]
        beside = columns[rows][:, item + 1 :]
        if beside.nnz:
            fewest = min(fewest, _fewest_of(sparse.csr_matrix(beside), weight[rows], most - 1))
    return fewest
