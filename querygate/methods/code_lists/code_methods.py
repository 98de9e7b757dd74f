"""The methods by name, and what each needs.

`policy`: run(baskets, k, privacy, utility, *, weights=None) -> Items.
`itemsets`: run(baskets, levels, k, m) -> Items, or LocalItems.
`complete`: run(baskets, levels, k) -> Recoded.
`classes`: run(baskets, labels, levels, k, m, centres=None, most_loss=1.0) -> CodesInClasses.
`coherence`: run(baskets, sensitive, k, p, share) -> Items.
`rules`: run(baskets, rules, k, confidence, levels=None, sensitive=()) -> Items.
`uncertainty`: run(baskets, sensitive, rho, length=None) -> Items; tdcontrol takes levels besides.
`patterns`: run(baskets, rules, k, m, share, support=1) -> LocalItems.

>>> METHODS.get("ugaclip").kind
'policy'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from querygate.core.registry import Registry
from querygate.methods.code_lists.cba import cba
from querygate.methods.code_lists.coherence import coherent
from querygate.methods.code_lists.hidden_patterns import hidden_patterns
from querygate.methods.code_lists.km.km import km_anonymous
from querygate.methods.code_lists.km.local_km import local_km
from querygate.methods.code_lists.km.vertical_km import vertical_km
from querygate.methods.code_lists.least_frequent import least_frequent
from querygate.methods.code_lists.local_suppression import suppressed_locally
from querygate.methods.code_lists.relational import codes_in_classes
from querygate.methods.code_lists.rho_uncertainty import rho_uncertain
from querygate.methods.code_lists.sensitive_rules import rbat
from querygate.methods.code_lists.set_partition import partitioned
from querygate.methods.code_lists.td_control import td_control
from querygate.methods.code_lists.ugaclip import aclip, ugaclip


@dataclass(frozen=True, slots=True)
class CodeMethod:
    """How to anonymise sets of codes. `kind` says what `run` takes and gives back: see above."""

    run: Callable[..., Any]
    kind: str
    summary: str = ""


METHODS: Registry[CodeMethod] = Registry("way to anonymise sets of codes")
METHODS.register("ugaclip", CodeMethod(ugaclip, "policy", "rarest code first, in its group (Loukides et al. 2010)"))
METHODS.register("cba", CodeMethod(cba, "policy", "cheapest pairs first, least suppression (ITAB 2010)"))
METHODS.register("aclip", CodeMethod(aclip, "policy", "rarest code first, with any code: a baseline"))
METHODS.register("least-frequent", CodeMethod(least_frequent, "policy", "suppression alone: a baseline"))
METHODS.register("apriori", CodeMethod(km_anonymous, "itemsets", "k^m by full subtrees (Terrovitis et al. 2008)"))
METHODS.register("lra", CodeMethod(local_km, "itemsets", "k^m by local recoding (Terrovitis et al. 2011)"))
METHODS.register(
    "vpa", CodeMethod(vertical_km, "itemsets", "k^m by groups of the system first (Terrovitis et al. 2011)")
)
METHODS.register(
    "local-suppression",
    CodeMethod(suppressed_locally, "itemsets", "k^m by hiding codes of single records, and merging none"),
)
METHODS.register("partition", CodeMethod(partitioned, "complete", "top-down, local recoding (He & Naughton 2009)"))
METHODS.register("classes", CodeMethod(codes_in_classes, "classes", "k^m in relational classes (Poulis et al. 2013)"))
METHODS.register("coherence", CodeMethod(coherent, "coherence", "(h,k,p) by suppression (Xu et al. 2008)"))
METHODS.register("rbat", CodeMethod(rbat, "rules", "rules from public to sensitive codes (Loukides et al. 2013)"))
METHODS.register("rho", CodeMethod(rho_uncertain, "uncertainty", "rho-uncertainty by suppression (Cao et al. 2010)"))
METHODS.register(
    "tdcontrol",
    CodeMethod(td_control, "uncertainty", "rho-uncertainty by generalising public codes (Cao et al. 2010)"),
)
METHODS.register(
    "unknowns", CodeMethod(hidden_patterns, "patterns", "rules hidden by unknowns (Saygin, Verykios, Clifton 2001)")
)
