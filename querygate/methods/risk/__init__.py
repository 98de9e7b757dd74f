"""What an extract risks: of being found, of what it gives away, and of synthetic records that follow real ones.

Pure measures on arrays: sizes of classes, people of a register, codes, numbers. They share no code with the methods
that make extracts, so that they can judge them. Each has a `to_dict` for the report and an `explain_*` that says it in
one sentence to a review board.

>>> import numpy as np
>>> explain_attackers(attack(np.array([20, 25, 30])))
'Somebody known to be among the 75 records is found with a probability of at most 1 in 20; guessing for all of them \
gets about 3 right (4.0 %).'
"""

from __future__ import annotations

from querygate.methods.risk.attackers import THRESHOLDS, Attack, Attackers, attack, explain_attackers
from querygate.methods.risk.attribute_disclosure import (
    Disclosure,
    NumbersTold,
    ValuesTold,
    explain_numbers_told,
    explain_values_told,
    numbers_told,
    values_told,
)
from querygate.methods.risk.drivers import Driver, class_labels, class_sizes, explain_drivers, leave_one_out
from querygate.methods.risk.kept_values import KeptValues, explain_kept, kept_values
from querygate.methods.risk.linkage import Linkage, linkage
from querygate.methods.risk.membership_inference import explain_membership, membership
from querygate.methods.risk.nearest import explain_nearness, nearness
from querygate.methods.risk.record_space import PointRecords
from querygate.methods.risk.uniqueness import (
    PopulationUniqueness,
    explain_uniqueness,
    population_uniqueness,
    sample_uniqueness,
)

__all__ = [
    # of being found
    "THRESHOLDS",
    "Attack",
    "Attackers",
    "attack",
    "explain_attackers",
    "Driver",
    "class_labels",
    "class_sizes",
    "explain_drivers",
    "leave_one_out",
    # of being alone in the population
    "PopulationUniqueness",
    "explain_uniqueness",
    "population_uniqueness",
    "sample_uniqueness",
    # of what a class gives away
    "NumbersTold",
    "Disclosure",
    "ValuesTold",
    "explain_numbers_told",
    "explain_values_told",
    "numbers_told",
    "values_told",
    # of synthetic records
    "PointRecords",
    "explain_nearness",
    "nearness",
    "explain_membership",
    "membership",
    "Linkage",
    "linkage",
    "KeptValues",
    "explain_kept",
    "kept_values",
]
