"""Files in which being listed is the disclosure, such as the registry of one disease.

Pure functions on arrays: what a file risks (`instance_risk`), a way of publishing it that risks little (`partition`,
`tightened`), and the rules of HIPAA on the same file (`safe_harbor`, `limited_data_set`, `compare`).

>>> import numpy as np
>>> population = {
...     "birth": np.arange("1940-01-01", "1990-01-01", dtype="datetime64[D]"),
...     "sex": np.array(["F", "M"])[np.arange(18263) % 2],
... }
>>> columns = [Quasi("birth", "birth", on="2020-06-01"), Quasi("sex", "category")]
>>> file = np.random.default_rng(1).choice(18263, 100, replace=False)
>>> found = compare(Study.within(columns, population, file))
>>> found.partition.risk.classes >= found.safe_harbor.risk.classes, found.average_ratio < 1
(True, True)
"""

from __future__ import annotations

from querygate.methods.same_disease.instance_risk import InstanceRisk, explain_instance, instance_risk
from querygate.methods.same_disease.part_tree import Rules
from querygate.methods.same_disease.population_parts import Partition, partition, tightened
from querygate.methods.same_disease.quasi_ranges import Cell, Nodes, Quasi, ValueSpan
from querygate.methods.same_disease.safe_harbor_classes import RuleClasses, limited_data_set, safe_harbor
from querygate.methods.same_disease.safe_harbor_comparison import SafeHarborComparison, compare, explain_comparison
from querygate.methods.same_disease.study import Study

__all__ = [
    # what a file risks
    "InstanceRisk",
    "explain_instance",
    "instance_risk",
    # publishing it
    "Quasi",
    "Study",
    "Rules",
    "Cell",
    "Nodes",
    "ValueSpan",
    "Partition",
    "partition",
    "tightened",
    # the yardstick
    "RuleClasses",
    "limited_data_set",
    "safe_harbor",
    "SafeHarborComparison",
    "compare",
    "explain_comparison",
]
