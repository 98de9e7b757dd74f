"""The worst belief of an attacker who knows more than the release, measured from arrays alone.

This judges guards about knowledge and shares no code with them. Under random worlds, every assignment of the values of
a class to its members is as likely as another (Bacchus, Grove, Halpern, Koller 1996).

>>> classes, illness = np.repeat([0, 1], 5), np.array([0, 0, 1, 1, 2, 0, 0, 3, 4, 5])
>>> worst_belief(classes, illness, None, 0), round(worst_belief(classes, illness, None, 1), 4)
(0.4, 0.6667)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from querygate.core.types import Bools, Floats, Ints

DIGITS = 9


# -- any pieces of knowledge -----------------------------------------------------------------------------------------


def worst_belief(classes: Ints, values: Ints, counts: Ints | None, pieces: int) -> float:
    """The surest belief in a value of anybody, with the worst so many pieces of knowledge: the c of (c,k)-safety.

    Martin et al. 2007: the least, over ways to spread pieces + 1 values over classes and people, of the chance that all
    are missed over the chance of the one that is believed.
    """
    profiles = _profiles(classes, values, counts, pieces + 1)
    without = [1.0] + [np.inf] * (pieces + 1)
    with_it = [np.inf] * (pieces + 2)
    for missed, share in profiles:
        before, believed = without[:], with_it[:]
        for total in range(pieces + 2):
            for here in range(total + 1):
                rest = total - here
                without[total] = min(without[total], before[rest] * missed[here])
                with_it[total] = min(with_it[total], believed[rest] * missed[here])
                if here:
                    with_it[total] = min(with_it[total], before[rest] * missed[here] / share)
    return round(1 / (1 + with_it[pieces + 1]), DIGITS)


def _profiles(classes: Ints, values: Ints, counts: Ints | None, most: int) -> list[tuple[tuple[float, ...], float]]:
    """The chances of each class that may matter, with the share of its commonest value: for any number of values the
    classes that miss them least often, and no more of these than values are spread over.
    """
    _, which = np.unique(classes, return_inverse=True)
    pairs, place = np.unique(np.stack([which.reshape(-1), values]), axis=1, return_inverse=True)
    tally = np.bincount(place.reshape(-1), counts).astype(np.int64)
    by_class: list[list[int]] = [[] for _ in range(int(pairs[0].max()) + 1)]
    for one, number in zip(pairs[0].tolist(), tally.tolist(), strict=True):
        by_class[one].append(number)
    kinds: dict[tuple[int, ...], int] = {}
    for held in by_class:
        key = (sum(held), *sorted(held, reverse=True)[:most])
        kinds[key] = kinds.get(key, 0) + 1
    found = [(_missed(key, most), key[1] / key[0], number) for key, number in kinds.items()]
    wanted: set[int] = set()
    for values_missed in range(1, most + 1):
        by_chance = sorted(range(len(found)), key=lambda i: found[i][0][values_missed])
        by_belief = sorted(range(len(found)), key=lambda i: found[i][0][values_missed] / found[i][1])
        wanted |= {*by_chance[:most], *by_belief[:most]}
    return [(found[i][0], found[i][1]) for i in sorted(wanted) for _ in range(min(most, found[i][2]))]


@cache
def _missed(profile: tuple[int, ...], most: int) -> tuple[float, ...]:
    """For 0 .. most values the least chance that they are all missed in a class of so many, with such commonest values.

    Person by person: each takes no more values than the one before.
    """
    size, *held = profile

    def best(person: int, left: int, limit: int) -> float:
        if left == 0:
            return 1.0
        if person >= size:
            return 1.0  # no people are left; fewer people with more values each are tried too
        chances = []
        for taken in range(1, min(left, limit) + 1):
            gone = sum(held[:taken]) if taken <= len(held) else size
            chance = max(size - person - gone, 0) / (size - person)
            chances.append(chance * best(person + 1, left - taken, taken) if chance else 0.0)
        return min(chances)

    return tuple(best(0, number, number) for number in range(most + 1))


def largest_growth(classes: Ints, values: Ints, counts: Ints | None) -> float:
    """The largest excess of a value's share of a class over its share of the whole."""
    weight = np.ones(classes.size, dtype=np.int64) if counts is None else counts
    kind = np.unique(values, return_inverse=True)[1].reshape(-1)
    overall = np.bincount(kind, weight) / max(1, weight.sum())
    pairs, place = np.unique(np.stack([classes, kind]), axis=1, return_inverse=True)
    held = np.bincount(place.reshape(-1), weight)
    _, which = np.unique(pairs[0], return_inverse=True)
    size = np.bincount(which.reshape(-1), held)
    return round(float((held / size[which.reshape(-1)] - overall[pairs[1]]).max(initial=0.0)), DIGITS)


