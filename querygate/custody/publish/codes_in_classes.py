"""Lists of codes that are protected within classes: recoded class by class, once these are made.

A class in which that cannot be done is merged with the nearest, and everything about the classes is told anew.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.custody.codes.code_items import in_classes, publish_codes_in_classes
from querygate.custody.publish.publication_state import PublicationState
from querygate.methods.anonymise import Box, Intervals


def settle_codes(draft: PublicationState) -> Ints | None:
    """Publish the lists that need classes; returns for each class the one it belongs to from now on. None where there
    are no such lists.
    """
    columns = [column for column in draft.published if in_classes(column)]
    if not columns:
        return None
    before = draft.workshop.record_classes()
    classes, centres = before, np.concatenate([_centre(box) for box in draft.boxes], axis=1)
    for column in columns:
        draft.say(f"protecting {column.name} in classes")
        made, after = publish_codes_in_classes(column, draft.workshop, classes, centres, draft.policy.k)
        draft.code_lists[column.name] = made
        centres = _merged(centres, classes, after)
        classes = after
    found = np.zeros(draft.classes, dtype=np.int64)
    found[before] = classes
    return found


def _centre(box: Box) -> Floats:
    """A place for each class, at most 1 from any other: the middle of an interval, or an axis for each value."""
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
