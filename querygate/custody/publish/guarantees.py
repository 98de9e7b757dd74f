"""From the guarantees of a policy to the guards that a method has to satisfy."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa

from querygate.core.types import Array, Floats, Ints
from querygate.custody.columns.personal_privacy import read_wishes
from querygate.custody.columns.population import Population
from querygate.custody.columns.rule_conditions import rule_columns, rule_conditions
from querygate.custody.columns.value_groups import group_codes
from querygate.custody.policy import ColumnPolicy, DiversityPolicy
from querygate.custody.policy.diversity_rules import domain_width, least_values
from querygate.custody.publish.step_state import PublicationState
from querygate.methods.anonymise import (
    Alpha,
    Closeness,
    Distinct,
    EntropyDiversity,
    Growth,
    Guard,
    KMap,
    Leaves,
    Names,
    Numbers,
    NumericHull,
    PersonalGuard,
    PersonCount,
    PersonRows,
    PlausibleValues,
    Proximity,
    PSensitive,
    RangeDiversity,
    Ranks,
    Recursive,
    Safety,
    Scale,
    Sensitive,
    SpreadGuard,
    TreeCloseness,
    ValueHolders,
)


def make_guards(state: PublicationState, population: Population | None = None) -> list[Guard]:
    """Every guard of the policy, over the combinations of the state."""
    guards: list[Guard] = []
    p_sensitive: dict[int, list[Sensitive]] = defaultdict(list)
    for column in state.policy.named("sensitive"):
        guards += _hull(state, column)
        for wanted in column.diversity:
            if wanted.kind == "p-sensitive":
                p_sensitive[int(wanted.p or 0)].append(_values(state, column))
            else:
                guards.append(_guard(state, column, wanted))
    guards += [PSensitive(columns, p) for p, columns in p_sensitive.items()]
    return [*guards, *population_guards(state, population), *_of_people(state)]


def population_guards(state: PublicationState, population: Population | None) -> list[KMap]:
    """How many people of the population have to match each class of the state's table, if the policy says."""
    if population is None or state.policy.k_map is None or state.table is None:
        return []
    people = {name: _on_axis(state, population, name) for name in population.values}
    return [KMap(state.table, people, population.persons, state.policy.k_map.k)]


def column_guards(state: PublicationState, column: ColumnPolicy) -> list[Guard]:
    """What the classes of one column keep, where each column has classes of its own."""
    guards = _hull(state, column)
    for wanted in column.diversity:
        if wanted.kind == "p-sensitive":
            guards.append(PSensitive([_values(state, column)], int(wanted.p or 0)))
        else:
            guards.append(_guard(state, column, wanted))
    return guards + (_holders(state, column) if state.repeated else [])


def person_numbers(state: PublicationState) -> Ints:
    """The person of each combination, if these are records: equal numbers mean one person."""
    _, raw, _ = state.staging.raw_counts([state.policy.person], by="combination")
    return _numbered(raw[state.policy.person])


def _holders(state: PublicationState, column: ColumnPolicy) -> list[Guard]:
    """Guards against a value that too many people of a class have."""
    if not column.diversity:
        return []
    held, texts = _held(state, column)
    most = np.array([min((d.most(text) for d in column.diversity), default=1.0) for text in texts])
    return [ValueHolders(held, least_values(column.diversity) - 1, most)]


def _of_people(state: PublicationState) -> list[Guard]:
    """What follows from the size and the diversity of a class as long as everybody has one row."""
    if not state.repeated:
        return []
    policy = state.policy
    combination, raw, _ = state.staging.raw_counts([policy.person], by="combination")
    person = _numbered(raw[policy.person])
    guards: list[Guard] = [PersonCount(PersonRows(policy.person, combination, person, np.zeros_like(person)), policy.k)]
    for column in policy.named("sensitive"):
        guards += _holders(state, column)
    return guards


