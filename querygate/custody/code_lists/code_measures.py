"""The utility of a published column of codes, and who can be found by codes: before and after.

Figures are aggregates, and cost the same for a million records as for a hundred thousand: losses are measured on a
sample of records, and the curves on a sample of people who are looked up among all records. Samples follow a fixed
rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.custody.code_lists.record_code_lists import CodeLists, utility_groups
from querygate.custody.policy import CodesPolicy
from querygate.methods.code_lists import (
    Baskets,
    Items,
    LocalItems,
    changes,
    gwas_diseases,
    published_loss,
    reidentification,
    workload_errors,
)
from querygate.methods.code_lists.local_items import members_of
from querygate.methods.code_lists.record_matches import PublishedRecords

SAMPLE = 200_000
"""Records in the sample for losses and errors."""

PAIRS, FEWEST, MOST = 200_000_000, 500, 10_000
"""People who are looked up: limited by the number of pairs of people and records."""

LONGEST = 5
DISEASES = ("icd9cm", "icd10cm", "icd9cm+icd10cm", "icd10", "ccs")
"""Systems that the list of diseases uses."""

SEED = 2010


@dataclass(frozen=True, slots=True)
class ShareFound:
    """The share of people who match fewer than k records by this many of their codes; None means all codes."""

    known: int | None
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class CodeMeasures:
    """Figures of a recoding. Shares `of_codes` refer to codes that occur, shares `of_entries` to entries in records.

    `log2_loss` is the utility loss UL, as a logarithm to base 2; None if there is no loss. `error` is AvgRE, the
    mean relative error of `counts` counts: sets of up to three codes that a tenth of the records has. Of `groups`
    groups (listed diseases, or else the groups of the utility policy) `kept` have exact case counts; listed diseases
    among them are named.
    """

    records: int
    log2_loss: float | None
    suppressed_of_codes: float
    generalised_of_codes: float
    suppressed_of_entries: float
    generalised_of_entries: float
    codes_in_item: float
    counts: int
    error: float | None
    groups_are: str
    groups: int
    kept: int
    kept_names: tuple[str, ...]
    people: int
    found: tuple[ShareFound, ...]
    unique_before: float
    unique_after: float


def measure_recoding(
    lists: CodeLists, recoding: Items | LocalItems, k: int, hidden: Ints | None = None
) -> CodeMeasures | None:
    """Measures the published lists; None if no record has a code. `hidden` are public codes that are suppressed,
    whether somebody has them or not.
    """
    if not lists.baskets.members.size:
        return None
    random = np.random.default_rng(SEED)
    baskets, made = _sampled(lists.baskets, recoding, random)
    changed, errors = changes(baskets, made), workload_errors(baskets, made)
    loss = published_loss(baskets, made).log2_total
    kind, names, label = _groups(lists)
    kept = told_exactly(PublishedRecords.of(lists.baskets, recoding), label[lists.occurring], len(names))
    if hidden is not None:
        kept &= ~np.isin(np.arange(len(names)), label[hidden])
    people, found, unique = _found(lists.baskets, recoding, k, random)
    return CodeMeasures(
        records=baskets.records,
        log2_loss=loss if math.isfinite(loss) else None,
        suppressed_of_codes=changed.codes_suppressed / max(1, changed.codes),
        generalised_of_codes=changed.codes_generalised / max(1, changed.codes),
        suppressed_of_entries=changed.suppressed,
        generalised_of_entries=changed.generalised,
        codes_in_item=changed.mean_size,
        counts=errors.actual.size,
        error=errors.mean if errors.actual.size else None,
        groups_are=kind,
        groups=len(names),
        kept=int(kept.sum()),
        kept_names=tuple(name for name, good in zip(names, kept.tolist(), strict=True) if good and name),
        people=people,
        found=found,
        unique_before=unique[0] / lists.baskets.records,
        unique_after=unique[1] / lists.baskets.records,
    )


def _sampled(
    baskets: Baskets, recoding: Items | LocalItems, random: np.random.Generator
) -> tuple[Baskets, Items | LocalItems]:
    """A sample of records, and what is published of them."""
    if baskets.records <= SAMPLE:
        return baskets, recoding
    records = np.sort(random.choice(baskets.records, SAMPLE, replace=False))
    if isinstance(recoding, LocalItems):
        recoding = replace(recoding, published=_some(recoding.published, records))
    return _some(baskets, records), recoding


def _some(baskets: Baskets, records: Ints) -> Baskets:
    at, _ = members_of(baskets, records)
    starts = np.concatenate([[0], np.cumsum(np.diff(baskets.starts)[records])])
    return Baskets(starts.astype(np.int64), baskets.members[at], baskets.size)


# -- diseases and groups -------------------------------------------------------------------------------------------


def _groups(lists: CodeLists) -> tuple[str, list[str], Ints]:
    """The groups whose cases are counted, named or not, if anybody is in them; and the group of each public code, -1
    for none.
    """
    if lists.system.name in DISEASES:
        label = np.full(len(lists.system.codes), -1, dtype=np.int64)
        diseases = gwas_diseases(lists.system.codes)
        present = [one for one in diseases if np.isin(list(one.codes), lists.occurring).any()]
        for number, disease in enumerate(present):
            label[list(disease.codes)] = number
        return "diseases", [disease.name for disease in present], label
    levels, utility = lists.system.tree.levels, (lists.column.codes or CodesPolicy()).utility
    nearest = levels[min(1, len(levels) - 2)]  # in a flat list, single codes
    of_code = nearest if utility.kind == "none" else utility_groups(lists.column, lists.system)
    found = np.unique(of_code[lists.occurring])
    place = np.minimum(np.searchsorted(found, of_code), found.size - 1)
    return "groups", [""] * found.size, np.where(found[place] == of_code, place, -1)


def told_exactly(published: PublishedRecords, label: Ints, number: int) -> Bools:
    """For which groups cases and controls are certain: none of their codes is suppressed, and no item in use has codes
    both inside and outside, or may stand for no code at all.

    >>> made = PublishedRecords.of(Baskets.of([[0, 1], [2], [3]], 4), Items(np.array([0, 0, 1, 1])))
    >>> told_exactly(made, np.array([0, 0, 1, 2]), 3)
    array([ True, False, False])
    """
    if published.silent.any():
        return np.zeros(number, dtype=np.bool_)
    sizes = published.sizes()
    code = np.fromiter(chain.from_iterable(published.groups), dtype=np.int64, count=int(sizes.sum()))
    item = np.repeat(np.arange(sizes.size), sizes)
    label = np.append(label, -1)  # of the number that stands for no code
    least, most = np.full(sizes.size, number), np.full(sizes.size, -1)
    np.minimum.at(least, item, label[code])
    np.maximum.at(most, item, label[code])
    mixed = (least < most) & (published.items.supports()[: sizes.size] > 0)
    lost = np.concatenate([label[code[mixed[item]]], label[:-1][published.hidden]])
    return ~np.isin(np.arange(number), lost)


# -- who is found ----------------------------------------------------------------------------------------------------


def _found(
    baskets: Baskets, recoding: Items | LocalItems, k: int, random: np.random.Generator
) -> tuple[int, tuple[ShareFound, ...], tuple[int, int]]:
    """How many people were looked up, how many of them are found by 1, 2, ... and all codes, and unique records before
    and after.
    """
    most = min(MOST, max(FEWEST, PAIRS // baskets.records))
    curve = reidentification(baskets, recoding, longest=LONGEST, most=most, rng=random)
    shares = zip(curve.sizes.tolist(), curve.share_before(k).tolist(), curve.share_after(k).tolist(), strict=True)
    whole = ShareFound(None, curve.whole_share_before(k), curve.whole_share_after(k))
    some = tuple(ShareFound(known, before, after) for known, before, after in shares)
    return curve.whole_before.size, (*some, whole), (curve.unique_before, curve.unique_after)
