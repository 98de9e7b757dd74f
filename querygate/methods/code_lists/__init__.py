"""Sets of codes: diagnoses, drugs, purchases. Each code becomes a set of codes that contains it, so that nobody is
found by the codes they are known to have.

Pure: arrays in, arrays out.
"""

from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets, Items
from querygate.methods.code_lists.catalogue import METHODS, Method
from querygate.methods.code_lists.code_policies import Privacy, Utility, violations
from querygate.methods.code_lists.code_tree import CodeTree
from querygate.methods.code_lists.diseases import CaseCounts, Disease, case_counts, gwas_diseases, surviving
from querygate.methods.code_lists.km import cut_loss
from querygate.methods.code_lists.local_items import Recoded
from querygate.methods.code_lists.losses import (
    Changes,
    UtilityLoss,
    WorkloadErrors,
    changes,
    frequent_sets,
    published_loss,
    workload_errors,
)
from querygate.methods.code_lists.normalise import Normalised, normalise
from querygate.methods.code_lists.reidentification import Reidentification, reidentification
from querygate.methods.code_lists.relational import CodesInClasses
from querygate.methods.code_lists.sensitive_rules import Rule
from querygate.methods.code_lists.subtrees import halved
from querygate.methods.code_lists.systems import code_tree, read_tree, tree_of
from querygate.methods.code_lists.unprotectable import Unprotectable

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
