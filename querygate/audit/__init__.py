"""The auditor's reasoning: which groups of fewer than k records follow from the answers of a log. Pure.

Sets of places come in, findings with proofs go out. Nothing here reads SQL, a database or a secret value.
"""

from querygate.audit.cases import Case, Statement, finding_id, make_cases
from querygate.audit.combination import combine, is_combination
from querygate.audit.examine import Isolated, Left, examine
from querygate.audit.inference import Domain, make_findings
from querygate.audit.linear import View, known
from querygate.audit.notices import notices
from querygate.audit.pairs import near_pairs, packed
from querygate.audit.places import describe_places
from querygate.audit.sets import atoms, fingerprint
from querygate.audit.totals import (
    PRESENCE,
    SEVERITIES,
    VARIANCE,
    Base,
    Finding,
    Inferred,
    Pattern,
    Severity,
    Total,
    signs_left,
)
from querygate.audit.verify import NotSound, verify
from querygate.audit.views import POOLED, find

__all__ = [
    "POOLED",
    "PRESENCE",
    "SEVERITIES",
    "VARIANCE",
    "Base",
    "Case",
    "Domain",
    "Finding",
    "Inferred",
    "Isolated",
    "Left",
    "NotSound",
    "Pattern",
    "Severity",
    "Statement",
    "Total",
    "View",
    "atoms",
    "combine",
    "describe_places",
    "examine",
    "find",
    "finding_id",
    "fingerprint",
    "is_combination",
    "known",
    "make_cases",
    "make_findings",
    "near_pairs",
    "notices",
    "packed",
    "signs_left",
    "verify",
]
