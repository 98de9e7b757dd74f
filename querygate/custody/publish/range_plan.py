"""Whether cells are made and written some classes at a time, and which classes at once.

Everything that a cell says follows from its class alone, except for lists of codes and moments, which are made for all
classes together. The boxes of classes are then not kept either: they follow from the rows of each range.
"""

from __future__ import annotations

from collections.abc import Iterator

from querygate.core.publications.class_ranges import ranges_of, records_held
from querygate.core.publications.vault_ports import ClassRanges, SomeClasses
from querygate.custody.publish.step_state import PublicationState


def comes_in_ranges(state: PublicationState) -> bool:
    """Whether memory may not hold the cells of all classes, and need not."""
    policy = state.policy
    return (
        isinstance(state.staging, ClassRanges)
        and state.rows > _held(state)
        and not state.is_extract
        and state.carried is None
        and policy.anonymise.class_moments == "none"
        and all(column.codes is None for column in policy.published)
    )


def each_range(state: PublicationState) -> Iterator[tuple[range, SomeClasses]]:
    """Ranges of classes, and what the staging tables tell of each."""
    staging = state.staging
    if not comes_in_ranges(state) or not isinstance(staging, ClassRanges):
        yield range(state.classes), staging
        return
    for classes in ranges_of(staging.class_sizes(), _held(state)):
        yield classes, staging.of_classes(classes)


def _held(state: PublicationState) -> int:
    return records_held(state.staging.room_bytes, len(state.policy.published))
