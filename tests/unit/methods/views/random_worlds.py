"""Tables with the same histograms in two views, drawn at random by swaps along cycles.

From a class of the first view a walk goes on by a random holder of one bin, from a class of the second by a random
holder of the other. If it comes back to where it began, and not elsewhere before, all on it swap their bins. A class
always has as many holders of each bin, so a cycle is as likely forward as backward: all assignments of bins to records
that swaps reach are drawn equally often.
"""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np

from querygate.core.types import Floats, Ints


def sampled_beliefs(labels: Ints, bins: Ints, tries: int, every: int, seed: int = 1) -> Floats:
    """Per record, in which share of the drawn tables a record of its atom has its bin."""
    rng = random.Random(seed)
    first, second = (np.unique(own, return_inverse=True)[1].tolist() for own in labels)
    now = bins.tolist()
    holders: list[dict[tuple[int, int], list[int]]] = [defaultdict(list), defaultdict(list)]
    for record, bin_ in enumerate(now):
        holders[0][first[record], bin_].append(record)
        holders[1][second[record], bin_].append(record)
    kinds = sorted(set(now))
    atom = np.unique(labels, axis=1, return_inverse=True)[1].reshape(-1)
    size = np.bincount(atom)
    total, drawn = np.zeros(len(now)), 0
    for turn in range(tries):
        own, other = rng.sample(kinds, 2)
        cycle = _cycle(rng, rng.choice(first), own, other, first, second, holders)
        for record in cycle:
            before, after = (own, other) if now[record] == own else (other, own)
            for place, label in enumerate((first, second)):
                holders[place][label[record], before].remove(record)
                holders[place][label[record], after].append(record)
            now[record] = after
        if turn % every == every - 1:
            held = np.zeros((size.size, max(kinds) + 1))
            np.add.at(held, (atom, np.array(now)), 1.0)
            total, drawn = total + held[atom, bins] / size[atom], drawn + 1
    return total / drawn


def _cycle(
    rng: random.Random,
    begin: int,
    own: int,
    other: int,
    first: list[int],
    second: list[int],
    holders: list[dict[tuple[int, int], list[int]]],
) -> list[int]:
    """The records on a cycle through a class of the first view; nothing where the walk goes astray."""
    found, seen, here = [], set(), begin
    while True:
        out = holders[0].get((here, own))
        if not out:
            return []
        found.append(rng.choice(out))
        there = second[found[-1]]
        back = holders[1].get((there, other))
        if ("second", there) in seen or not back:
            return []
        seen.add(("second", there))
        found.append(rng.choice(back))
        here = first[found[-1]]
        if here == begin:
            return found
        if ("first", here) in seen:
            return []
        seen.add(("first", here))
