"""What is raised where no recoding keeps the promise that was asked for, or where none could be meant."""

from __future__ import annotations


class Unprotectable(ValueError):
    """Codes that cannot be protected as asked. Texts name sizes, places in the policy, and codes by number."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason} {remedy}")
        self.reason = reason
        self.remedy = remedy


def check_enough(records: int, k: int) -> None:
    """At least k records have a code, or none has."""
    if k < 1:
        raise ValueError("k is at least 1")
    if 0 < records < k:
        raise Unprotectable(f"{records:,} records have codes, fewer than k = {k:,}.", "Use a smaller k.")