def _held(state: PublicationState, column: ColumnPolicy) -> tuple[PersonRows, list[str | None]]:
    """Who has which values of a column, as these are published, and what text each of them is."""
    name, person = column.name, state.policy.person
    combination, raw, _ = state.staging.raw_counts([person, name], by="combination")
    if not column.is_numeric:
        value = _numbered(raw[name])
        texts: list[str | None] = [None] * (int(value.max(initial=0)) + 1)
        for number, text in zip(value.tolist(), raw[name].tolist(), strict=True):
            texts[number] = text
        return PersonRows(name, combination, _numbered(raw[person]), value, column.spares_missing), texts
    missing = np.isnan(raw[name])
    code = state.numbers[name].of(np.where(missing, 0, raw[name]))
    value = np.where(missing, 0, code + 1)
    rows = PersonRows(name, combination, _numbered(raw[person]), value, column.spares_missing)
    return rows, [None] * (int(value.max(initial=0)) + 1)


def _numbered(values: Array) -> Ints:
    """Equal values, equal numbers; a missing value is one."""
    coded = pa.array(values, from_pandas=True).dictionary_encode().indices.fill_null(-1)
    return np.asarray(coded, dtype=np.int64) + 1


def _hull(state: PublicationState, column: ColumnPolicy) -> list[Guard]:
    found, name = state.combinations, column.name
    if not column.is_numeric or not column.guard or found is None:
        return []
    low, high = found.low[name], found.high[name]
    if np.isnan(low).all():
        return []  # a column without values has nothing to guard
    if not column.spares_missing:
        return [NumericHull(name, low, high, found.low_code[name], found.high_code[name], column.guard)]
    codes, known = state.numbers[name], ~np.isnan(low)
    low_code, high_code = (codes.of(np.where(known, end, column.low or 0)) for end in (low, high))
    bins = np.where(known, low_code, codes.size), np.where(known, high_code, -1)
    return [NumericHull(name, low, high, *bins, column.guard, spares_missing=True)]


def _guard(state: PublicationState, column: ColumnPolicy, wanted: DiversityPolicy) -> Guard:
    match wanted.kind:
        case "ke":
            return SpreadGuard(_numbers(state, column), float(wanted.e or 0), wanted.distinct or 1)
        case "range" if column.is_numeric:
            return SpreadGuard(_numbers(state, column), float(wanted.share or 0) * domain_width(column))
        case "em":
            return Proximity(_numbers(state, column), float(wanted.epsilon or 0), float(wanted.m or 0))
        case "personalised":
            return _personalised(state, column, wanted)
        case "mined":
            return _plausible(state, column, wanted)
    sensitive = _values(state, column)
    match wanted.kind:
        case "distinct":
            return Distinct(sensitive, int(wanted.l or 0))
        case "entropy":
            return EntropyDiversity(sensitive, float(wanted.l or 0))
        case "recursive":
            return Recursive(sensitive, float(wanted.c or 0), int(wanted.l or 0))
        case "alpha":
            each = np.array([wanted.most(text) for text in _texts(state, column)])
            return Alpha(sensitive, float(wanted.alpha or 0), each)
        case "range":
            texts = _texts(state, column)
            known = np.array([text in (column.order or texts) and text is not None for text in texts], dtype=np.bool_)
            return RangeDiversity(sensitive, float(wanted.share or 0), _scale(state, column), known)
        case "ck":
            return Safety(sensitive, float(wanted.share or 0), int(wanted.pieces or 0))
        case "growth":
            return Growth(sensitive, float(wanted.share or 0))
        case "t-closeness":
            if wanted.distance == "hierarchy":
                return TreeCloseness(sensitive, float(wanted.t or 0), _levels(state, column))
            return Closeness(sensitive, float(wanted.t or 0), ordered=wanted.distance == "ordered")
        case _:
            raise ValueError(f"{wanted.kind} is not a guarantee for a single column")


def _values(state: PublicationState, column: ColumnPolicy) -> Sensitive:
    """The published values that occur in the whole table, in order, by combination; a missing value is one of them,
    above the others, unless it is not applicable.
    """
    combination, code, count = state.staging.counts_by_combination(column.name)
    whole = state.code_counts(column.name)
    if column.spares_missing:
        present = np.flatnonzero(whole[:-1])
        value = np.where(code < 0, present.size, np.searchsorted(present, code))
        return Sensitive(column.name, combination, value, count, present.size, whole[present])
    present = np.flatnonzero(whole)
    value = np.searchsorted(present, np.where(code < 0, whole.size - 1, code))
    return Sensitive(column.name, combination, value, count, present.size, whole[present])


