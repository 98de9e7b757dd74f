"""The auditor's reasoning: which groups of fewer than k records follow from the answers of a log. Pure.

Sets of places come in, findings with proofs go out. Nothing here reads SQL, a database or a secret value.
"""

from querygate.methods.inference.cases import CaseStatement
from querygate.methods.inference.coalitions import POOLED, find
from querygate.methods.inference.examine import Unexamined, examine
from querygate.methods.inference.finding_check import NotSound, verify
from querygate.methods.inference.linear import known
from querygate.methods.inference.notices import notices
from querygate.methods.inference.places import describe_places
from querygate.methods.inference.set_pairs import near_pairs, packed
from querygate.methods.inference.severity import Domain, make_findings
from querygate.methods.inference.totals import (
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
    "PRESENCE",
    "VARIANCE",
    "Base",
    "Domain",
    "Finding",
    "Inference",
    "Unexamined",
    "NotSound",
    "Pattern",
    "CaseStatement",
    "QueryTotal",
    "describe_places",
    "examine",
    "find",
    "known",
    "make_findings",
    "near_pairs",
    "notices",
    "packed",
    "signs_left",
    "verify",
]
