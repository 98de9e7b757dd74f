"""Ways to group aligned sequences, by name.

`k`: run(alignment, k). `bins`: run(alignment, bins, k). Each gives back the number of the group of each sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from querygate.core.registry import Registry
from querygate.core.types import Ints
from querygate.methods.sequences.baselines import binned
from querygate.methods.sequences.closest_first import closest
from querygate.methods.sequences.refine import refined


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
