"""Decision diagrams: functions of many variables to TRUE, FALSE and NULL, each with one form.

A node asks for the value of one variable. Its axis is cut into pieces, with one child for each and one more for a
missing value where there can be one. On every path the variables come in one order, no two neighbouring pieces have
the same child, no node has only one child, and equal nodes are the same node. Then two functions are equal exactly
when they have the same node: Bryant, Graph-Based Algorithms for Boolean Function Manipulation, IEEE Transactions on
Computers C-35(8), 1986, theorem 1, whose induction over the variables does not depend on how many children a node has.

>>> d = Diagrams()
>>> young, tall = d.node((0, "age"), (40,), (TRUE, FALSE)), d.node((0, "size"), (180,), (FALSE, TRUE))
>>> d.meet([young, d.join([tall, young])]) == young
True
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

FALSE, NULL, TRUE = 0, 1, 2
"""The leaves. In SQL's logic AND is the smaller of two, OR the larger."""

ABSENT = -1
"""In the place of the child for a missing value, where there can be none."""

MOST_STEPS = 20_000
"""Pieces looked at, beyond which a diagram is given up. Not a time: the outcome must always be the same."""

Variable: TypeAlias = "tuple[int, str]"
Cut: TypeAlias = Any
"""A place on the axis of a variable; those of one variable are ordered."""


class TooLarge(Exception):
    """The diagram would cost more than it is worth."""


class _Node(NamedTuple):
    variable: Variable
    cuts: tuple[Cut, ...]
    pieces: tuple[int, ...]
    missing: int


_Told: TypeAlias = "tuple[Variable, tuple[Cut, ...], list[int], int]"


class Diagrams:
    """Diagrams that share their nodes. A diagram is the number of its first node."""

    def __init__(self) -> None:
        self._nodes: list[_Node] = [_Node((2, ""), (), (), ABSENT)] * 3  # the leaves come after every variable
        self._known: dict[_Node, int] = {}
        self._done: dict[tuple[int, int, int], int] = {}
        self._steps = 0

    def node(self, variable: Variable, cuts: Iterable[Cut], pieces: Iterable[int], missing: int = ABSENT) -> int:
        """The diagram that goes to the first piece before the first cut, and to the next from each cut on."""
        first, *rest = pieces
        kept_cuts, kept = [], [first]
        for cut, piece in zip(cuts, rest, strict=True):
            if piece != kept[-1]:
                kept_cuts.append(cut)
                kept.append(piece)
        if not kept_cuts and missing in (ABSENT, first):
            return first
        made = _Node(variable, tuple(kept_cuts), tuple(kept), missing)
        found = self._known.setdefault(made, len(self._nodes))
        if found == len(self._nodes):
            self._nodes.append(made)
        return found

    def meet(self, parts: Iterable[int]) -> int:
        """AND of the parts."""
        return self._fold(list(parts), FALSE, TRUE)

    def join(self, parts: Iterable[int]) -> int:
        """OR of the parts."""
        return self._fold(list(parts), TRUE, FALSE)

    def _fold(self, parts: list[int], absorbing: int, neutral: int) -> int:
        """Two by two, so that a long chain costs n log n."""
        while len(parts) > 1:
            pairs = [self._apply(a, b, absorbing, neutral) for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = pairs + parts[len(pairs) * 2 :]
        return parts[0] if parts else neutral

    def _apply(self, a: int, b: int, absorbing: int, neutral: int) -> int:
        """Bryant's Apply for AND (absorbing FALSE) and OR (absorbing TRUE)."""
        if a == absorbing or b == absorbing:
            return absorbing
        if a in (neutral, b):
            return b
        if b == neutral:
            return a
        key = (absorbing, a, b) if a < b else (absorbing, b, a)
        found = self._done.get(key)
        if found is None:
            found = self._done[key] = self._expand(a, b, absorbing, neutral)
        return found

    def _expand(self, a: int, b: int, absorbing: int, neutral: int) -> int:
        one, other = self._nodes[a], self._nodes[b]
        cuts: Iterable[Cut]
        if other.variable < one.variable:
            one, other, b = other, one, a
        if one.variable == other.variable:
            cuts, pairs = _aligned(one, other)
            missing = (one.missing, other.missing)
        else:
            cuts, pairs = one.cuts, [(piece, b) for piece in one.pieces]
            missing = (one.missing, b)
        self._steps += len(pairs)
        if self._steps > MOST_STEPS:
            raise TooLarge
        pieces = [self._apply(x, y, absorbing, neutral) for x, y in pairs]
        gone = ABSENT if one.missing == ABSENT else self._apply(*missing, absorbing, neutral)
        return self.node(one.variable, cuts, pieces, gone)

    def text(self, root: int) -> str:
        """A text that is equal for equal functions, whichever diagrams they share nodes with."""
        if root <= TRUE:
            return ("false", "null", "true")[root]
        told: list[_Told] = []
        self._visit(root, {ABSENT: ABSENT, FALSE: FALSE, NULL: NULL, TRUE: TRUE}, told)
        return "diagram " + hashlib.sha256(repr(told).encode()).hexdigest()[:32]

    def _visit(self, place: int, numbers: dict[int, int], told: list[_Told]) -> int:
        """The number of a node, which is told after those below it."""
        if place not in numbers:
            variable, cuts, pieces, missing = self._nodes[place]
            below = [self._visit(piece, numbers, told) for piece in pieces]
            told.append((variable, cuts, below, self._visit(missing, numbers, told)))
            numbers[place] = len(numbers)
        return numbers[place]


def _aligned(one: _Node, other: _Node) -> tuple[list[Cut], list[tuple[int, int]]]:
    """The pieces of two nodes of one variable, cut where either is."""
    cuts: list[Cut] = []
    pairs = [(one.pieces[0], other.pieces[0])]
    i = j = 0
    while i < len(one.cuts) or j < len(other.cuts):
        if j == len(other.cuts) or (i < len(one.cuts) and one.cuts[i] <= other.cuts[j]):
            cut = one.cuts[i]
            j += j < len(other.cuts) and other.cuts[j] == cut
            i += 1
        else:
            cut = other.cuts[j]
            j += 1
        cuts.append(cut)
        pairs.append((one.pieces[i], other.pieces[j]))
    return cuts, pairs