# -- rules that the data themselves tell -----------------------------------------------------------------------------


@dataclass(frozen=True)
class MinedKnowledge:
    """What negative rules tell: how many there are, the fewest values that they leave for anybody, and the surest
    belief of somebody who knows all of them.
    """

    rules: int
    plausible: int
    belief: float


def mined_knowledge(
    classes: Ints, conditions: Sequence[Ints], values: Ints, counts: Ints | None = None, *, expected: float = 10
) -> MinedKnowledge:
    """Rules are mined as Injector does (Li & Li 2008): people with one or two known values never have a sensitive one,
    although `expected` of them at least would if it were chance. Beliefs in a class are those of largest entropy that
    agree with its values and with all rules.

    >>> sex, ill = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 2, 2])
    >>> mined_knowledge(np.zeros(6, dtype=np.int64), [sex], ill, expected=1)
    MinedKnowledge(rules=1, plausible=2, belief=0.75)
    """
    weight = np.ones(classes.size, dtype=np.int64) if counts is None else counts
    _, value = np.unique(values, return_inverse=True)
    allowed = np.ones((classes.size, int(value.max(initial=-1)) + 1), dtype=np.bool_)
    rules = 0
    for some in (*combinations(conditions, 1), *combinations(conditions, 2)):
        _, group = np.unique(np.stack(some), axis=1, return_inverse=True)
        number, excluded = _rules(group.reshape(-1), value.reshape(-1), weight, expected)
        rules += number
        allowed &= ~excluded[group.reshape(-1)]
    plausible, belief = allowed.shape[1], 0.0
    order = np.argsort(classes, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(classes[order])) + 1):
        few, sure = _of_class(allowed[members], value.reshape(-1)[members], weight[members])
        plausible, belief = min(plausible, few), max(belief, sure)
    return MinedKnowledge(rules, plausible, round(belief, 6))


def _rules(group: Ints, value: Ints, weight: Ints, expected: float) -> tuple[int, Bools]:
    """How many rules there are, and which values each group never has."""
    groups, kinds = int(group.max(initial=-1)) + 1, int(value.max(initial=-1)) + 1
    held = np.bincount(group * kinds + value, weight, groups * kinds).reshape(groups, kinds)
    chance = np.outer(np.bincount(group, weight, groups), np.bincount(value, weight, kinds)) / max(1, weight.sum())
    never = (held == 0) & (chance >= expected)
    return int(never.sum()), never


def _of_class(allowed: Bools, value: Ints, weight: Ints) -> tuple[int, float]:
    """The fewest values left for a member, and the surest belief."""
    present, value = np.unique(value, return_inverse=True)
    kinds, kind = np.unique(allowed[:, present], axis=0, return_inverse=True)
    held = np.zeros((len(kinds), present.size))
    np.add.at(held, (kind.reshape(-1), value.reshape(-1)), weight)
    if kinds.all():
        return present.size, float(held.sum(axis=0).max() / held.sum())
    return int(kinds.sum(axis=1).min()), float(_beliefs(kinds & _possible(kinds, held > 0), held).max())


def _possible(allowed: Bools, held: Bools) -> Bools:
    """What is so in some world: values move along cycles of what is held and what is allowed."""
    people, kinds = allowed.shape
    reach = np.eye(people + kinds, dtype=np.bool_)
    reach[:people, people:] = allowed
    reach[people:, :people] = held.T
    for _ in range(int(np.ceil(np.log2(people + kinds))) + 1):
        reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
    return reach[people:, :people].T & allowed


def _beliefs(possible: Bools, held: Floats, rounds: int = 500) -> Floats:
    """Rows are kinds of people, columns values: shares of largest entropy with the sums of what is held (Sinkhorn)."""
    people, values = held.sum(axis=1), held.sum(axis=0)
    found = possible.astype(np.float64)
    for _ in range(rounds):
        found *= (values / np.maximum(found.sum(axis=0), 1e-300))[None, :]
        short = found.sum(axis=1)
        if np.abs(short - people).max() <= 1e-9 * people.sum():
            break
        found *= (people / np.maximum(short, 1e-300))[:, None]
    shares: Floats = found / people[:, None]
    return shares
