"""What is raised where sequences cannot be read, or cannot be protected as asked."""

from __future__ import annotations


class BadSequences(ValueError):
    """Sequences that cannot be used. Texts name places, sizes and limits, never a sequence, a letter or a name."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason} {remedy}")
        self.reason = reason
        self.remedy = remedy


def check_enough(sequences: int, k: int) -> None:
    """At least k sequences, for a k that hides anybody at all."""
    if k < 2:
        raise BadSequences("A group of one hides nobody.", "Use a k of at least 2.")
    if sequences < k:
        raise BadSequences(
            f"There are {sequences:,} sequences, fewer than k = {k:,}.", "Use a smaller k, or add sequences."
        )
