"""Who would be found in the allele frequencies of a column of sequences, with and without a guard."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from querygate.custody.policy import Policy
from querygate.custody.risk_report.risk_body import AlleleRisk, MembershipPower
from querygate.methods.sequences import (
    Alignment,
    BadSequences,
    FrequencyGuard,
    SiteFrequencies,
    measured_power,
    most_power,
    of_texts,
    released_sites,
    site_frequencies,
)


def allele_risks(policy: Policy, raw: pa.Table) -> Iterator[AlleleRisk]:
    """The risk of each column of aligned sequences."""
    guard = FrequencyGuard(k=policy.k)
    for column in policy.named("sequence"):
        if column.name not in raw.column_names:
            continue
        try:
            alignment = read_alignment(raw[column.name])
        except BadSequences:
            continue
        yield find_allele_risk(column.name, alignment, guard)


def read_alignment(raw: pa.ChunkedArray) -> Alignment:
    """The sequences of everybody who has one. BadSequences where they are not aligned DNA, or nobody has one."""
    texts = [text.strip() for text in raw.cast(pa.string()).to_pylist() if text is not None and text.strip()]
    return of_texts(texts)


def find_allele_risk(name: str, alignment: Alignment, guard: FrequencyGuard) -> AlleleRisk:
    """Random draws are the same each time, so the same records give the same report."""
    found = site_frequencies(alignment)
    return AlleleRisk(
        name,
        alignment.sequences,
        _power(alignment, found, None),
        _power(alignment, found, guard),
        guard.power,
        guard.rare,
    )


def _power(alignment: Alignment, found: SiteFrequencies, guard: FrequencyGuard | None) -> MembershipPower:
    sites = found.varied if guard is None else released_sites(found, guard)
    tried = measured_power(alignment, guard, np.random.default_rng(0))
    most = most_power(found.known[sites])
    if tried is None:
        return MembershipPower(int(sites.size), most, None, None)
    return MembershipPower(int(sites.size), most, tried.homer, tried.likelihood_ratio)


def explain_alleles(risk: AlleleRisk) -> tuple[str, ...]:
    """The risk in sentences, for those who decide."""
    return (
        f"If the frequencies of alleles of {risk.column} were released at all {risk.unguarded.sites:,} sites where "
        f"people differ, {_found(risk.unguarded)}.",
        f"At the {risk.guarded.sites:,} sites that a guard lets pass (alleles of {100 * risk.rare:g} % or more, power "
        f"{100 * risk.bound:g} % or less), {_found(risk.guarded)}. Guessing finds 5 %.",
    )


def _found(power: MembershipPower) -> str:
    if not power.sites:
        return "nothing would be revealed"
    words = (
        "somebody who knows people's sequences, and exactly how frequent alleles are in the population, would "
        f"recognise {100 * power.most:.1f} % of those included, mistaking 5 % of others for them"
    )
    if power.homer is None or power.likelihood_ratio is None:
        return words
    return (
        f"{words}; tried on halves of these records, Homer's test found {100 * power.homer:.1f} % and the likelihood "
        f"ratio {100 * power.likelihood_ratio:.1f} %"
    )