def _texts(state: PublicationState, column: ColumnPolicy) -> list[str | None]:
    """The text of each value that `_values` numbers; None of a missing value and of numbers."""
    whole = state.code_counts(column.name)
    texts = [None] * whole.size if column.is_numeric else [*state.texts[column.name], None]
    return [texts[place] for place in np.flatnonzero(whole[:-1] if column.spares_missing else whole).tolist()]


def _scale(state: PublicationState, column: ColumnPolicy) -> Scale:
    """The scale by which a range of values of a category is measured."""
    texts = _texts(state, column)
    if column.order:
        rank = {text: place for place, text in enumerate(column.order)}
        return Ranks(np.array([rank.get(text or "", 0) for text in texts], dtype=np.int64), len(column.order) - 1)
    if column.hierarchy is None:
        return Names(len(column.values))
    tree = state.trees[column.name]
    place = {text: i for i, text in enumerate(tree.leaves)}
    leaves = np.array([place.get(text or "", 0) for text in texts], dtype=np.int64)
    under = [np.bincount(level) / tree.size for level in tree.levels]
    levels = [level[leaves] for level in tree.levels]
    return Leaves(levels, [share[level] for share, level in zip(under, levels, strict=True)])


def _levels(state: PublicationState, column: ColumnPolicy) -> Ints:
    """The ancestors of the values that occur, at every height. A missing value stands alone below the root."""
    tree = state.trees[column.name]
    profile = state.profiles[column.name]
    place = {leaf: i for i, leaf in enumerate(tree.leaves)}
    leaves = np.array([place[text] for text in sorted(map(str, profile.values))], dtype=np.int64)
    levels = [level[leaves] for level in tree.levels]
    if profile.missing and not column.spares_missing:
        levels = [*(np.append(level, -1) for level in levels[:-1]), np.append(levels[-1], levels[-1][:1])]
    return np.stack(levels)


def _numbers(state: PublicationState, column: ColumnPolicy) -> Numbers:
    combination, raw, count = state.staging.raw_counts([column.name], by="combination")
    return Numbers(column.name, combination, raw[column.name], count, column.spares_missing)


def _personalised(state: PublicationState, column: ColumnPolicy, wanted: DiversityPolicy) -> Guard:
    combination, raw, count = state.staging.raw_counts([column.name, str(wanted.by)], by="combination")
    texts = state.texts[column.name]
    place = {text: i for i, text in enumerate(texts)}
    value = np.array([place.get(text, len(texts)) for text in raw[column.name].tolist()], dtype=np.int64)
    which, sets = read_wishes(column, wanted, texts, value, raw[str(wanted.by)])
    pairs, pair = np.unique(value * len(sets) + which, return_inverse=True)
    held = Sensitive(column.name, combination, pair.reshape(-1), count, pairs.size)
    return PersonalGuard(
        held, pairs // len(sets), [sets[i] for i in (pairs % len(sets)).tolist()], float(wanted.share or 0)
    )


def _plausible(state: PublicationState, column: ColumnPolicy, wanted: DiversityPolicy) -> Guard:
    known = rule_columns(state.policy)
    combination, raw, count = state.staging.raw_counts([*(one.name for one in known), column.name], by="combination")
    texts = state.texts[column.name]
    place = {text: i for i, text in enumerate(texts)}
    missing = len(texts) + 1 if column.spares_missing else len(texts)
    value = np.array([place.get(text, missing) for text in raw[column.name].tolist()], dtype=np.int64)
    held = Sensitive(column.name, combination, value, count, len(texts) if column.spares_missing else len(texts) + 1)
    conditions = [rule_conditions(one, raw[one.name]) for one in known]
    return PlausibleValues(held, conditions, int(wanted.l or 0), float(wanted.expected or 0))


def _on_axis(state: PublicationState, population: Population, name: str) -> Floats:
    """Values of the population as the codes of the table know them; a text that nobody in the table has is unknown."""
    values = population.values[name]
    if name not in population.texts:
        return values
    tree, column = state.trees.get(name), state.policy.column(name)
    if column.groups:
        codes = np.append(group_codes(column, population.texts[name]), -1).astype(np.float64)
        return codes[np.where(np.isnan(values), -1, values).astype(np.int64)]
    place = {text: i for i, text in enumerate(tree.leaves if tree else state.texts[name])}
    codes = np.array([*(place.get(text, -1) for text in population.texts[name]), -1], dtype=np.float64)
    return codes[np.where(np.isnan(values), -1, values).astype(np.int64)]
