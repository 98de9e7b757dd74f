"""The first steps of every publication and extract: read raw rows into the vault, and give every value its code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import JoinedTable, Profile, Source
from querygate.core.types import Ints
from querygate.custody.code_lists.code_items import PublishedCodes, publish_codes
from querygate.custody.columns.hierarchies import make_tree
from querygate.custody.columns.person_rows import check_supported, count_persons
from querygate.custody.columns.source_columns import wanted_columns
from querygate.custody.columns.value_codes import NumberCodes, bin_codes, check_values, exact_codes, grid_codes
from querygate.custody.columns.value_groups import group_codes
from querygate.custody.policy import ColumnPolicy
from querygate.custody.policy.source_rules import reading_of
from querygate.custody.publish.sensitive_numbers import PER_CLASS, own_intervals
from querygate.custody.publish.step_state import PublicationState, Step
from querygate.methods.anonymise import Hierarchy


def load(state: PublicationState, source: Source, joins: Sequence[JoinedTable] = ()) -> PublicationState:
    """Raw rows into the vault, typed by the policy; identifiers as text; withheld columns stay where they are."""
    policy = state.policy
    state.progress.begin(Step.LOAD, _reading(joins))
    wanted = wanted_columns(policy, exclude=policy.brought)
    rows = state.staging.load(source, wanted, joins, reading_of(policy))
    persons = count_persons(policy, rows, state.staging.count_values) if policy.person else rows
    if persons < policy.k:
        found = f"{rows:,} rows" if persons == rows else f"{rows:,} rows of {persons:,} people"
        raise ConfigError(
            "QG803",
            f"The source has {found}, fewer than k = {policy.k}.",
            "Publish more records, or lower k in the policy.",
        )
    check_supported(policy, persons, rows)
    return replace(state, rows=rows, persons=persons)


def _reading(tables: Sequence[JoinedTable]) -> str:
    steps = ["reading the source", *(f"joining {table.name}" for table in tables if not table.derived)]
    summed = [table.name for table in tables if table.derived]
    return " and ".join([*steps, f"summing up {', '.join(summed)}"] if summed else steps)


def code(state: PublicationState) -> PublicationState:
    """Give every published value its code, except in lists of codes that are protected once there are classes."""
    state.progress.begin(Step.CODE, "coding")
    profiles: dict[str, Profile] = {}
    numbers: dict[str, NumberCodes] = {}
    texts: dict[str, tuple[str, ...]] = {}
    trees: dict[str, Hierarchy] = {}
    code_lists: dict[str, PublishedCodes] = {}
    for column in state.policy.published:
        name = column.name
        if column.codes is not None:
            if not column.is_protected_in_classes:
                code_lists[name] = publish_codes(column, state.staging, state.rows, state.policy.k)
            continue
        profile = profiles[name] = state.staging.profile(name)
        check_values(column, profile)
        if column.is_numeric:
            numbers[name] = _number_codes(state, column, profile)
            codes = numbers[name].of(profile.values)
        else:
            named = {column.rare} - {""}
            texts[name] = tuple(sorted({*column.values, *named, *map(str, profile.values)}))
            if column.hierarchy is not None:
                trees[name] = make_tree(column, profile)
                texts[name] = tuple(sorted(trees[name].leaves))
            codes = _text_codes(column, profile, texts[name])
        state.staging.set_codes(name, profile.values, codes)
    return replace(state, profiles=profiles, numbers=numbers, texts=texts, trees=trees, code_lists=code_lists)


def _text_codes(column: ColumnPolicy, profile: Profile, texts: Sequence[str]) -> Ints:
    if column.groups:
        return group_codes(column, profile.values)
    return np.searchsorted(np.array(texts, dtype=object), profile.values).astype(np.int64)


def _number_codes(state: PublicationState, column: ColumnPolicy, profile: Profile) -> NumberCodes:
    policy = state.policy
    if column.role == "public" or (column.role == "quasi-identifier" and policy.anonymise.edges == "tight"):
        return exact_codes(column, profile)
    if column.role == "quasi-identifier" or column.carry in PER_CLASS:
        return grid_codes(column)
    if column.carry == "univariate":
        return own_intervals(column, profile, policy.k)
    bins = bin_codes(column)
    people = state.staging.people_by_value(column.name, policy.person)[1] if state.repeated else profile.counts
    return bins.merged(bins.joined(np.bincount(bins.of(profile.values), people, bins.size), policy.k))
