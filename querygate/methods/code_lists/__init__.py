"""Sets of codes: diagnoses, drugs, purchases. Each code becomes a set of codes that contains it, so that nobody is
found by the codes they are known to have.

Pure: arrays in, arrays out.
"""

from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets, Items
from querygate.methods.code_lists.catalogue import METHODS, CodeMethod
from querygate.methods.code_lists.code_policies import CodePrivacy, CodeUtility
from querygate.methods.code_lists.code_tree import CodeTree
from querygate.methods.code_lists.diseases import CaseCounts, Disease, case_counts, gwas_diseases, surviving
from querygate.methods.code_lists.km import cut_loss
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.losses import (
    Changes,
    UtilityLoss,
    WorkloadErrors,
    changes,
    frequent_sets,
    published_loss,
    workload_errors,
)
from querygate.methods.code_lists.normalise import NormalisedCodes, normalise
from querygate.methods.code_lists.reidentification import Reidentification, reidentification
from querygate.methods.code_lists.relational import CodesInClasses
from querygate.methods.code_lists.sensitive_rules import SensitiveRule
from querygate.methods.code_lists.subtrees import halved
from querygate.methods.code_lists.systems import code_tree, read_tree, tree_of
from querygate.methods.code_lists.unprotectable import Unprotectable

__all__ = [
    "METHODS",
    "SUPPRESSED",
    "Baskets",
    "Items",
    "CodeMethod",
    "CodePrivacy",
    "CodeUtility",
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
    "NormalisedCodes",
    "normalise",
    "Reidentification",
    "reidentification",
    "code_tree",
    "read_tree",
    "tree_of",
    "CodeTree",
    "CodesInClasses",
    "LocalItems",
    "SensitiveRule",
    "Unprotectable",
    "cut_loss",
    "halved",
]
