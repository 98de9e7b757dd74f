"""Randomised values: each record stays, and its values may be others by chance; what is known of many is reconstructed.

Pure: arrays and a generator in, arrays out.
"""

from __future__ import annotations

from querygate.methods.randomise.rank_swap import rank_swapped
from querygate.methods.randomise.reconstruction import reconstructed
from querygate.methods.randomise.transition import allowed_amplification, invariant, responses, uniform, worst_posterior
from querygate.methods.randomise.transition_check import amplification

__all__ = [
    "allowed_amplification",
    "worst_posterior",
    "uniform",
    "invariant",
    "responses",
    "amplification",
    "rank_swapped",
    "reconstructed",
]
