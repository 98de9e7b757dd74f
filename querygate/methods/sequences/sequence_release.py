"""From aligned sequences to a release that was checked: the methods by name, and one way through.

`k`: run(alignment, k). `bins`: run(alignment, bins, k). `limit`: run(alignment), pairs alone. Each gives back the
number of the group of each sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from querygate.core.json_body import JsonValue
from querygate.core.registry import Registry
from querygate.core.types import Ints
from querygate.methods.sequences.alignment import Alignment, generalised
from querygate.methods.sequences.bad_sequences import BadSequences
from querygate.methods.sequences.baselines import binned
from querygate.methods.sequences.closest_first import closest
from querygate.methods.sequences.letter_lattice import DNALA
from querygate.methods.sequences.optimal_pairs import optimal
from querygate.methods.sequences.refine import refined
from querygate.methods.sequences.sequence_check import SequenceCheck, explain_verified, verify
from querygate.methods.sequences.sequence_measures import SequenceMeasures, explain_kept, measure


@dataclass(frozen=True, slots=True)
class SequenceMethod:
    """How to group sequences. `kind` says what `run` takes: see above."""

    run: Callable[..., Ints]
    kind: str
    summary: str


METHODS: Registry[SequenceMethod] = Registry("way to group sequences")
METHODS.register("refined", SequenceMethod(refined, "k", "the closest first, then exchanges that save steps"))
METHODS.register("dnala", SequenceMethod(closest, "k", "the closest first (Malin 2005)"))
METHODS.register("bins", SequenceMethod(binned, "bins", "one group for each bin, given or around sequences far apart"))
METHODS.register("optimal", SequenceMethod(optimal, "limit", "pairs of fewest steps: the limit, for small files"))


@dataclass(frozen=True, slots=True)
class SequenceRelease:
    """Generalised sequences in the order of the originals, what was verified and what was kept."""

    alignment: Alignment
    labels: Ints
    method: str
    verified: SequenceCheck
    kept: SequenceMeasures

    def to_dict(self) -> dict[str, JsonValue]:
        return {
            "method": self.method,
            "lattice": self.alignment.lattice.name,
            "verified": self.verified.to_dict(),
            "kept": self.kept.to_dict(),
        }

    def explain(self) -> str:
        return f"{explain_verified(self.verified)} {explain_kept(self.kept)}"


def release(
    alignment: Alignment, k: int = 2, method: str = "refined", bins: Ints | int | None = None
) -> SequenceRelease:
    """Group, generalise, verify. What does not verify is not given out.

    >>> from querygate.methods.sequences.alignment import of_texts
    >>> made = release(of_texts(["AACA", "TTTT", "GACA", "TTTC"]))
    >>> made.alignment.texts()
    ['RACA', 'TTTY', 'RACA', 'TTTY']
    """
    way = METHODS.get(method)
    if (way.kind == "bins") != (bins is not None):
        raise BadSequences("Bins can only be used with the method bins.", "Use bins with that method only.")
    if way.kind == "limit" and k != 2:
        raise BadSequences("The limit exists for pairs only.", "Use k = 2, or another method.")
    labels = {
        "k": lambda: way.run(alignment, k),
        "bins": lambda: way.run(alignment, bins, k),
        "limit": lambda: way.run(alignment),
    }[way.kind]()
    made = generalised(alignment, labels)
    found = verify(alignment.texts(), made.texts(), k, n_may_be_gap=alignment.lattice is DNALA)
    if not found.holds:
        raise ArithmeticError(explain_verified(found))
    return SequenceRelease(made, labels, method, found, measure(alignment, made))
