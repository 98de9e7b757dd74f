"""Release policies: Safe Harbor, and what is no riskier and tells more of what a study needs.

Pure: arrays and values in, policies and figures out. A `PolicyLattice` of attributes holds all policies; `LatticeCubes`
lay a file and a population over it and measure them; `bisecting` finds policies at the risk of Safe Harbor; `kinds`
shows a handful; `recode` applies one.

>>> import numpy as np
>>> lattice = PolicyLattice((whole_numbers("age", 84, 93, open_top=True), LatticeAttribute("sex", ("F", "M"))))
>>> study = LatticeCubes(lattice, np.full((10, 2), 5), np.full((10, 2), 50))
>>> yardstick = study.risk(safe_harbor(lattice))
>>> found = bisecting(study, yardstick, 3, np.random.default_rng(1), complete=True)
>>> for solution in found.best:
...     print(explain(solution, yardstick))
ages 85-86, 87-88, 90-91 combined; all else unchanged; risk 0.014 (Safe Harbor: 0.014)
ages 86-88, 91-92 combined; all else unchanged; risk 0.014 (Safe Harbor: 0.014)
ages 87-88, 90-92 combined; all else unchanged; risk 0.014 (Safe Harbor: 0.014)
"""

from __future__ import annotations

from querygate.methods.policy_search.limited_data_set import DIRECT, DirectIdentifier, find_direct
from querygate.methods.policy_search.policy_lattice import (
    LatticeAttribute,
    LatticePolicy,
    PolicyLattice,
    cells,
    whole_numbers,
)
from querygate.methods.policy_search.policy_risk import LatticeCubes, PolicyRisk, cube, risk, within
from querygate.methods.policy_search.policy_text import explain, explain_measured, explain_search, recode, rules
from querygate.methods.policy_search.safe_harbor_identifiers import IDENTIFIERS, Suggestion, suggest
from querygate.methods.policy_search.safe_harbor_preset import safe_harbor, treated, zip3, zip_codes
from querygate.methods.policy_search.search import PolicySolution, SearchResult, bisecting, directed
from querygate.methods.policy_search.solution_kinds import SolutionKind, explain_kind, kinds

__all__ = [
    # policies
    "LatticeAttribute",
    "PolicyLattice",
    "LatticePolicy",
    "cells",
    "whole_numbers",
    # what they risk
    "PolicyRisk",
    "LatticeCubes",
    "cube",
    "risk",
    "within",
    # Safe Harbor
    "IDENTIFIERS",
    "Suggestion",
    "safe_harbor",
    "suggest",
    "treated",
    "zip3",
    "zip_codes",
    # the limited data set
    "DIRECT",
    "DirectIdentifier",
    "find_direct",
    # alternatives
    "SearchResult",
    "PolicySolution",
    "bisecting",
    "directed",
    "SolutionKind",
    "explain_kind",
    "kinds",
    # in words, and applied
    "explain",
    "explain_measured",
    "explain_search",
    "recode",
    "rules",
]
