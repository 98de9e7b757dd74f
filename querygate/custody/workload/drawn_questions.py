"""A part of the standing workload, for whoever cannot ask all of it: the same part each time."""

from __future__ import annotations

import random
from collections.abc import Sequence

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
