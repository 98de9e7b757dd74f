"""The auditor's reasoning: which groups of fewer than k records follow from the answers of a log. Pure.

Sets of places come in, findings with proofs go out. Nothing here reads SQL, a database or a secret value.
"""

from querygate.audit.combination import combine, is_combination
from querygate.audit.examine import Isolated, Left, examine
from querygate.audit.inference import Domain, make_findings
from querygate.audit.linear import View, known
from querygate.audit.pairs import near_pairs, packed
from querygate.audit.places import describe_places
from querygate.audit.sets import atoms, fingerprint
from querygate.audit.totals import PRESENCE, Finding, Inferred, Total
from querygate.audit.views import find

__all__ = [
    "PRESENCE",
    "Domain",
    "Finding",
    "Inferred",
    "Isolated",
    "Left",
    "Total",
    "View",
    "atoms",
    "combine",
    "describe_places",
    "examine",
    "find",
    "fingerprint",
    "is_combination",
    "known",
    "make_findings",
    "near_pairs",
    "packed",
]
