"""Randomised values: each record stays, and its values may be others by chance; what is known of many is reconstructed.

Pure: arrays and a generator in, arrays out.
"""

from __future__ import annotations

from querygate.methods.randomise.rank_swap import rank_swapped
from querygate.methods.randomise.reconstruction import reconstructed
from querygate.methods.randomise.small_domains import small_domain_matrix, small_domains
from querygate.methods.randomise.transition import allowed_amplification, invariant, responses, uniform, worst_posterior
from querygate.methods.randomise.transition_check import amplification, worst_known_belief
from querygate.methods.randomise.value_distortion import Noise, certain_width, distortion, distortion_of_spread

__all__ = [
    "allowed_amplification",
    "worst_posterior",
    "uniform",
    "invariant",
    "responses",
    "Noise",
    "distortion",
    "distortion_of_spread",
    "certain_width",
    "small_domains",
    "small_domain_matrix",
    "worst_known_belief",
    "amplification",
    "rank_swapped",
    "reconstructed",
]
