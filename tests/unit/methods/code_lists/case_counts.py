"""Whether a publication still tells exactly who has a disease: what the report's figures are compared with.

An item inside the disease makes a case for certain, one that reaches outside a possible one, and a suppressed code of
the disease leaves every record possible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools
from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.diseases import Disease
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.record_matches import PublishedRecords


@dataclass(frozen=True)
class CaseCounts:
    """Cases in the records, and how many there are at least and at most for all that is published."""

    name: str
    cases: int
    least: int
    most: int

    @property
    def exact(self) -> bool:
        """Is every record told apart as a case or a control?"""
        return self.least == self.most


def case_counts(baskets: Baskets, recoding: Items | LocalItems | PublishedRecords, disease: Disease) -> CaseCounts:
    """How many cases there are, and how many the publication lets be."""
    published = recoding if isinstance(recoding, PublishedRecords) else PublishedRecords.of(baskets, recoding)
    of = np.zeros(baskets.size, dtype=np.bool_)
    of[list(disease.codes)] = True
    inside = np.array([bool(of[list(codes)].all()) for codes in published.groups], dtype=np.bool_)
    touching = np.array([bool(of[list(codes)].any()) for codes in published.groups], dtype=np.bool_)
    certain = _holders(published.items, inside)
    open_ = published.silent & bool(disease.codes) | bool((of & published.hidden).any())
    possible = _holders(published.items, touching) | open_ | certain
    return CaseCounts(
        disease.name,
        int(np.count_nonzero(_holders(baskets, of))),
        int(np.count_nonzero(certain)),
        int(np.count_nonzero(possible)),
    )


def surviving(baskets: Baskets, recoding: Items | LocalItems, diseases: Iterable[Disease]) -> tuple[CaseCounts, ...]:
    """The diseases with cases whose case and control counts are still known exactly."""
    published = PublishedRecords.of(baskets, recoding)
    counted = [case_counts(baskets, published, disease) for disease in diseases]
    return tuple(one for one in counted if one.cases and one.exact)


def _holders(baskets: Baskets, wanted: Bools) -> Bools:
    """The records that have any of the wanted items."""
    found = np.zeros(baskets.records, dtype=np.bool_)
    if wanted.size:
        found[baskets.of_record[wanted[baskets.members]]] = True
    return found
