"""Policies on diagnosis codes: DE-SynPUF sample 1 (3,268 patients, 2,806 ICD-9-CM codes), k = 5 and 25.

Known of a patient: all codes of one visit. Codes may be joined inside a three-digit category, or inside one of 18
diseases, and inside a category elsewhere. "literal" is the plain promise: at least k records or none support a
visit, and a suppressed code leaves it with none. "residue" asks the same of what suppression has left of a visit, which
is what somebody who knows the visit would look for next; "still found" tells how many visits the literal promise leaves
open to that. A checker that shares no code with the methods confirms each result.

UL is a logarithm of base 2. It weighs an item of s codes by 2^s against 2^2806 of a suppressed code, so it tells
suppression alone; AvgRE (counts of codes that at least 10 % of patients have) and the diseases tell of both. Seconds
are CPU seconds.
"""

from __future__ import annotations

import csv
import gzip
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from querygate.codesets.baskets import Baskets, Items
from querygate.codesets.diseases import Disease, gwas_diseases, surviving
from querygate.codesets.measures import changes, published_loss, workload_errors
from querygate.codesets.methods import METHODS
from querygate.codesets.normalise import normalise
from querygate.codesets.policies import Privacy, Utility, violations
from querygate.codesets.systems import LEVELS, tree_of
from tests.report import row
from tests.unit.codesets import brute

DATA = Path(__file__).parents[1] / "data" / "codes" / "synpuf_1.csv.gz"
PROMISES = ("literal", "residue")
SECONDS = 30.0


@dataclass(frozen=True)
class Study:
    """The records, their visits, and how codes may be joined."""

    codes: tuple[str, ...]
    baskets: Baskets
    visits: tuple[tuple[int, ...], ...]
    diseases: tuple[Disease, ...]
    utilities: dict[str, Utility]

    def texts(self, codes: Iterable[int]) -> set[str]:
        return {self.codes[code] for code in codes}


@cache
def synpuf(path: Path = DATA) -> Study:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = [
            (int(line["patient"]), normalise("icd9cm", line["codes"].split()).codes) for line in csv.DictReader(file)
        ]
    tree = tree_of("icd9cm", (code for _, visit in rows for code in visit if code))
    visits = tuple(tuple(tree.place[code] for code in visit if code) for _, visit in rows)
    records: dict[int, list[int]] = {}
    for (patient, _), visit in zip(rows, visits, strict=True):
        records.setdefault(patient, []).extend(visit)
    diseases = gwas_diseases(tree.codes)
    categories = Utility(tuple(tree.groups_at(LEVELS["icd9cm"].index("category"))))
    by_disease = Utility.from_diseases([disease.codes for disease in diseases], rest=categories)
    utilities = {"categories": categories, "diseases": by_disease}
    return Study(tree.codes, Baskets.of(records.values(), tree.size), visits, diseases, utilities)


@dataclass(frozen=True)
class Setting:
    promise: str
    k: int
    groups: str
    method: str

    def __str__(self) -> str:
        return f"SynPUF, {self.promise}, k={self.k}, {self.groups}, {self.method}"


def settings() -> Iterator[Setting]:
    """Baselines do not ask for groups, so they run once."""
    for promise in PROMISES:
        for k in (5, 25):
            for groups in ("categories", "diseases"):
                yield Setting(promise, k, groups, "ugaclip")
                yield Setting(promise, k, groups, "cba")
            yield Setting(promise, k, "-", "aclip")
            yield Setting(promise, k, "-", "least-frequent")


def anonymise(study: Study, setting: Setting) -> tuple[Items, float]:
    """Items, confirmed by the checker and by the groups, and CPU seconds."""
    privacy = Privacy.from_visits(study.visits, residue=setting.promise == "residue")
    utility = study.utilities.get(setting.groups, Utility())
    begin = time.process_time()
    items = METHODS.get(setting.method).run(study.baskets, setting.k, privacy, utility)
    seconds = time.process_time() - begin
    records = [study.texts(record) for record in study.baskets.lists()]
    policy = [study.texts(visit) for visit in study.visits]
    texts = [frozenset(study.texts(codes)) for codes in items.groups()]
    if not brute.disjoint(texts) or brute.unsafe(records, texts, policy, setting.k, residue=privacy.residue):
        raise AssertionError(f"{setting}: a visit is supported by fewer than {setting.k} records")
    if setting.method != "aclip" and utility.breaches(items):
        raise AssertionError(f"{setting}: an item does not lie inside one group")
    return items, seconds


def figures(study: Study, setting: Setting, items: Items, seconds: float) -> Iterator[dict[str, Any]]:
    yield row(f"{setting}: time", seconds, "CPU s", target=SECONDS, met=seconds <= SECONDS)
    yield row(f"{setting}: UL", published_loss(study.baskets, items).log2_total, "log2")
    errors = workload_errors(study.baskets, items)
    yield row(f"{setting}: AvgRE", 100 * errors.mean, "%", f"{errors.actual.size} counts")
    lost = 100 * changes(study.baskets, items).suppressed
    yield row(f"{setting}: suppressed", lost, "% of entries", f"{items.number} items are left")
    yield row(f"{setting}: diseases kept", len(surviving(study.baskets, items, study.diseases)), "of 18")
    if setting.promise == "literal":
        policy = Privacy.from_visits(study.visits)
        found = 100 * len(violations(study.baskets, items, policy, setting.k)) / len(policy.itemsets)
        yield row(f"{setting}: still found", found, "% of visits")


def run() -> list[dict[str, Any]]:
    """One row per figure, for the bench report."""
    study, rows, kept = synpuf(), [], {}
    for setting in settings():
        items, seconds = anonymise(study, setting)
        rows += figures(study, setting, items, seconds)
        kept[setting] = len(surviving(study.baskets, items, study.diseases))
    return rows + [line for promise in PROMISES for line in compared(kept, promise)]


def compared(kept: dict[Setting, int], promise: str) -> Iterator[dict[str, Any]]:
    """In how many settings one method keeps more diseases than another.

    Published on other data: CBA 14, UGACLIP 11, ACLIP none. That order in most settings is a target for the plain
    promise; the stronger one leaves so few codes of these long visits that every method loses most diseases.
    """
    triples = [
        (kept[Setting(promise, s.k, "-", "aclip")], number, kept[Setting(promise, s.k, s.groups, "cba")])
        for s, number in kept.items()
        if s.promise == promise and s.method == "ugaclip"
    ]
    most = len(triples) // 2 + 1 if promise == "literal" else None
    more = sum(min(ugaclip, cba) > aclip for aclip, ugaclip, cba in triples)
    at_least = sum(cba >= ugaclip for _, ugaclip, cba in triples)
    strictly = sum(cba > ugaclip for _, ugaclip, cba in triples)
    for what, number, note in (
        ("UGACLIP and CBA keep more than ACLIP", more, ""),
        ("CBA keeps as many as UGACLIP or more", at_least, f"more in {strictly}"),
    ):
        met = None if most is None else number >= most
        yield row(f"SynPUF, {promise}, of {len(triples)} settings: {what}", number, "", note, target=most, met=met)
