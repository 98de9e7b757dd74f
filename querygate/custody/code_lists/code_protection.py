"""From codes to items, by the method of the policy: once for all records, or differently for each part of them."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import ListedCodes
from querygate.core.types import Floats, Ints
from querygate.custody.code_lists.record_code_lists import (
    CodeLists,
    known_sets,
    listed_groups,
    listed_rules,
    sensitive_codes,
    utility_groups,
)
from querygate.custody.policy import CodesPolicy
from querygate.methods.code_lists import CodeUtility, Items, LocalItems, SensitiveRule, halved
from querygate.methods.code_lists.code_methods import METHODS
from querygate.methods.code_lists.code_policies import CodePrivacy
from querygate.methods.code_lists.relational import CodesInClasses
from querygate.methods.code_lists.unprotectable import Unprotectable


def protect(lists: CodeLists, k: int, staging: ListedCodes) -> Items | LocalItems:
    """The items of the codes that occur, such that what the policy says may be known leads to nobody."""
    return cast("Items | LocalItems", _run(lists, *_given(lists, k, staging)))


def protect_in_classes(lists: CodeLists, k: int, classes: Ints, centres: Floats) -> CodesInClasses:
    """Separate items for each class; classes that cannot be protected by themselves join the nearest."""
    m = (lists.column.codes or CodesPolicy()).protect.m
    return cast(CodesInClasses, _run(lists, classes, halved(lists.levels), k, m, centres))


def _given(lists: CodeLists, k: int, staging: ListedCodes) -> tuple[object, ...]:
    """The method's other arguments. Sets with a code that nobody has are left out, since nobody has them."""
    column, system = lists.column, lists.system
    wanted = column.codes or CodesPolicy()
    asked = wanted.protect
    match asked.kind:
        case "complete":
            return halved(lists.levels), k
        case "coherence":
            return lists.present(sensitive_codes(column, system)), k, asked.m, asked.share
        case "uncertainty":
            given = lists.present(sensitive_codes(column, system)), asked.share, asked.m
            return (*given, lists.levels) if wanted.method == "tdcontrol" else given
        case "rules":
            rules, secret = _rules(lists)
            return rules, k, asked.share, lists.levels, secret
        case "patterns":
            return _patterns(lists), k, asked.m, asked.share, asked.support or 1
    if wanted.method in ("apriori", "vpa", "local-suppression"):
        return lists.levels, k, asked.m
    if wanted.method == "lra":
        return halved(lists.levels), k, asked.m
    known = (lists.among(itemset) for itemset in known_sets(column, system, staging))
    sets = tuple(one for one in known if one is not None)
    return k, CodePrivacy(sets, upto=asked.m, residue=asked.look_for == "rest"), _utility(lists)


def _utility(lists: CodeLists) -> CodeUtility:
    """The groups of codes that occur; listed ones are spared where the policy says so."""
    groups = CodeUtility.by_level(utility_groups(lists.column, lists.system)[lists.occurring].tolist())
    if (lists.column.codes or CodesPolicy()).utility.spare == "none":
        return groups
    listed = listed_groups(lists.column, lists.system)[lists.occurring] >= 0
    return replace(groups, spared=frozenset(np.flatnonzero(listed).tolist()))


def _rules(lists: CodeLists) -> tuple[list[SensitiveRule], list[int]]:
    """Rules whose left side somebody may know, and all codes that are secret in any of them. If nobody has the secret
    codes, it suffices that the rest leads to k records.
    """
    rules = listed_rules(lists.column, lists.system)
    sides = [(lists.among(known), lists.among(secret) or ()) for known, secret in rules]
    secret = np.array(sorted({code for _, codes in rules for code in codes}), dtype=np.int64)
    return [SensitiveRule(known, secret) for known, secret in sides if known is not None], lists.present(
        secret
    ).tolist()


def _patterns(lists: CodeLists) -> list[SensitiveRule]:
    """Rules that some record could tell: those of which all codes occur."""
    sides = [(lists.among(known), lists.among(secret)) for known, secret in listed_rules(lists.column, lists.system)]
    return [SensitiveRule(known, secret) for known, secret in sides if known is not None and secret is not None]


def _run(lists: CodeLists, *given: object) -> Items | LocalItems | CodesInClasses:
    method = METHODS.get((lists.column.codes or CodesPolicy()).method)
    try:
        made: Items | LocalItems | CodesInClasses = method.run(lists.baskets, *given)
    except Unprotectable as problem:
        raise ConfigError("QG803", f"Column {lists.column.name}: {problem.reason}", problem.remedy) from None
    return made
