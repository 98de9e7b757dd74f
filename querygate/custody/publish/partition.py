"""The step that makes classes: from combinations of quasi-identifiers to a table, and from the table to classes.

Later steps need only the box of each class. The table itself is released before cells are made.

If memory cannot hold all combinations, the database cuts the table coarsely, and each part is divided by itself. A part
has at least k records, and keeps every guarantee as one class, so that dividing it can always be done; a guarantee that
compares classes with the whole table (t-closeness) goes on doing so, since the counts of values come from the profile
of all records. No class reaches across a coarse cut: this costs a little information, but breaks no promise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from querygate.core.publications.coarse_parts import Fork, Parts, divided_at, numbers_of, runs_of
from querygate.core.types import Floats, Ints
from querygate.custody.code_lists.code_items import publish_codes_in_classes
from querygate.custody.columns.hierarchies import places
from querygate.custody.columns.population import Population
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.publish.expected_widths import ExpectedWidths, statistics_of
from querygate.custody.publish.guarantees import make_guards, population_guards
from querygate.custody.publish.method_choice import DIRECTED, choose, divided, is_measured, needs_records
from querygate.custody.publish.method_trial import Trial
from querygate.custody.publish.range_plan import comes_in_ranges
from querygate.custody.publish.step_state import PublicationState, Step
from querygate.custody.publish.width_limits import WidthLimits
from querygate.methods.anonymise import (
    ANONYMISERS,
    NULL,
    Attribute,
    Box,
    CoarseCut,
    Intervals,
    Method,
    Table,
    Target,
    boxes,
    coarse_cuts,
    join_boxes,
    loss_by_attribute,
    one_class,
)

BYTES, BYTES_EACH = 110, 32
"""Memory per combination while classes are made, and per attribute in addition (measured with ten million)."""


def partition(
    state: PublicationState, anonymiser: Method | None, population: Population | None, clock_s: Callable[[], float]
) -> PublicationState:
    """Divide the records, or the distinct combinations of quasi-identifiers, into classes."""
    state.progress.begin(Step.DIVIDE, "making classes")
    policy = state.policy
    if not quasi_identifiers(policy):
        anonymiser = Method(one_class)
    prepare(state)
    if anonymiser is None and may_be_parted(policy):
        method = parted_method(policy)
        empty = [make_attribute(state, c, np.zeros(0, dtype=np.int64)) for c in quasi_identifiers(policy)]
        parts = coarse_parts(state, empty, population, by_record=method.by_record)
        if parts != 0:
            return _divide_parts(state, method, parts, population, clock_s)
    by_record = anonymiser.by_record if anonymiser else needs_records(policy, state.rows)
    state, table = read_table(state, by_record=by_record)
    guards = make_guards(state, population)
    state = replace(state, combinations=None)  # the guards have what they need of it
    if anonymiser is None:
        labels, comparison = choose(state, guards, clock_s)
        state = replace(state, comparison=comparison)
    else:
        labels = divided(anonymiser, table, policy, policy.k, guards, state.progress.within)
    state = with_classes(state, table, labels)
    state, merged = settle_codes(state)
    if merged is not None:
        state.staging.forget_classes()
        prepare(state)
        state, table = read_table(state, by_record=by_record)
        state = with_classes(state, table, merged[labels])
    return with_loss(state, loss_by_attribute(table, state.labels, state.boxes or None))


def redivide(
    state: PublicationState,
    method: Method | None,
    k: int,
    *,
    anonymiser: Method | None,
    population: Population | None,
    clock_s: Callable[[], float],
) -> PublicationState:
    """Divide the records again, by another method or for another k."""
    state.staging.forget_classes()
    anew = replace(state, policy=replace(state.policy, k=k), sticky=method is not None, comparison=())
    return replace(partition(anew, method or anonymiser, population, clock_s).without_table(), policy=state.policy)


def quasi_identifiers(policy: Policy) -> tuple[ColumnPolicy, ...]:
    """The columns of the boxes: quasi-identifiers, and numbers treated like them."""
    return (*policy.named("quasi-identifier"), *(c for c in policy.named("sensitive") if c.carry == "joint"))


def with_classes(state: PublicationState, table: Table, labels: Ints) -> PublicationState:
    """Put the table's combinations into the classes that the labels give."""
    state.staging.add_classes(labels)
    state.staging.seal_classes()
    kept = () if comes_in_ranges(state) else boxes(table, labels)
    return replace(state, labels=labels, classes=int(labels.max()) + 1, boxes=kept)


