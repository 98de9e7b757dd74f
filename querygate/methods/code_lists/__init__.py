"""Sets of codes: diagnoses, drugs, purchases. Each code becomes a set of codes that contains it, so that nobody is
found by the codes they are known to have.

Pure: arrays in, arrays out.
"""

from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets, Items
from querygate.methods.code_lists.code_policies import CodeUtility
from querygate.methods.code_lists.diseases import gwas_diseases
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.losses import changes, published_loss, workload_errors
from querygate.methods.code_lists.reidentification import reidentification
from querygate.methods.code_lists.sensitive_rules import SensitiveRule
from querygate.methods.code_lists.subtrees import halved

__all__ = [
    "SUPPRESSED",
    "Baskets",
    "Items",
    "CodeUtility",
    "gwas_diseases",
    "changes",
    "published_loss",
    "workload_errors",
    "reidentification",
    "LocalItems",
    "SensitiveRule",
    "halved",
]
