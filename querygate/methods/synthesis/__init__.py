"""Condensed records: synthetic ones, made cluster by cluster, that keep what a recipient's model needs.

Pure: arrays in, arrays out; entropy arrives as an argument.

>>> import numpy as np
>>> age = Variable("age", "integer", 0, 120)
>>> data = Microdata((age,), {"age": np.array([30.0, 31, 35, 60, 64, 66])})
>>> made = condense(data, 3, rng=np.random.default_rng(1))
>>> np.bincount(made.labels), float(made.data.columns["age"].sum())
(array([3, 3]), 286.0)
"""

from querygate.methods.synthesis.condense import condense
from querygate.methods.synthesis.microdata import CondensedRecords, Microdata, Uncondensable, Variable, rare_columns
from querygate.methods.synthesis.synthesis_methods import METHODS

__all__ = [
    "METHODS",
    "CondensedRecords",
    "Microdata",
    "Uncondensable",
    "Variable",
    "condense",
    "rare_columns",
]
