"""Classes made part by part where the rows are: each part is divided by a worker of the engine that keeps them.

A worker gets what the publication knows (the policy, the values of columns and their codes) and the combinations of its
part; it makes classes with the same method, under the same guarantees, as a part is divided here. Boxes come back, and
neither rows nor combinations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.publications.coarse_parts import numbers_of
from querygate.core.publications.vault_ports import CodedCombinations, PartDivision, StagingTables
from querygate.core.types import Floats, Ints
from querygate.custody.publish.guarantees import make_guards
from querygate.custody.publish.method_choice import divided
from querygate.custody.publish.method_trial import Trial
from querygate.custody.publish.partition import (
    coarse_parts,
    make_attribute,
    parted_method,
    prepare,
    quasi_identifiers,
    read_table,
    with_loss,
)
from querygate.custody.publish.step_state import PublicationState, Step, StepProgress
from querygate.methods.anonymise import Box, boxes, join_boxes, loss_by_attribute
from querygate.methods.anonymise.parallel import alone

_THERE: Any = None
"""The staging tables of a state on its way to a worker, who has others."""


@dataclass(frozen=True, slots=True)
class DividedPart:
    """What the division of a part leaves: nothing of it tells of a single record."""

    records: int
    classes: int
    boxes: tuple[Box, ...]
    loss: Floats


def divide_in_place(state: PublicationState, tables: PartDivision, clock_s: Callable[[], float]) -> PublicationState:
    """Divide all records; the engine keeps the class of each."""
    began, policy = clock_s(), state.policy
    if state.repeated:
        raise ConfigError(
            "QG803",
            f"{state.persons:,} people have {state.rows:,} rows, and Spark's workers count rows.",
            "Provide one row per person, or leave out --vault: then the rows are published in the site's own vault.",
        )
    state.progress.begin(Step.DIVIDE, "making classes")
    prepare(state)
    empty = [make_attribute(state, column, np.zeros(0, dtype=np.int64)) for column in quasi_identifiers(policy)]
    parts = coarse_parts(state, empty, by_record=False)
    told = f"in {counted(len(numbers_of(parts)), 'part')}, divided where the rows are"
    state.progress.say(f"making classes {told}")
    made = tables.divide_parts(parts, partial(divide_part, replace(state, staging=_THERE, progress=StepProgress())))
    state.staging.seal_classes()
    loss = sum((part.loss * part.records / state.rows for part in made), np.zeros(len(empty)))
    classes = sum(part.classes for part in made)
    method = "mondrian" if policy.anonymise.method == "auto" else policy.anonymise.method
    trial = Trial(method, policy.k, classes, float(loss.mean()), {}, clock_s() - began, chosen=True, note=told)
    joined = join_boxes([part.boxes for part in made])
    return with_loss(replace(state, boxes=joined, classes=classes, comparison=(trial,)), loss)


def divide_part(state: PublicationState, tables: CodedCombinations) -> tuple[Ints, DividedPart]:
    """The class of each combination of a part, and what the classes are. Runs in a worker."""
    one, table = read_table(replace(state, staging=cast(StagingTables, tables)), by_record=False)
    with alone():  # the engine has a worker for each processor
        labels = divided(parted_method(state.policy), table, state.policy, state.policy.k, make_guards(one))
    made = boxes(table, labels)
    return labels, DividedPart(
        table.records, int(labels.max()) + 1, tuple(made), loss_by_attribute(table, labels, made)
    )
