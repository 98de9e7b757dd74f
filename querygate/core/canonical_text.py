"""What a condition or an expression means, as a text: equal for rewordings, different for different questions.

A condition becomes a decision diagram over the columns it reads, on their public domains: whatever is always true
there, redundant or said twice leaves no trace. So two conditions on columns and values have equal texts exactly when
they have the same truth for every record that can be. A comparison of expressions is looked at as far as it can be
without arithmetic: `a < b OR a = b` is `a <= b`, `a + b > 9` of whole numbers is `a + b >= 10`; what the expressions
have to do with each other is not known.

>>> from querygate.core.predicate import compare
>>> age = Column("age", 0, "public", "integer", False, 0, 120)
>>> adult, all_ = compare("age", ~ValueSet.below(18)), compare("age", ~ValueSet.below(-1))
>>> meaning(both([adult, all_]), {"age": age}) == meaning(adult, {"age": age}), meaning(all_, {"age": age})
(True, 'true')
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from querygate.core import decision_diagram as diagram
from querygate.core.decision_diagram import ABSENT, Cut, Diagrams, TooLarge
from querygate.core.expression import COMMUTATIVE, Call, Choice, Constant, Expression, Lookup, day_number
from querygate.core.predicate import (
    TRUE,
    And,
    Atom,
    Comparison,
    Const,
    HasAny,
    Or,
    Predicate,
    both,
    canonical,
    either,
    is_true,
    negate,
)
from querygate.core.types import DISCRETE, Column
from querygate.core.valueset import ValueSet

MOST_VARIABLES = 200
"""Columns and comparisons in one condition, beyond which it is told as it stands."""

MOST_WAYS = 32
"""Branches of a CASE, beyond which it is told as it stands."""

EXACT_DOUBLE = 2**53
_LEAVES = {"false": diagram.FALSE, "null": diagram.NULL, "true": diagram.TRUE}
_SIGNS = {"<": {-1}, "<=": {-1, 0}, "=": {0}, "<>": {-1, 1}}


def meaning(p: Predicate, columns: Mapping[str, Column]) -> str:
    """A text that is equal for conditions with the same truth for every record; `columns` are by their own names.

    A condition that is too large for a diagram is told by its normal form, marked as such.
    """
    build = _Build(columns)
    try:
        return build.diagrams.text(build.of(p))
    except TooLarge:
        return f"normal {canonical(p)}"


def told(e: Expression, columns: Mapping[str, Column], given: Predicate = TRUE) -> str:
    """A text that is equal for expressions with the same value on every record where `given` is TRUE.

    A CASE is told by its values, each with the condition under which it is taken: the order of branches, branches that
    nobody can reach and the ways of nesting leave no trace.
    """
    match e:
        case Call(name, arguments):
            texts = [told(argument, columns, given) for argument in arguments]
            return f"{name}({', '.join(sorted(texts) if name in COMMUTATIVE else texts)})"
        case Choice():
            return _told_choice(e, columns, given)
        case Lookup() if e.results[-1] is not None and not columns[e.column].nullable:
            return e.without_null().canonical
    return e.canonical


def _told_choice(e: Choice, columns: Mapping[str, Column], given: Predicate) -> str:
    ways = []
    for way in _ways(e, given):
        ways.append(way)
        if len(ways) > MOST_WAYS:
            return e.canonical
    by_value: dict[str, list[Predicate]] = {}
    for condition, value in ways:
        if meaning(condition, columns) != "false":
            by_value.setdefault(told(value, columns, condition), []).append(condition)
    if len(by_value) == 1:
        return next(iter(by_value))
    parts = sorted(f"{meaning(either(conditions), columns)}: {value}" for value, conditions in by_value.items())
    return f"case({', '.join(parts)})"


def _ways(e: Expression, given: Predicate) -> Iterator[tuple[Predicate, Expression]]:
    """The values of a choice, and of choices within it, each with its condition. No two hold at once."""
    if not isinstance(e, Choice):
        yield given, e
        return
    for way, value in e.ways:
        yield from _ways(value, both([given, way]))


@dataclass
class _Build:
    """A condition on its way to a diagram."""

    columns: Mapping[str, Column]
    diagrams: Diagrams = field(default_factory=Diagrams)
    variables: set[diagram.Variable] = field(default_factory=set)

    def of(self, p: Predicate) -> int:
        match p:
            case Const(truth):
                return _LEAVES[truth]
            case Atom():
                return self._atom(p)
            case HasAny():
                return self._codes(p)
            case Comparison():
                return self._comparison(p)
            case And(parts):
                return self.diagrams.meet([self.of(part) for part in parts])
            case Or(parts):
                return self.diagrams.join([self.of(part) for part in parts])

    def _node(
        self, variable: diagram.Variable, cuts: Iterable[Cut], pieces: Iterable[int], missing: int = ABSENT
    ) -> int:
        self.variables.add(variable)
        if len(self.variables) > MOST_VARIABLES:
            raise TooLarge
        return self.diagrams.node(variable, cuts, pieces, missing)

    # -- a column --------------------------------------------------------------------------------------------------

    def _atom(self, atom: Atom) -> int:
        """The axis of the column, cut where the atom changes and the public domain has values on both sides."""
        column = self.columns[atom.column]
        true, true_cuts = _clipped(atom.true, column)
        false, false_cuts = _clipped(atom.false, column)
        flips: dict[Cut, int] = dict.fromkeys(true_cuts, 1)
        for cut in false_cuts:
            flips[cut] = flips.get(cut, 0) | 2
        cuts = sorted(flips)
        state = true | false << 1
        pieces = [_leaf(state)]
        for cut in cuts:
            state ^= flips[cut]
            pieces.append(_leaf(state))
        if column.values:
            cuts = [column.values[place] for place in cuts]
        elif column.type == "number":
            cuts = [float(cut) for cut in cuts]  # one text for 40 and 40.0
        missing = _LEAVES[atom.null] if column.nullable else ABSENT
        return self._node((0, column.name), cuts, pieces, missing)

    # -- a code list -----------------------------------------------------------------------------------------------

    def _codes(self, p: HasAny) -> int:
        """A code is there or not, whatever other codes are: each is a variable of its own."""
        variables = [(-1, repr((p.column, code))) for code in sorted(p.codes)]
        if p.negated:
            return self.diagrams.meet([self._node(code, (True,), (diagram.TRUE, diagram.FALSE)) for code in variables])
        return self.diagrams.join([self._node(code, (True,), (diagram.FALSE, diagram.TRUE)) for code in variables])

    # -- a comparison ----------------------------------------------------------------------------------------------

    def _comparison(self, p: Comparison) -> int:
        """Where both sides are there a new variable decides; elsewhere the truth is known."""
        there = is_true(p.when)
        decided = self.diagrams.meet([self.of(there), self._outcome(p)])
        if p.null == "false":
            return decided
        return self.diagrams.join([decided, self.diagrams.meet([self.of(negate(there)), _LEAVES[p.null]])])

    def _outcome(self, p: Comparison) -> int:
        left, right, signs = _side(p.left), _side(p.right), _SIGNS[p.operator]
        texts = told(left, self.columns), told(right, self.columns)
        if texts[0] == texts[1]:
            return _truth(0 in signs)
        for side, text, other, mirror in ((left, texts[0], right, 1), (right, texts[1], left, -1)):
            value = _exact(other)
            if value is not None:
                return self._against(text, side.type in DISCRETE, {sign * mirror for sign in signs}, value)
        if texts[1] < texts[0]:
            texts, signs = (texts[1], texts[0]), {-sign for sign in signs}
        pieces = [_truth(sign in signs) for sign in (-1, 0, 1)]
        return self._node((1, f"{texts[0]} ? {texts[1]}"), ("=", ">"), pieces)

    def _against(self, text: str, whole: bool, signs: set[int], value: Fraction) -> int:
        """An expression against a number: its values are an axis of their own, of whole numbers or of all."""
        if whole:
            cuts = (math.ceil(value), math.floor(value) + 1)
            kept = (-1, 0, 1) if cuts[0] < cuts[1] else (-1, 1)
            return self._node((1, text), cuts[-len(kept) + 1 :], [_truth(sign in signs) for sign in kept])
        return self._node((1, text), ((value, 0), (value, 1)), [_truth(sign in signs) for sign in (-1, 0, 1)])


def _clipped(values: ValueSet, column: Column) -> tuple[bool, list[Cut]]:
    """Whether the first value of the domain is inside, and the cuts after it. Values of a list count by their place."""
    places: list[Cut]
    low: int | float | None
    high: int | float | None
    if column.values:
        places = [(bisect_right if side else bisect_left)(column.values, value) for value, side in values.cuts]
        low, high = 0, len(column.values) - 1
    elif column.is_numeric:
        places = [value for value, _ in values.cuts]
        low, high = column.low, column.high
    else:
        return values.inside, list(values.cuts)
    first = 0 if low is None else bisect_right(places, low)
    last = len(places) if high is None else bisect_right(places, high)
    inner = places[first:last]
    return values.inside ^ (first % 2 == 1), _odd_ones(inner) if column.values else inner


def _odd_ones(places: list[int]) -> list[int]:
    """Cuts between the same two values of a list undo each other in pairs."""
    kept: list[int] = []
    for place in places:
        if kept and kept[-1] == place:
            kept.pop()
        else:
            kept.append(place)
    return kept


def _leaf(state: int) -> int:
    """Bit 0: inside the set where it is TRUE; bit 1: inside the set where it is FALSE."""
    return diagram.TRUE if state & 1 else diagram.FALSE if state & 2 else diagram.NULL


def _truth(holds: bool) -> int:
    return diagram.TRUE if holds else diagram.FALSE


def _side(operand: object) -> Expression:
    return operand  # type: ignore[return-value]  # conditions know expressions by what they need of them only


def _exact(e: Expression) -> Fraction | None:
    """The number that a constant is, as long as no conversion to a double can change a comparison with it."""
    if not isinstance(e, Constant) or e.value is None or isinstance(e.value, bool | str):
        return None
    value = day_number(e.value)
    return Fraction(value) if -EXACT_DOUBLE < value < EXACT_DOUBLE else None