def with_loss(state: PublicationState, loss: Floats) -> PublicationState:
    names = [column.name for column in quasi_identifiers(state.policy)]
    return replace(state, loss=dict(zip(names, loss.tolist(), strict=True)))


# -- the table -----------------------------------------------------------------------------------------------------


def prepare(state: PublicationState) -> None:
    """Prepare to combine the columns that make classes, and to find the extremes of sensitive numbers."""
    policy = state.policy
    numbers = [c.name for c in policy.named("sensitive") if c.is_numeric]
    combined = quasi_identifiers(policy) if policy.views is None else policy.dividing
    state.staging.prepare([c.name for c in combined], numbers)


def read_table(
    state: PublicationState, parts: Parts = 0, part: int = 0, *, by_record: bool
) -> tuple[PublicationState, Table]:
    """The quasi-identifiers of all records, or of the records of one part."""
    found = state.staging.combinations(by_record=by_record, parts=parts, part=part)
    attributes = (make_attribute(state, c, found.codes[c.name]) for c in quasi_identifiers(state.policy))
    table = Table(tuple(attributes), found.counts, _target(state) if by_record else None)
    return replace(state, combinations=found, table=table), table


def _target(state: PublicationState) -> Target | None:
    """What the policy wants to stay predictable, by record; None where it names nothing, or nothing that is here."""
    name = state.policy.anonymise.target
    column = next((one for one in state.policy.published if one.name == name), None)
    if column is None:
        return None
    _, raw, _ = state.staging.raw_counts([name], by="combination")
    values = raw[name]
    if not column.is_numeric:
        texts, codes = np.unique(np.array([text or "" for text in values.tolist()], dtype=str), return_inverse=True)
        return Target(codes.reshape(-1).astype(np.float64), texts.size)
    known = ~np.isnan(values)
    middle = values[known].mean() if known.any() else 0.0
    spread = (values[known].std() if known.any() else 0.0) or 1.0
    return Target(np.where(known, (values - middle) / spread, 0.0), 0)


def make_attribute(state: PublicationState, column: ColumnPolicy, codes: Ints) -> Attribute:
    weight = column.weight or 1.0
    if column.name in state.trees:
        tree = state.trees[column.name]
        return Attribute.hierarchical(column.name, places(tree, state.texts[column.name])[codes], tree, weight)
    if not column.is_numeric:
        size = len(column.groups or state.texts[column.name])
        found = Attribute.nominal(column.name, codes, size or 1, weight)
        return replace(found, holds=np.array([len(group) for group in column.groups])) if column.groups else found
    numbers = state.numbers[column.name]
    low, high = numbers.low.astype(np.float64), numbers.high.astype(np.float64)
    if not numbers.size:  # only missing values
        return Attribute(column.name, codes, 1, True, 1.0, np.zeros(1), np.zeros(1), weight)
    span = float((column.high or 0) - (column.low or 0))
    return Attribute(column.name, codes, numbers.size, True, span, low, high, weight, numbers.cuts(column.cuts))


# -- lists of codes that are protected within classes ---------------------------------------------------------------


def settle_codes(state: PublicationState) -> tuple[PublicationState, Ints | None]:
    """Publish the lists of codes that need classes: recoded class by class. A class in which this is impossible is
    merged with the nearest one. Returns for each class the one it now belongs to; None if there are no such lists.
    """
    columns = [column for column in state.policy.published if column.is_protected_in_classes]
    if not columns:
        return state, None
    before = state.staging.record_classes()
    code_lists = dict(state.code_lists)
    classes, centres = before, np.concatenate([np.zeros((state.classes, 1)), *map(_centre, state.boxes)], axis=1)
    for column in columns:
        state.progress.say(f"protecting {column.name} in classes")
        made, after = publish_codes_in_classes(column, state.staging, classes, centres, state.policy.k)
        code_lists[column.name] = made
        centres = _merged(centres, classes, after)
        classes = after
    found = np.zeros(state.classes, dtype=np.int64)
    found[before] = classes
    return replace(state, code_lists=code_lists), found


