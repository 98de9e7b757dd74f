"""A part of the standing workload, for when not all of it can be asked: the same part each time."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from querygate.custody.policy import Policy
from querygate.custody.workload.standing_workload import Question
from querygate.custody.workload.usable_share import PAPER

SEED = 1


def drawn(questions: Sequence[Question], paper: int, others: int = 0) -> list[Question]:
    """So many about counts, prevalences and means, and so many of all other kinds; each as likely as any other, so that
    shares of the part are those of the whole but for chance.
    """
    rng, found = random.Random(SEED), []  # noqa: S311 - the same draw for everybody, and no secret
    for is_paper, number in ((True, paper), (False, others)):
        kinds = [question for question in questions if (question.kind in PAPER) == is_paper]
        found += rng.sample(kinds, min(number, len(kinds)))
    return found


def asked_columns(policy: Policy, most: int) -> frozenset[str]:
    """Up to so many sensitive columns: numbers and categories by turns, each in the order of the policy."""
    sensitive = policy.named("sensitive")
    numbers, others = ([c.name for c in sensitive if c.is_numeric == numeric] for numeric in (True, False))
    return frozenset(list(_by_turns(numbers, others))[:most])


def _by_turns(*lists: Sequence[str]) -> Iterator[str]:
    for place in range(max(map(len, lists))):
        yield from (names[place] for names in lists if place < len(names))
