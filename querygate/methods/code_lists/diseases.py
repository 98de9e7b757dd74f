"""Diseases as groups of codes, and whether a publication still tells exactly who has them.

A case is a record with any code of the disease; all others are controls. An item inside the disease makes a case for
certain, one that reaches outside a possible one, and a suppressed code of the disease leaves every record possible.

>>> codes = ["250.01", "250.02", "493.00", "493.01", "V10"]
>>> diseases = [one for one in gwas_diseases(codes) if one.codes]
>>> [(one.name, one.codes) for one in diseases]
[('Asthma', (2, 3)), ('Diabetes mellitus type 1', (0,)), ('Diabetes mellitus type 2', (1,))]
>>> baskets = Baskets.of([[0, 2], [1], [3, 4], []], size=5)
>>> survey = [case_counts(baskets, Items(np.array([0, 0, 1, 1, 2])), one) for one in diseases]
>>> [(one.name, one.cases, one.least, one.most, one.exact) for one in survey]
[('Asthma', 2, 2, 2, True), ('Diabetes mellitus type 1', 1, 0, 2, False), ('Diabetes mellitus type 2', 1, 0, 2, False)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from querygate.core.types import Bools
from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.record_matches import PublishedRecords


@dataclass(frozen=True)
class Disease:
    """A disease and the numbers of its codes; none where no code of it occurs."""

    name: str
    codes: tuple[int, ...]


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


def gwas_diseases(codes: Sequence[str]) -> tuple[Disease, ...]:
    """Eighteen diseases of genome-wide association studies, those of Loukides et al. (PNAS 2010), over ICD-9-CM codes
    in their official spelling. Which codes make each is our choice: data/gwas_diseases.csv.
    """
    text = files("querygate.methods.code_lists").joinpath("data", "gwas_diseases.csv").read_text(encoding="utf-8")
    rows = (line.split(";") for line in text.splitlines()[1:])
    return tuple(Disease(name, codes_in(wanted.split(), codes)) for name, wanted in rows)


def codes_in(patterns: Iterable[str], codes: Sequence[str]) -> tuple[int, ...]:
    """The numbers of the codes under some patterns: a code, a group by its first digits, or a range of those. `?` is
    any digit.

    >>> codes_in(["410-414", "250.?1"], ["250.00", "250.01", "250.11", "411", "414.9", "4110", "415"])
    (1, 2, 3, 4)
    """
    ends = [(low, high or low) for low, _, high in (pattern.partition("-") for pattern in patterns)]
    return tuple(i for i, code in enumerate(codes) if any(_within(code, low, high) for low, high in ends))


def _within(code: str, low: str, high: str) -> bool:
    """A code begins with one of the texts from low to high, which are of one length; a category ends before its dot."""
    start = code[: len(low)]
    if len(start) < len(low) or ("." not in low and code[len(low) : len(low) + 1] not in ("", ".")):
        return False
    if "?" in low:
        return all(want in ("?", have) for want, have in zip(low, start, strict=True))
    return low <= start <= high


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