def _centre(box: Box) -> Floats:
    """A point for each class, at most 1 from any other: the middle of an interval, or an axis for each value."""
    if isinstance(box, Intervals):
        middle: Floats = (box.low + box.high) / 2.0
        place: Floats = (middle - middle.min()) / max(float(np.ptp(middle)), 1.0)
        return place[:, None]
    number = np.diff(box.starts)
    shares = np.zeros((number.size, int(box.codes.max(initial=-1)) + 1))
    shares[np.repeat(np.arange(number.size), number), box.codes] = 1 / np.repeat(number, number)
    return np.asarray(shares / np.sqrt(2))


def _merged(centres: Floats, before: Ints, after: Ints) -> Floats:
    """The mean place of the records of each class."""
    size = int(after.max()) + 1
    number = np.bincount(after, minlength=size)
    sums = [np.bincount(after, axis[before], minlength=size) for axis in centres.T]
    return np.stack(sums, axis=1) / number[:, None]


# -- part by part --------------------------------------------------------------------------------------------------


def may_be_parted(policy: Policy) -> bool:
    """Whether classes can be made part by part: not if they may have to join any other class, nor if weights follow
    from all records, nor if k is yet to be found, which parts would have to be large enough for.
    """
    weighs = is_measured(policy) and policy.anonymise.method in DIRECTED
    joins = any(column.is_protected_in_classes for column in policy.columns)
    return not weighs and not joins and not policy.anonymise.largest_k


def parted_method(policy: Policy) -> Method:
    """Methods are not compared on parts: each part might then use a different one. Ranges are measured by record."""
    name = policy.anonymise.method
    method = ANONYMISERS.get("mondrian" if name == "auto" else name)
    return replace(method, by_record=method.by_record or is_measured(policy))


def _divide_parts(
    state: PublicationState,
    method: Method,
    parts: Parts,
    population: Population | None,
    clock_s: Callable[[], float],
) -> PublicationState:
    began, policy, numbers = clock_s(), state.policy, numbers_of(parts)
    utility = ExpectedWidths(state, statistics_of(policy))
    found, tallies, loss, done, classes = [], [], np.zeros(len(quasi_identifiers(policy))), 0, 0
    for place, number in enumerate(numbers):
        state.progress.say(f"making classes: part {place + 1} of {len(numbers)}")
        one, table = read_table(state, parts, number, by_record=method.by_record)
        whole, here = state.rows, table.records

        def within(share: float, done: int = done, here: int = here, whole: int = whole) -> None:
            state.progress.within((done + share * here) / whole)

        guards = make_guards(one, population)
        one = replace(one, combinations=None)  # the guards have what they need of these
        labels = divided(method, table, policy, policy.k, guards, within)
        tallies += [ExpectedWidths(one, utility.statistics).tally(table, labels)] if is_measured(policy) else []
        state.staging.add_classes(labels + classes)
        made = boxes(table, labels)
        found += [] if comes_in_ranges(state) else [made]
        loss += loss_by_attribute(table, labels, made) * here / whole
        classes, done = classes + int(labels.max()) + 1, done + here
    state.staging.seal_classes()
    name = "mondrian" if policy.anonymise.method == "auto" else policy.anonymise.method
    note = f"in {len(numbers)} parts, cut coarsely to fit into memory"
    widths = utility.of_parts(tallies) if tallies else {}
    trial = Trial(name, policy.k, classes, float(loss.mean()), widths, clock_s() - began, chosen=True, note=note)
    limits = WidthLimits(policy.anonymise.max_width)
    if limits.excess(trial) > 1:
        raise limits.refusal_in_parts(state.rows, trial)
    return with_loss(replace(state, boxes=join_boxes(found), classes=classes, comparison=(trial,)), loss)


