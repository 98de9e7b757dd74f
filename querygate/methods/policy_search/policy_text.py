"""A policy in words, and values as it publishes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from querygate.core.count_text import counted
from querygate.methods.policy_search.policy_lattice import LatticeAttribute, LatticePolicy, label
from querygate.methods.policy_search.policy_risk import PolicyRisk
from querygate.methods.policy_search.search import PolicySolution, SearchResult


def rules(policy: LatticePolicy) -> tuple[str, ...]:
    """What a policy does, a rule for each attribute that it changes.

    >>> from querygate.methods.policy_search.policy_lattice import PolicyLattice, whole_numbers
    >>> ages, sex = whole_numbers("age", 50, 54), LatticeAttribute("sex", ("F", "M"))
    >>> lattice = PolicyLattice((ages, sex, LatticeAttribute("race", ("White", "Black", "Asian"))))
    >>> rules(lattice.policy("1101" + "0" + "01"))
    ('ages 52-53 combined', 'sex suppressed', 'race White/Black combined')
    """
    found = []
    for attribute in policy.lattice.attributes:
        spans = policy.spans(attribute.name)
        if len(spans) == 1 and len(attribute) > 1:
            found.append(f"{attribute.name} suppressed")
            continue
        merged = [label(attribute, start, end) for start, end in spans if end - start > 1]
        if merged:
            found.append(f"{_several(attribute)} {', '.join(merged)} combined")
    return tuple(found)


def _several(attribute: LatticeAttribute) -> str:
    return f"{attribute.name}s" if attribute.kind == "number" and attribute.name.isalpha() else attribute.name


def explain(solution: PolicySolution, yardstick: float | None = None) -> str:
    """One sentence for those who decide; the yardstick is the risk of Safe Harbor on the same data.

    >>> from querygate.methods.policy_search.policy_lattice import PolicyLattice, whole_numbers
    >>> lattice = PolicyLattice((whole_numbers("age", 50, 54), LatticeAttribute("sex", ("F", "M"))))
    >>> explain(PolicySolution(lattice.policy("11011"), 0.875), 0.909)
    'ages 52-53 combined; all else unchanged; risk 0.875 (Safe Harbor: 0.909)'
    """
    told = list(rules(solution.policy))
    whole = sum(len(attribute) > 1 for attribute in solution.policy.lattice.attributes)
    rest = [] if len(told) == whole else ["all else unchanged" if told else "all unchanged"]
    risk = f"risk {solution.risk:.3g}" + ("" if yardstick is None else f" (Safe Harbor: {yardstick:.3g})")
    return "; ".join([*told, *rest, risk])


def explain_search(found: SearchResult) -> str:
    """What a search did, in one sentence."""
    if not found.solutions:
        return f"Even a release without any of the attributes has a risk above {found.threshold:.3g}."
    best = found.best
    if len(best) == 1 and "0" not in best[0].policy.bits:
        return f"All values can be published unchanged: the risk of {best[0].risk:.3g} is within {found.threshold:.3g}."
    return (
        f"{len(best)} of {len(found.solutions)} policies found with a risk of at most {found.threshold:.3g} keep more "
        f"detail than any other of them in some way; {found.distinct:,} policies were measured."
    )


def explain_measured(measured: PolicyRisk) -> str:
    """The risk of a policy, and how far its register can be trusted, for a review board.

    >>> explain_measured(PolicyRisk(0.001, 0.25, 4, 454, 30162, 0, 12))
    'A person of the population is found with a probability of 0.001 on average over 30,162 records, and at most 1 in \
4; 12 records are in classes with fewer people in the register than in the file, and count as if it had as many.'
    """
    text = (
        f"A person of the population is found with a probability of {measured.risk:.3g} on average over "
        f"{measured.records:,} records, and at most 1 in {1 / measured.greatest:,.0f}"
    )
    few = measured.unmatched + measured.short
    if not few:
        return text + "."
    return (
        f"{text}; {counted(few, 'record is', 'records are')} in classes with fewer people in the register than in the "
        "file, and count as if it had as many."
    )


def recode(policy: LatticePolicy, columns: Mapping[str, Sequence[object]]) -> dict[str, NDArray[np.str_]]:
    """Columns of values as the policy publishes them; each must be an attribute of its lattice.

    >>> from querygate.methods.policy_search.policy_lattice import PolicyLattice, whole_numbers
    >>> lattice = PolicyLattice((whole_numbers("age", 50, 54), LatticeAttribute("race", ("White", "Black", "Asian"))))
    >>> made = recode(lattice.policy("1101" + "01"), {"age": [52, 50, 53], "race": ["Asian", "Black", "White"]})
    >>> made["age"].tolist(), made["race"].tolist()
    (['52-53', '50', '52-53'], ['Asian', 'White/Black', 'White/Black'])
    """
    made = {}
    for name, column in columns.items():
        attribute = policy.lattice.attributes[policy.lattice.place(name)]
        group = np.repeat(np.arange(len(policy.spans(name))), [end - start for start, end in policy.spans(name)])
        made[name] = np.array(policy.labels(name))[group[attribute.encode(column)]]
    return made
