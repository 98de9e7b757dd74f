"""The auditor's reasoning: which groups of fewer than k records follow from the answers of a log. Pure.

Sets of places come in, findings with proofs go out. Nothing here reads SQL, a database or a secret value.
"""

from querygate.methods.audit.cases import CaseStatement
from querygate.methods.audit.coalitions import POOLED, find
from querygate.methods.audit.isolating_conditions import describe_places
from querygate.methods.audit.notices import notices
from querygate.methods.audit.severity import Domain
from querygate.methods.audit.small_groups import Unexamined, noted
from querygate.methods.audit.totals import (
    FAMILY,
    PRESENCE,
    VARIANCE,
    Base,
    Finding,
    Inference,
    Pattern,
    QueryTotal,
    signs_left,
)

__all__ = [
    "POOLED",
    "FAMILY",
    "PRESENCE",
    "VARIANCE",
    "Base",
    "Domain",
    "Finding",
    "Inference",
    "Unexamined",
    "Pattern",
    "CaseStatement",
    "QueryTotal",
    "describe_places",
    "find",
    "noted",
    "notices",
    "signs_left",
]
