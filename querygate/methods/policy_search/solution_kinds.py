"""A hundred solutions as a handful of kinds: what is given up, by attribute and by part of its range.

A record loses of an attribute (values of its group - 1) / (values of the attribute - 1), as in NCP: 0 if its value
stands alone, 1 if nothing is shown. A long attribute is seen in parts that hold about equally many records of the file
each, so that a policy that joins the young and one that joins the old are of different kinds. Losses of a part are
scaled by the largest among the solutions, so that a long attribute does not hide behind a short one. Kinds ask *where*
a policy gives up detail, so its profile is the share of each part in its scaled loss; profiles are joined from the
bottom up by their average distance, which leaves the few that are like no other a kind of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from querygate.core.count_text import counted
from querygate.core.types import Floats, Ints
from querygate.methods.policy_search.policy_lattice import LatticeAttribute, LatticePolicy, label
from querygate.methods.policy_search.policy_risk import LatticeCubes
from querygate.methods.policy_search.search import PolicySolution

LONG, PARTS = 8, 4


@dataclass(frozen=True, slots=True)
class ValueRun:
    """Neighbouring values of an attribute: from `start` to before `end`."""

    attribute: int
    start: int
    end: int
    name: str


@dataclass(frozen=True)
class SolutionKind:
    """Solutions that give up much the same, and the one in their middle.

    `touched` counts the solutions that join values of a part, the most first; `losses` are means over the solutions.
    """

    representative: PolicySolution
    members: tuple[PolicySolution, ...]
    touched: dict[str, int]
    losses: dict[str, float]


def parts(study: LatticeCubes) -> tuple[ValueRun, ...]:
    """The attributes, long ones in parts of about equally many records."""
    found = []
    for place, attribute in enumerate(study.lattice.attributes):
        cuts = [0, *_cuts(attribute, _marginal(study, place)), len(attribute)]
        for start, end in pairwise(cuts):
            whole = start == 0 and end == len(attribute)
            name = attribute.name if whole else f"{attribute.name} {label(attribute, start, end)}"
            found.append(ValueRun(place, start, end, name))
    return tuple(found)


def losses(study: LatticeCubes, policy: LatticePolicy) -> Floats:
    """What the records of each part lose on average."""
    lost = []
    for attribute in study.lattice.attributes:
        sizes = np.array([end - start for start, end in policy.spans(attribute.name)])
        lost.append(np.repeat(sizes - 1, sizes) / max(len(attribute) - 1, 1))
    found = []
    for part in parts(study):
        records = _marginal(study, part.attribute)[part.start : part.end]
        found.append(lost[part.attribute][part.start : part.end] @ records / max(records.sum(), 1))
    return np.array(found)


def kinds(study: LatticeCubes, solutions: Sequence[PolicySolution], count: int = 6) -> tuple[SolutionKind, ...]:
    """At most so many kinds of solutions, the largest first."""
    if not solutions:
        return ()
    lost = np.array([losses(study, one.policy) for one in solutions])
    scaled = lost / np.where(lost.max(axis=0) > 0, lost.max(axis=0), 1)
    total = scaled.sum(axis=1, keepdims=True)
    profiles = scaled / np.where(total > 0, total, 1)
    joined = fcluster(linkage(profiles, "average"), count, "maxclust") if len(solutions) > 1 else np.array([1])
    found = [_kind(study, solutions, lost, profiles, np.flatnonzero(joined == at)) for at in np.unique(joined)]
    return tuple(sorted(found, key=lambda kind: -len(kind.members)))


def explain_kind(kind: SolutionKind) -> str:
    """What a kind gives up, in one sentence; what fewer than a fifth of its policies touch is not named."""
    several = len(kind.members)
    who = counted(several, "policy merges", "policies merge")
    named = [(name, count) for name, count in kind.touched.items() if 5 * count >= several]
    if not named:
        return f"{who} no values that occur in the records."
    told = [name if count == several else f"{name} ({count} of them)" for name, count in named]
    return f"{who} values of {', '.join(told)}."


def _kind(
    study: LatticeCubes, solutions: Sequence[PolicySolution], lost: Floats, profiles: Floats, members: Ints
) -> SolutionKind:
    apart = np.linalg.norm(profiles[members, None] - profiles[None, members], axis=2).sum(axis=1)
    # Of those equally in the middle the one that loses least.
    middle = members[np.lexsort((lost[members].sum(axis=1), apart.round(9)))[0]]
    touched, mean = (lost[members] > 0).sum(axis=0), lost[members].mean(axis=0)
    order = [place for place in np.lexsort((-mean, -touched)) if touched[place]]
    names = [part.name for part in parts(study)]
    return SolutionKind(
        solutions[middle],
        tuple(solutions[at] for at in members),
        {names[place]: int(touched[place]) for place in order},
        {names[place]: float(mean[place]) for place in order},
    )


def _marginal(study: LatticeCubes, place: int) -> Ints:
    records: Ints = study.file.sum(axis=tuple(axis for axis in range(study.file.ndim) if axis != place))
    return records


def _cuts(attribute: LatticeAttribute, records: Ints) -> list[int]:
    if len(attribute) <= LONG:
        return []
    shares = np.cumsum(records) / records.sum()
    inner = np.searchsorted(shares, np.arange(1, PARTS) / PARTS) + 1
    return sorted({int(cut) for cut in inner if 0 < cut < len(attribute)})
