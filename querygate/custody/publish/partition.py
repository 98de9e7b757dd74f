"""The step that makes classes: combinations of quasi-identifiers to a table, the table to classes.

What later steps need of it is the box of each class. The table itself is let go before cells are made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from querygate.core.coarse_parts import Parts, numbers_of
from querygate.core.types import Ints
from querygate.custody.codes.code_items import in_classes
from querygate.custody.columns.hierarchies import places
from querygate.custody.columns.population import Population
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.publish.codes_in_classes import settle_codes
from querygate.custody.publish.guarantees import make_guards
from querygate.custody.publish.method_choice import choose, divided, is_measured, needs_records
from querygate.custody.publish.method_comparison import Trial
from querygate.custody.publish.partition_in_parts import coarse_parts
from querygate.custody.publish.publication_state import PublicationState, Step
from querygate.methods.anonymise import ANONYMISERS, Attribute, Method, Table, boxes, join_boxes, loss_by_attribute


def partition(
    draft: PublicationState, anonymiser: Method | None, population: Population | None, clock_s: Callable[[], float]
) -> None:
    """Divide the records, or the distinct combinations of quasi-identifiers, into classes."""
    draft.begin(Step.DIVIDE, "making classes")
    policy = draft.policy
    quasi = quasi_identifiers(policy)
    _prepare(draft)
    parts: Parts = 0
    if anonymiser is None and may_be_parted(policy):
        method = parted_method(policy)
        empty = [make_attribute(draft, c, np.zeros(0, dtype=np.int64)) for c in quasi]
        parts = coarse_parts(draft, empty, by_record=method.by_record)
    if parts != 0:
        _divide_parts(draft, method, parts, clock_s)
        return
    by_record = anonymiser.by_record if anonymiser else needs_records(policy, draft.rows)
    table = read_table(draft, parts, 0, by_record=by_record)
    guards = make_guards(draft, population)
    draft.combinations = None  # the guards have what they need of it
    if anonymiser is None:
        draft.labels, draft.comparison = choose(draft, guards, clock_s)
    else:
        draft.labels = divided(anonymiser, table, policy, policy.k, guards, draft.within)
    _seal(draft, table)
    merged = settle_codes(draft)
    if merged is not None:
        draft.workshop.forget_classes()
        _prepare(draft)
        draft.labels = merged[draft.labels]
        _seal(draft, read_table(draft, parts, 0, by_record=by_record))
    _tell_loss(draft, loss_by_attribute(table, draft.labels, draft.boxes))


def _prepare(draft: PublicationState) -> None:
    numbers = [c.name for c in draft.policy.named("sensitive") if c.is_numeric]
    draft.workshop.prepare([c.name for c in quasi_identifiers(draft.policy)], numbers)


def _seal(draft: PublicationState, table: Table) -> None:
    """The classes of the table's combinations are those of the labels."""
    draft.workshop.add_classes(draft.labels)
    draft.workshop.seal_classes()
    draft.classes, draft.boxes = int(draft.labels.max()) + 1, boxes(table, draft.labels)


def redivide(
    draft: PublicationState,
    anonymiser: Method | None,
    population: Population | None,
    clock_s: Callable[[], float],
    method: Method | None,
    k: int,
) -> None:
    """Divide the records once more, by another method or for another k."""
    policy = draft.policy
    draft.workshop.forget_classes()
    draft.policy, draft.sticky, draft.comparison = replace(policy, k=k), method is not None, ()
    try:
        partition(draft, method or anonymiser, population, clock_s)
    finally:
        draft.policy = policy


def quasi_identifiers(policy: Policy) -> tuple[ColumnPolicy, ...]:
    """The columns of the boxes: quasi-identifiers, and numbers that are treated as such."""
    return (*policy.named("quasi-identifier"), *(c for c in policy.named("sensitive") if c.carry == "joint"))


# -- part by part --------------------------------------------------------------------------------------------------


def may_be_parted(policy: Policy) -> bool:
    """Whether classes can be made part by part: not where a choice is made by ranges over all records, nor where a
    class is judged by the people of a population, who are not in any part, or may have to join any other class.
    """
    return not is_measured(policy) and policy.k_map is None and not any(in_classes(c) for c in policy.columns)


def parted_method(policy: Policy) -> Method:
    """Parts are not compared: each on its own might be divided in another way."""
    method = policy.anonymise.method
    return ANONYMISERS.get("mondrian" if method == "auto" else method)


def _divide_parts(draft: PublicationState, method: Method, parts: Parts, clock_s: Callable[[], float]) -> None:
    began, policy, numbers = clock_s(), draft.policy, numbers_of(parts)
    found, loss, done, classes = [], np.zeros(len(quasi_identifiers(policy))), 0, 0
    for place, number in enumerate(numbers):
        draft.say(f"making classes: part {place + 1} of {len(numbers)}")
        table = read_table(draft, parts, number, by_record=method.by_record)
        whole, here = draft.rows, table.records

        def within(share: float, done: int = done, here: int = here, whole: int = whole) -> None:
            draft.within((done + share * here) / whole)

        guards = make_guards(draft)
        draft.combinations = None  # the guards have what they need of it
        labels = divided(method, table, policy, policy.k, guards, within)
        draft.workshop.add_classes(labels + classes)
        found.append(boxes(table, labels))
        loss += loss_by_attribute(table, labels, found[-1]) * here / whole
        classes, done = classes + int(labels.max()) + 1, done + here
    draft.workshop.seal_classes()
    draft.boxes, draft.classes, draft.table = join_boxes(found), classes, None
    _tell_loss(draft, loss)
    name = "mondrian" if policy.anonymise.method == "auto" else policy.anonymise.method
    note = f"in {len(numbers)} parts, cut coarsely to fit into memory"
    draft.comparison = (
        Trial(name, policy.k, classes, float(loss.mean()), {}, clock_s() - began, chosen=True, note=note),
    )


def _tell_loss(draft: PublicationState, loss: np.typing.NDArray[np.float64]) -> None:
    names = [column.name for column in quasi_identifiers(draft.policy)]
    draft.loss = dict(zip(names, loss.tolist(), strict=True))


# -- the table -----------------------------------------------------------------------------------------------------


def read_table(draft: PublicationState, parts: Parts, part: int, *, by_record: bool) -> Table:
    """The quasi-identifiers of all records, or of those of one part."""
    found = draft.combinations = draft.workshop.combinations(by_record=by_record, parts=parts, part=part)
    attributes = (make_attribute(draft, c, found.codes[c.name]) for c in quasi_identifiers(draft.policy))
    draft.table = Table(tuple(attributes), found.counts)
    return draft.table


def make_attribute(draft: PublicationState, column: ColumnPolicy, codes: Ints) -> Attribute:
    weight = column.weight or 1.0
    if column.name in draft.trees:
        tree = draft.trees[column.name]
        return Attribute.hierarchical(column.name, places(tree, draft.texts[column.name])[codes], tree, weight)
    if not column.is_numeric:
        size = len(column.groups or draft.texts[column.name])
        found = Attribute.nominal(column.name, codes, size or 1, weight)
        return replace(found, holds=np.array([len(group) for group in column.groups])) if column.groups else found
    numbers = draft.numbers[column.name]
    low, high = numbers.low.astype(np.float64), numbers.high.astype(np.float64)
    if not numbers.size:  # nothing but missing values
        return Attribute(column.name, codes, 1, True, 1.0, np.zeros(1), np.zeros(1), weight)
    span = float((column.high or 0) - (column.low or 0))
    return Attribute(column.name, codes, numbers.size, True, span, low, high, weight, numbers.cuts(column.cuts))
