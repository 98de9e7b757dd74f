"""Release policies of a dataset: alternatives to Safe Harbor, found over a population, and the files that apply them.

axes         quasi-identifiers of a policy as attributes of a lattice
studies      records and people laid over it, and Safe Harbor on it
searching    alternatives, and what is said of them
applying     a policy file for each alternative
preset       Safe Harbor as a policy file
page         the report that an expert signs
"""

from querygate.gateway.releases.applying import applied
from querygate.gateway.releases.page import make_page
from querygate.gateway.releases.preset import Decision, harboured
from querygate.gateway.releases.searching import Search, search
from querygate.gateway.releases.studies import Ground, lay_out

__all__ = [
    "Decision",
    "Ground",
    "Search",
    "applied",
    "harboured",
    "lay_out",
    "make_page",
    "search",
]