def coarse_parts(
    state: PublicationState, attributes: Sequence[Attribute], population: Population | None = None, *, by_record: bool
) -> Parts:
    """Parts that each fit into memory; only part 0, the whole table, if it fits. The attributes need no codes.

    A part that cannot be cut without breaking a promise stays whole.
    """
    most = max(1, state.staging.room_bytes // (BYTES + BYTES_EACH * len(attributes)))
    parts: Parts = 0
    if state.rows <= most:
        return parts
    refused: dict[int, int] = {}  # per part, the number of its cuts that would break a promise
    while True:
        counts = {a.name: state.staging.count_codes(a.name, parts) for a in attributes}
        sizes = _records(counts[attributes[0].name]) if by_record else state.staging.count_combinations(parts)
        wanted: dict[int, CoarseCut] = {}
        for part in (part for part in numbers_of(parts) if sizes[part] > most):
            cuts = coarse_cuts(
                attributes, [_by_code(state, a, counts[a.name], part) for a in attributes], state.policy.k
            )
            if refused.get(part, 0) < len(cuts):
                wanted[part] = cuts[refused.get(part, 0)]
        if not wanted:
            return parts
        state.progress.say(f"cutting coarsely: {len(numbers_of(parts)) + len(wanted)} parts")
        kept = _kept(state, parts, wanted, population)
        refused |= {part: refused.get(part, 0) + 1 for part in wanted if part not in kept}
        refused |= dict.fromkeys(kept, 0)
        parts = _divided(state, parts, kept)


def _records(counted: tuple[Ints, Ints, Ints]) -> Mapping[int, int]:
    part, _, records = counted
    return dict(enumerate(np.bincount(part, records).astype(np.int64).tolist()))


def _by_code(state: PublicationState, attribute: Attribute, counted: tuple[Ints, Ints, Ints], part: int) -> Ints:
    """How many records of the part have each code of the attribute; missing values are counted last."""
    code, records = (figures[counted[0] == part] for figures in counted[1:])
    code = _in_table(state, attribute)[code]
    return np.bincount(np.where(code == NULL, attribute.size, code), records, attribute.size + 1).astype(np.int64)


def _in_table(state: PublicationState, attribute: Attribute) -> Ints:
    """The code in the table of each code in the staging tables, and behind them that of a missing value."""
    if attribute.tree is None:
        return np.append(np.arange(attribute.size), NULL)
    return places(attribute.tree, state.texts[attribute.name])


def _divided(state: PublicationState, parts: Parts, cuts: Mapping[int, CoarseCut]) -> Parts:
    """Each part cut in two: the left one keeps its number, the right one has the next that is free."""
    for part, cut in cuts.items():
        runs = runs_of(cut.left)
        if cut.attribute in state.trees:
            place = places(state.trees[cut.attribute], state.texts[cut.attribute])
            runs = runs_of([*np.flatnonzero(np.isin(place[:-1], cut.left)).tolist(), *([NULL] * (NULL in cut.left))])
        parts = divided_at(parts, part, Fork(cut.attribute, runs, part, len(numbers_of(parts))))
    return parts


def _kept(
    state: PublicationState, parts: Parts, cuts: Mapping[int, CoarseCut], population: Population | None
) -> dict[int, CoarseCut]:
    """The cuts after which both parts keep every guarantee as one class."""
    tried = _divided(state, parts, cuts)
    number = np.arange(len(numbers_of(tried)))
    fine = np.ones(number.size, dtype=np.bool_)
    for guard in make_guards(replace(state, combinations=state.staging.each_part(tried))):
        fine &= guard.classes(number, number, number.size)
    if population is not None:
        label, table = _held_codes(state, tried)
        for guard in population_guards(replace(state, table=table), population):
            fine &= guard.classes(np.arange(label.size), label, number.size)
    before = len(numbers_of(parts))
    return {part: cut for i, (part, cut) in enumerate(cuts.items()) if fine[part] and fine[before + i]}


def _held_codes(state: PublicationState, parts: Parts) -> tuple[Ints, Table]:
    """A table of no records that has the box of each part, and the part of each of its rows: as many as its attribute
    with the most codes needs, over which the codes of the others are repeated.
    """
    columns, number = quasi_identifiers(state.policy), len(numbers_of(parts))
    held = []
    for column in columns:
        part, code, _ = state.staging.count_codes(column.name, parts)
        order = np.lexsort((code, part))
        held.append((code[order], np.searchsorted(part[order], np.arange(number + 1))))
    rows = np.max([np.diff(begins) for _, begins in held], axis=0)
    label = np.repeat(np.arange(number), rows)
    place = np.arange(label.size) - np.repeat(np.cumsum(rows) - rows, rows)
    codes = [code[begins[label] + place % np.diff(begins)[label]] for code, begins in held]
    attributes = (make_attribute(state, column, one) for column, one in zip(columns, codes, strict=True))
    return label, Table(tuple(attributes), np.ones(label.size, dtype=np.int64))
