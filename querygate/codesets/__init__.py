"""Sets of codes: diagnoses, drugs, purchases. Each code becomes a set of codes that contains it, so that nobody is
found by the codes they are known to have.

Pure: arrays in, arrays out.
"""

from querygate.codesets.baskets import SUPPRESSED, Baskets, Items
from querygate.codesets.diseases import CaseCounts, Disease, case_counts, gwas_diseases, surviving
from querygate.codesets.km import cut_loss
from querygate.codesets.measures import (
    Changes,
    UtilityLoss,
    WorkloadErrors,
    changes,
    frequent_sets,
    published_loss,
    workload_errors,
)
from querygate.codesets.methods import METHODS, Method
from querygate.codesets.normalise import Normalised, normalise
from querygate.codesets.policies import Privacy, Utility, violations
from querygate.codesets.recoded import Recoded
from querygate.codesets.reidentification import Reidentification, reidentification
from querygate.codesets.relational import CodesInClasses
from querygate.codesets.rules import Rule
from querygate.codesets.subtrees import halved
from querygate.codesets.systems import code_tree, read_tree, tree_of
from querygate.codesets.tree import CodeTree
from querygate.codesets.unprotectable import Unprotectable

__all__ = [
    "METHODS",
    "SUPPRESSED",
    "Baskets",
    "Items",
    "Method",
    "Privacy",
    "Utility",
    "violations",
    "CaseCounts",
    "Disease",
    "case_counts",
    "gwas_diseases",
    "surviving",
    "Changes",
    "UtilityLoss",
    "WorkloadErrors",
    "changes",
    "frequent_sets",
    "published_loss",
    "workload_errors",
    "Normalised",
    "normalise",
    "Reidentification",
    "reidentification",
    "code_tree",
    "read_tree",
    "tree_of",
    "CodeTree",
    "CodesInClasses",
    "Recoded",
    "Rule",
    "Unprotectable",
    "cut_loss",
    "halved",
]
