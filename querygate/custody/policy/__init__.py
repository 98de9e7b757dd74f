"""The policy of one dataset, as its custodian wrote it: read, checked, resolved, hashed.

>>> from querygate.custody.policy import parse_policy
>>> policy = parse_policy('''
... dataset = "patients"
... k = 5
... [columns.age]
... role = "quasi-identifier"
... type = "integer"
... domain = [0, 120]
... ''')
>>> policy.column("age").grid, policy.column("never named").role
(2, 'withheld')
"""

from querygate.custody.policy.column_policy import (
    CodeGroup,
    CodesPolicy,
    ColumnPolicy,
    DiversityPolicy,
    HierarchyPolicy,
    NotePolicy,
    Number,
    ProtectPolicy,
    SequencePolicy,
)
from querygate.custody.policy.diversity_rules import NO_WISH
from querygate.custody.policy.interval_edges import MAX_EDGES, bin_edges, closed, grid_edges
from querygate.custody.policy.policy_reader import accepted_keys, load_policy, parse_policy
from querygate.custody.policy.policy_types import (
    EventsPolicy,
    JoinPolicy,
    KMapPolicy,
    Policy,
    RandomisedPolicy,
    ReferencePolicy,
    ReleasePolicy,
    StatisticPolicy,
    ViewRules,
)

__all__ = [
    "load_policy",
    "parse_policy",
    "accepted_keys",
    "Policy",
    "ColumnPolicy",
    "DiversityPolicy",
    "HierarchyPolicy",
    "CodesPolicy",
    "CodeGroup",
    "ProtectPolicy",
    "NotePolicy",
    "SequencePolicy",
    "NO_WISH",
    "ReferencePolicy",
    "RandomisedPolicy",
    "ReleasePolicy",
    "StatisticPolicy",
    "ViewRules",
    "JoinPolicy",
    "EventsPolicy",
    "KMapPolicy",
    "Number",
    "grid_edges",
    "bin_edges",
    "closed",
    "MAX_EDGES",
]
