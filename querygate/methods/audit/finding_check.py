"""Every finding checked again, from the sets alone: by another road, in plain whole numbers and fractions.

Shares no arithmetic with the search. A finding is sound if

    the totals, times the coefficients, leave the isolated places and nothing else that has a value,
    these hold fewer than k records,
    and the arithmetic that is shown, worked out from its text, gives the value that is told.

A finding that is not sound is a fault of the auditor. It is reported as unproved, so that it accuses nobody.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

from querygate.core.types import Ints
from querygate.methods.audit.power_sums import HIGHER, LOWER
from querygate.methods.audit.totals import Base, Finding, Inference, Pattern, QueryTotal


class NotSound(AssertionError):
    """A finding whose proof does not hold."""


def verify(finding: Finding, weights: Mapping[str, Ints], k: int, bases: Mapping[str, Base] | None = None) -> None:
    """Raise NotSound unless the proof of the finding holds."""
    if finding.severity == "notice":
        return
    by_measure: dict[str, list[tuple[QueryTotal, Fraction]]] = defaultdict(list)
    if finding.coefficients:
        for (measure, query, times), total in zip(finding.coefficients, finding.totals, strict=True):
            if total.query != query:
                raise NotSound("a coefficient is not that of its total")
            by_measure[measure].append((total, times))
    isolated = {place for place, inside in enumerate(finding.places.tolist()) if inside}
    if not finding.coefficients and finding.totals:
        _check_apart(finding, weights[finding.totals[0].measure], isolated, k)
    for measure, parts in by_measure.items():
        held = weights[measure] if measure in weights else weights[parts[0][0].system]
        _check_left(measure, parts, isolated, held, bases or {})
        _check_size(isolated, held, finding.records, k)
        for inferred in finding.inferred:
            if inferred.measure == measure and finding.kind != "bounds":
                _check_value(inferred, parts)
    _check_pair(finding.inferred)
    if not 0 < finding.records < k or not isolated:
        raise NotSound("it does not isolate fewer than k records")


def _check_apart(finding: Finding, weights: Ints, isolated: set[int], k: int) -> None:
    """Of two extremes: the isolated places are those with a value that only one of the sets has; of one, all it has."""
    one, other = finding.totals
    if (one.measure, one.extreme) != (other.measure, other.extreme):
        raise NotSound("extremes of different measures are compared")
    sets = zip(one.members.tolist(), other.members.tolist(), weights.tolist(), strict=True)
    apart = {place for place, (a, b, held) in enumerate(sets) if held and (a if one is other else a != b)}
    if apart != isolated:
        raise NotSound("two sets do not differ by the isolated places")
    _check_size(isolated, weights, finding.records, k)


def _check_left(
    measure: str,
    parts: Sequence[tuple[QueryTotal, Fraction]],
    isolated: set[int],
    weights: Ints,
    bases: Mapping[str, Base],
) -> None:
    """The combination leaves the measure, or its opposite, at each isolated place, and nothing elsewhere.

    A place where nobody has a value adds nothing, whatever it is multiplied by.
    """
    system = parts[0][0].system
    left: dict[int, list[Fraction]] = {}
    for total, times in parts:
        if total.system != system:
            raise NotSound("totals of different measures are added up")
        for pattern, members in total.parts or (((1,), total.members),):
            for place, inside in enumerate(members.tolist()):
                if inside:
                    row = left.setdefault(place, [Fraction(0)] * len(pattern))
                    for minterm, entry in enumerate(pattern):
                        row[minterm] += times * entry
    remains = {place: tuple(row) for place, row in left.items() if any(row) and weights[place]}
    if not set(remains) >= isolated:
        raise NotSound("an isolated place is cancelled out")
    known = bases.get(system, Base({system: (1,)}, 1))
    wanted = known.measures.get(measure)
    for place, rest in remains.items():
        if place not in isolated:
            raise NotSound("a place is left that is not isolated")
        if wanted is not None and rest not in (_fractions(wanted, 1), _fractions(wanted, -1)):
            raise NotSound("more is left of a place than the measure")


def _fractions(pattern: Pattern, sign: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(sign * times) for times in pattern)


def _check_size(isolated: set[int], weights: Ints, records: int, k: int) -> None:
    number = sum(int(weights[place]) for place in isolated)
    if number != records or not 0 < number < k:
        raise NotSound("the isolated places do not hold as many records as it says, or not fewer than k")


def _check_value(inferred: Inference, parts: Sequence[tuple[QueryTotal, Fraction]]) -> None:
    """Exact answers: what the text works out to, the sum of the answers, and what is reported are one number."""
    exact = all(total.said and total.low is not None and total.low == total.high for total, _ in parts)
    if not exact or inferred.low is None:
        return
    value = sum((times * total.low for total, times in parts if total.low is not None), Fraction(0))
    told = evaluate(inferred.arithmetic)
    if not value == told == inferred.low == inferred.high:
        raise NotSound("the arithmetic does not give the value")


def _check_pair(inferred: Sequence[Inference]) -> None:
    by_measure = {one.measure: one.low for one in inferred}
    for measure, low in by_measure.items():
        name, comma, which = measure.rpartition(", ")
        if not comma or which != LOWER or low is None:
            continue
        high, total, squares = (by_measure.get(other) for other in (f"{name}, {HIGHER}", name, f"{name}^2"))
        if high is None or low + high != total or low**2 + high**2 != squares:
            raise NotSound("two values do not have their sum and their sum of squares")


_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)|(.))")


def evaluate(text: str) -> Fraction:
    """The value of +, -, *, /, ^ and brackets over decimal numbers.

    >>> evaluate("11*115 - 10*110"), evaluate("(3*2.5 + (9)^2/3) - -1")
    (Fraction(165, 1), Fraction(71, 2))
    """
    tokens = [(number, sign) for number, sign in _TOKEN.findall(text) if number or sign.strip()]
    value, at = _sum(tokens, 0)
    if at != len(tokens):
        raise NotSound("the arithmetic cannot be read")
    return value


_Tokens = list[tuple[str, str]]


def _sum(tokens: _Tokens, at: int) -> tuple[Fraction, int]:
    value, at = _product(tokens, at)
    while at < len(tokens) and tokens[at][1] in ("+", "-"):
        sign = tokens[at][1]
        other, at = _product(tokens, at + 1)
        value = value + other if sign == "+" else value - other
    return value, at


def _product(tokens: _Tokens, at: int) -> tuple[Fraction, int]:
    value, at = _power(tokens, at)
    while at < len(tokens) and tokens[at][1] in ("*", "/"):
        sign = tokens[at][1]
        other, at = _power(tokens, at + 1)
        value = value * other if sign == "*" else value / other
    return value, at


def _power(tokens: _Tokens, at: int) -> tuple[Fraction, int]:
    if at < len(tokens) and tokens[at][1] == "-":
        value, at = _power(tokens, at + 1)
        return -value, at
    value, at = _atom(tokens, at)
    while at < len(tokens) and tokens[at][1] == "^":
        exponent, at = _atom(tokens, at + 1)
        value = value ** int(exponent)
    return value, at


def _atom(tokens: _Tokens, at: int) -> tuple[Fraction, int]:
    if at < len(tokens) and tokens[at][0]:
        return Fraction(tokens[at][0]), at + 1
    if at < len(tokens) and tokens[at][1] == "(":
        value, at = _sum(tokens, at + 1)
        if at < len(tokens) and tokens[at][1] == ")":
            return value, at + 1
    raise NotSound("the arithmetic cannot be read")
