"""The questions that a dataset is likely to be asked, and how many are answered narrowly enough to print.

standing_workload   questions in SQL, made from the schema alone
usable              is a range narrow enough?
usable_shares       of what was asked, by kind and by how the ends of its conditions lie
"""

from __future__ import annotations

from querygate.custody.workload.standing_workload import Question, public_cuts, standing_workload
from querygate.custody.workload.usable_share import Figure, UsableShare, usable, usable_shares

__all__ = ["Figure", "Question", "UsableShare", "public_cuts", "standing_workload", "usable", "usable_shares"]
