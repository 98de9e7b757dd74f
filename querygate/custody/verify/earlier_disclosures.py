"""Does a new version reveal more about a unit than earlier ones did?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from querygate.core.types import Ints
from querygate.custody.verify.earlier_views import ABSENT, EarlierMargins
from querygate.methods.views.certificate_check import (
    BinnedNumber,
    closed_ends,
)


def are_unions(label: Ints, finer: Ints) -> bool:
    """Is every class a union of classes of another partition, all of which were published?"""
    names, first, place = np.unique(finer, return_index=True, return_inverse=True)
    return names[0] != ABSENT and np.array_equal(label[first][place.reshape(-1)], label)


def tell_more(labels: Ints, bins: Ints, numbers: Sequence[BinnedNumber], before: EarlierMargins) -> bool:
    """Do some of these classes, with their bins and sums, reveal what no earlier margin of the same column has
    revealed?"""
    if (before.labels == ABSENT).all():
        return False
    for number, low, high in zip(numbers, before.low, before.high, strict=True):
        held = number.has_number[bins]
        if (held & ((number.low[bins] > low) | (number.high[bins] < high))).any():
            return True
    return not all(
        any(_is_told_by(label, bins, numbers, before, m) for m in range(len(before.labels))) for label in labels
    )


def _is_told_by(label: Ints, bins: Ints, numbers: Sequence[BinnedNumber], before: EarlierMargins, margin: int) -> bool:
    """Has an earlier margin the same classes and bins, and no sum in a wider cell?"""
    own, kept = before.labels[margin], before.bins[margin]
    if not all(are_unions(*pair) for pair in ((label, own), (own, label), (bins, kept), (kept, bins))):
        return False
    place = np.unique(label, return_inverse=True)[1].reshape(-1)
    for number, least, most in zip(numbers, before.least[:, margin], before.most[:, margin], strict=True):
        begin, end = closed_ends(label, bins, number)
        if (begin[place] > least).any() or (end[place] < most).any():
            return False
    return True
