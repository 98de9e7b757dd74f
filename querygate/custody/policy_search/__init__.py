"""Release policies of a dataset: alternatives to Safe Harbor, found over a population, and the files that apply them.

axes                 quasi-identifiers of a policy as attributes of a lattice
lattice_study        records and people laid over it, and Safe Harbor on it
alternatives_search  alternatives, and how they are described
policy_edits         a policy file for each alternative
safe_harbor_file     Safe Harbor, and limited data sets, as policy files
search_report        the report that an expert signs
"""

from querygate.custody.policy_search.alternatives_search import AlternativesSearch, search
from querygate.custody.policy_search.policy_edits import applied
from querygate.custody.policy_search.safe_harbor_file import Decision, harboured, limited

__all__ = [
    "Decision",
    "AlternativesSearch",
    "applied",
    "harboured",
    "limited",
    "search",
]
