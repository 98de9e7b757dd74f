"""The auditor's reasoning: which groups of fewer than k records follow from the answers of a log. Pure.

Sets of places come in, findings with proofs go out. Nothing here reads SQL, a database or a secret value.
"""

from querygate.methods.inference.cases import CaseStatement
from querygate.methods.inference.coalitions import POOLED, find
from querygate.methods.inference.notices import notices
from querygate.methods.inference.places import describe_places
from querygate.methods.inference.severity import Domain
from querygate.methods.inference.small_groups import Unexamined, noted
from querygate.methods.inference.totals import (
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
