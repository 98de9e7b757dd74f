"""Noisy answers: mechanisms, how much noise is needed, what it costs, and what may be done with it afterwards.

Pure: numbers in, numbers out; random bits arrive as an argument. All noise is drawn in whole numbers and fractions.

>>> import secrets
>>> noisy = MECHANISMS.get("geometric").release(400, sensitivity=1, epsilon=0.1, entropy=secrets.SystemRandom())
>>> noisy.scale, noisy.high95 - noisy.low95
(10.0, 60.0)
"""

from __future__ import annotations

from querygate.methods.dp.accountant import ComposedAccounting, pure, share
from querygate.methods.dp.accuracy import explain_accuracy, needed_epsilon
from querygate.methods.dp.consistency import consistent, non_negative
from querygate.methods.dp.marginal_tree import MarginalTree, Price, measure, records
from querygate.methods.dp.mechanisms import DEFAULT, MECHANISMS, Mechanism, Noisy
from querygate.methods.dp.sampler import Entropy
from querygate.methods.dp.selection import noisy_quantile
from querygate.methods.dp.sensitivity import Grid, mean_cost, noisy_mean, noisy_sum

__all__ = [
    # mechanisms
    "DEFAULT",
    "MECHANISMS",
    "Entropy",
    "Mechanism",
    "Noisy",
    "noisy_quantile",
    # how much noise
    "Grid",
    "noisy_mean",
    "noisy_sum",
    # what it costs
    "ComposedAccounting",
    "mean_cost",
    "pure",
    "share",
    # a table of marginals
    "MarginalTree",
    "Price",
    "measure",
    "records",
    # before and after
    "consistent",
    "explain_accuracy",
    "needed_epsilon",
    "non_negative",
]
