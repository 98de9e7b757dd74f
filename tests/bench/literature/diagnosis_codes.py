"""Diagnosis codes: how many people are unique, what methods keep, on both samples of DE-SynPUF.

Published figures are of 2,762 patients of a hospital with about 6,000 codes (Loukides, Gkoulalas-Divanis, Malin, PNAS
2010; tutorial at SIAM Data Mining 2012), which nobody outside has: they give the order, not the number. k = 5; somebody
knows two codes (k^m), or all codes of a visit (whole sets). Everything that is measured is checked by what shares no
code with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.cba import cba
from querygate.methods.code_lists.code_policies import CodePrivacy, CodeUtility
from querygate.methods.code_lists.confidence import together
from querygate.methods.code_lists.hidden_patterns import hidden_patterns
from querygate.methods.code_lists.km.km import km_anonymous
from querygate.methods.code_lists.km.local_km import local_km
from querygate.methods.code_lists.km.vertical_km import vertical_km
from querygate.methods.code_lists.least_frequent import least_frequent
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.local_suppression import suppressed_locally
from querygate.methods.code_lists.losses import changes, frequent_sets, workload_errors
from querygate.methods.code_lists.rho_uncertainty import rho_uncertain
from querygate.methods.code_lists.sensitive_rules import SensitiveRule
from querygate.methods.code_lists.subtrees import halved
from querygate.methods.code_lists.td_control import td_control
from querygate.methods.code_lists.ugaclip import aclip, ugaclip
from querygate.methods.disassociation import Disassociated, disassociate, find_faults
from tests.bench.codes import Study, synpuf
from tests.bench.literature import figure
from tests.unit.methods.code_lists.brute import held_sets
from tests.unit.methods.code_lists.case_counts import surviving
from tests.unit.methods.code_lists.worlds import from_visits
from tests.unit.methods.disassociation.record_support import support

K, M = 5, 2


def rows() -> list[dict[str, Any]]:
    return [line for sample in (1, 2) for line in _of(synpuf(sample))]


def _of(study: Study) -> Iterator[dict[str, Any]]:
    name = f"SynPUF {study.sample}"
    lists = Counter(map(frozenset, study.records))
    alone = sum(1 for number in lists.values() if number == 1) / len(study.records)
    yield figure(f"{name}: unique by all codes", 100 * alone, "%", "96.5 (other patients)", met=alone > 0.9)
    yield from _diseases(study, name)
    yield from _known_pairs(study, name)
    yield from _inferred(study, name)
    yield from _patterns(study, name)


def _diseases(study: Study, name: str) -> Iterator[dict[str, Any]]:
    """Diseases whose cases are counted exactly, where whole visits are known."""
    privacy = from_visits(study.visits).literal()
    kept = {
        "CBA": cba(study.baskets, K, privacy, study.utilities["diseases first"]),
        "UGACLIP": ugaclip(study.baskets, K, privacy, study.utilities["diseases first"]),
        "ACLIP": aclip(study.baskets, K, privacy, study.utilities["diseases"]),
    }
    published = {"CBA": "14 of 18", "UGACLIP": "11 of 18", "ACLIP": "0 of 18"}
    for method, items in kept.items():
        number = len(surviving(study.baskets, items, study.diseases))
        yield figure(f"{name}: diseases kept, {method}", number, "of 18", f"{published[method]} (other patients)")


def _known_pairs(study: Study, name: str) -> Iterator[dict[str, Any]]:
    """What k^m leaves of counts, by method."""
    baskets, privacy = study.baskets, CodePrivacy((), upto=M)
    made: dict[str, Items | LocalItems] = {
        "CBA": cba(baskets, K, privacy, study.utilities["diseases"]),
        "UGACLIP": ugaclip(baskets, K, privacy, study.utilities["diseases"]),
        "Apriori, halves": km_anonymous(baskets, halved(study.levels), K, M),
        "VPA, halves": vertical_km(baskets, halved(study.levels), K, M),
        "LRA, halves": local_km(baskets, halved(study.levels), K, M),
        "local suppression": suppressed_locally(baskets, study.levels, K, M),
        "global suppression": least_frequent(baskets, K, privacy, CodeUtility(())),
    }
    for method, recoding in made.items():
        held = recoding.publish(baskets) if isinstance(recoding, Items) else recoding.published
        assert not [one for one, number in held_sets(held.lists(), M).items() if 0 < number < K]
        changed = changes(baskets, recoding)
        exact = 1 - changed.suppressed - changed.generalised
        yield figure(
            f"{name}: AvgRE, {method}", 100 * workload_errors(baskets, recoding).mean, "%", "none for k^m here"
        )
        yield figure(f"{name}: entries as they were, {method}", 100 * exact, "%", "none for k^m here")
    yield from _chunks(study, name, frequent_sets(baskets))


def _inferred(study: Study, name: str) -> Iterator[dict[str, Any]]:
    """rho-uncertainty (share 0.3, two codes known) of twenty rather frequent codes: what each way leaves unchanged."""
    baskets = study.baskets
    secret = np.argsort(-baskets.supports(), kind="stable")[20:40]
    made = {
        "suppression": rho_uncertain(baskets, secret, 0.3, M),
        "TDControl": td_control(baskets, secret, 0.3, M, study.levels),
    }
    lost = {method: _lost(baskets, items) for method, items in made.items()}
    for method, share in lost.items():
        met = share <= lost["suppression"] if method == "TDControl" else None
        published = "TDControl loses less than suppression (web data)"
        yield figure(f"{name}: loss for rho-uncertainty, {method}", 100 * share, "%", published, met=met)


def _patterns(study: Study, name: str) -> Iterator[dict[str, Any]]:
    """The ten surest rules between two codes that fifty records have, hidden: what is told of them, and of all else."""
    baskets = study.baskets
    joint = together(baskets, baskets).toarray()
    sure = np.where(joint >= 50, joint / np.maximum(1, np.diag(joint))[:, None], 0.0)
    np.fill_diagonal(sure, 0.0)
    best = np.argsort(-sure, axis=None, kind="stable")[:10]
    rules = [
        SensitiveRule((int(one),), (int(other),))
        for one, other in zip(*np.unravel_index(best, sure.shape), strict=True)
    ]
    made = hidden_patterns(baskets, rules, K, M, 0.1)
    told = made.published.lists()
    found = max(_confidence(told, rule) for rule in rules)
    before = 100 * float(sure.flat[best].mean())
    yield figure(
        f"{name}: surest of ten hidden rules",
        100 * found,
        "%",
        f"below a threshold, here 10; {before:.0f} before",
        met=found <= 0.1,
    )
    changed = changes(baskets, made)
    exact = 1 - changed.suppressed - changed.generalised
    yield figure(
        f"{name}: entries as they were, ten rules hidden", 100 * exact, "%", "little else changes (other data)"
    )


def _confidence(records: list[list[int]], rule: SensitiveRule) -> float:
    """Item i is code i, where it is told."""
    known = sum(rule.known[0] in held for held in records)
    return sum({*rule.known, *rule.secret} <= set(held) for held in records) / max(1, known)


def _lost(baskets: Baskets, items: Items) -> float:
    """Mean over entries of the share of codes in their item; 1 where suppressed."""
    sizes = np.bincount(items.of[items.of >= 0], minlength=1)[items.of]
    share = np.where(items.of < 0, 1.0, np.where(sizes > 1, sizes / baskets.size, 0.0))
    return float(share[baskets.members].mean())


def _chunks(study: Study, name: str, asked: Baskets) -> Iterator[dict[str, Any]]:
    records = [frozenset(one) for one in study.records]
    released = disassociate(records, K, M)
    assert not find_faults(released, records).any
    errors, widths = [], []
    for one in asked.lists():
        codes = frozenset(study.texts(one))
        truth, found = sum(codes <= record for record in records), support(released, codes)
        assert found.low <= truth <= found.high
        errors.append(abs(found.expected - truth) / truth)
        widths.append((found.high - found.low) / truth)
    yield figure(f"{name}: AvgRE, disassociation", 100 * float(np.mean(errors)), "%", "below the others (web data)")
    yield figure(f"{name}: range of counts, disassociation", 100 * float(np.mean(widths)), "% of count", "none")
    yield figure(f"{name}: entries in chunks, disassociation", 100 * _counted(released, records), "%", "none")


def _counted(released: Disassociated, records: list[frozenset[str]]) -> float:
    chunks = [chunk for joint in released.joints for chunk in joint.shared]
    chunks += [chunk for joint in released.joints for cluster in joint.clusters for chunk in cluster.chunks]
    return sum(len(part) for chunk in chunks for part in chunk.parts) / sum(map(len, records))
