"""The risk of a policy: how well the records of a file are told apart from the people of a population.

Risk(D, P) = sum over records of (1/g)^gamma, divided by |D|, where g is the number of people who match the record under
the policy (Benitez, Loukides, Malin 2010; gamma = 1). Both the file and the population are cubes of counts, an axis for
each attribute, so a policy costs sums along runs and neither records nor people are looked at again.

*Registers are incomplete.* The people of the register and those of the file are all people, so of those who match there
are at least max(p, f): p of the register, f records of the class. g is that maximum. Whoever the register leaves out
makes a policy look riskier than it is, never safer; somebody whom nobody in the register matches counts 1/f and not, as
for an attacker who has this register alone, 0. (A register of *other* people can mislead either way, and the threshold
itself is a risk on the same register: `unmatched` and `short` of `PolicyRisk` tell how far to trust it.)

*Attackers need not look for everybody alike.* With `interest`, a weight for each record, the risk is the mean of 1/g by
these weights: whoever is after patients with HIV looks for those. Each term falls with generalisation as before.

*Generalising never raises the risk.* Merging classes with (f1, p1) and (f2, p2) gives g = max(f1 + f2, p1 + p2), and
since counts are not negative g >= max(f1, p1) and g >= max(f2, p2). For gamma >= 0 each record of either class
therefore counts (1/g)^gamma, which is no more than before; records of other classes count what they did. A
generalisation is a sequence of such merges. (With 0 for those whom nobody matches this would fail: merged with others
they would count.) In floating point the sums are taken in another order, so two risks may differ in the last places: a
policy is held to be within a threshold up to a relative `SLACK`.

>>> import numpy as np
>>> from querygate.methods.policy_search.policy_lattice import PolicyLattice, whole_numbers
>>> lattice = PolicyLattice((whole_numbers("age", 50, 53),))
>>> risk(np.array([1, 0, 2, 1]), np.array([10, 10, 4, 1]), lattice.finest)
0.4
>>> risk(np.array([1, 0, 2, 1]), np.array([10, 10, 4, 1]), lattice.policy("110"))
0.175
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.json_body import JsonValue, to_json
from querygate.core.types import Bools, Floats, Ints
from querygate.methods.policy_search.policy_lattice import LatticePolicy, PolicyLattice

SLACK = 1e-12
KNOWN = 2**22
"""How many numbers a study remembers of ways to merge all but the longest axis: 32 MB."""


@dataclass(frozen=True, slots=True)
class PolicyRisk:
    """What a policy risks, and how the register stands to the file."""

    risk: float
    greatest: float  # the chance of the record that is found most easily
    k_map: int  # the fewest people of the register who match a record
    classes: int
    records: int
    unmatched: int  # records that nobody in the register matches
    short: int  # records of classes that fewer people match than there are records

    def to_dict(self) -> dict[str, JsonValue]:
        return to_json(self)


class LatticeCubes:
    """A file and a population as cubes over one lattice, ready to measure policies."""

    def __init__(
        self,
        lattice: PolicyLattice,
        file: Ints,
        population: Ints,
        gamma: float = 1.0,
        interest: Floats | None = None,
    ) -> None:
        if file.shape != lattice.shape or population.shape != lattice.shape:
            raise ValueError(f"both cubes must have the shape {lattice.shape}")
        if min(file.min(), population.min()) < 0 or not file.any():
            raise ValueError("counts must not be negative, and the file must have a record")
        if not gamma >= 0:
            raise ValueError("gamma must not be negative")
        self.lattice, self.gamma, self.records = lattice, gamma, int(file.sum())
        self.file, self.population = file, population
        # The longest axis last: searches change its boundaries most, and what the others merge is kept (`_summed`).
        # Counts are whole and far below 2^53, so sums and their differences are exact in floating point.
        self._last = int(np.argmax(lattice.shape))
        self._interest = interest is not None
        cubes = [file, population] if interest is None else [file, population, interest]
        self._both = np.moveaxis(np.stack(cubes).astype(np.float64), self._last + 1, -1)
        self._known: dict[bytes, Floats] = {}

    def risk(self, policy: LatticePolicy) -> float:
        return self.risk_of(policy.kept)

    def risk_of(self, kept: Bools) -> float:
        """The risk of the policy that keeps these boundaries."""
        records, people, *wanted = self._planes(kept)
        among = np.maximum(np.maximum(records, people), 1.0)
        if self.gamma != 1.0:
            among **= self.gamma
        sought = wanted[0] if wanted else records
        return float((sought / among).sum() / sought.sum())

    def measure(self, policy: LatticePolicy) -> PolicyRisk:
        records, people, *_ = self._planes(policy.kept)
        records, people = records[records > 0], people[records > 0]
        among = np.maximum(records, people)
        return PolicyRisk(
            risk=self.risk(policy),
            greatest=float((1 / among**self.gamma).max()),
            k_map=int(people.min()),
            classes=records.size,
            records=self.records,
            unmatched=int(records[people == 0].sum()),
            short=int(records[(people > 0) & (people < records)].sum()),
        )

    def _planes(self, kept: Bools) -> tuple[Floats, ...]:
        """Records, people, and the interest in records, if it is not the same in all, of each class: differences of
        running sums at the boundaries of the longest axis.
        """
        place = self.lattice.places[self._last]
        ends = np.ones(place.stop - place.start + 2, dtype=np.bool_)
        ends[1:-1] = kept[place]
        at = self._summed(kept, place).take(np.flatnonzero(ends), axis=1)
        counts = at[:, 1:] - at[:, :-1]
        return tuple(np.split(counts, 3 if self._interest else 2))

    def _summed(self, kept: Bools, last: slice) -> Floats:
        """What the other axes merge, summed along the longest one; rows of the file, then rows of the population."""
        key = kept[: last.start].tobytes() + kept[last.stop :].tobytes()
        known = self._known.get(key)
        if known is None:
            both = self._both
            others = [place for axis, place in enumerate(self.lattice.places) if axis != self._last]
            for axis, place in enumerate(others, 1):
                if not kept[place].all():
                    both = np.add.reduceat(both, np.concatenate(([0], np.flatnonzero(kept[place]) + 1)), axis=axis)
            known = np.zeros((both[..., 0].size, both.shape[-1] + 1))
            np.cumsum(both.reshape(len(known), -1), axis=1, out=known[:, 1:])
            if (len(self._known) + 1) * known.size > KNOWN:
                self._known.clear()
            self._known[key] = known
        return known


def risk(file: Ints, population: Ints, policy: LatticePolicy, gamma: float = 1.0) -> float:
    """Of one policy; for many, make one `LatticeCubes`."""
    return LatticeCubes(policy.lattice, file, population, gamma).risk(policy)


def within(found: float, threshold: float) -> bool:
    """Whether a risk is no more than the threshold, up to rounding."""
    return found <= threshold * (1 + SLACK)


def cube(
    lattice: PolicyLattice, columns: Mapping[str, Sequence[object]], counts: Sequence[int] | Ints | None = None
) -> Ints:
    """Records of columns of values counted over a lattice; a table of people has a count in each row.

    >>> from querygate.methods.policy_search.policy_lattice import LatticeAttribute
    >>> lattice = PolicyLattice((LatticeAttribute("sex", ("F", "M")), LatticeAttribute("race", ("a", "b"))))
    >>> cube(lattice, {"sex": ["F", "F", "M"], "race": ["a", "a", "b"]}).tolist()
    [[2, 0], [0, 1]]
    """
    codes = [attribute.encode(columns[attribute.name]) for attribute in lattice.attributes]
    found = np.zeros(lattice.shape, dtype=np.int64)
    np.add.at(found, tuple(codes), 1 if counts is None else np.asarray(counts, dtype=np.int64))
    return found
