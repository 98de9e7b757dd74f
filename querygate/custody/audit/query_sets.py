"""From logged statements to totals over places: the step of an audit that reads the records.

In two passes: first the secret conditions of all statements are collected, because together they divide the records of
a place into minterms; then each number shown for a group becomes a total over places and minterms.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from querygate.core.audit.audit_records import MOST_DISTINCT, AuditRecords
from querygate.core.json_body import JsonValue
from querygate.core.types import Bools, Ints, SqlValue
from querygate.custody.audit.answer_parser import AnswerFigure, Answers, linear, solved, unrounded
from querygate.custody.audit.audit_measures import AuditMeasures, Key, literal, shown
from querygate.methods.audit import FAMILY, PRESENCE, VARIANCE, Pattern, QueryTotal
from querygate.sql.formulas import AnswerFormula
from querygate.sql.logged.logged_statement import (
    ConditionPart,
    LoggedAggregate,
    LoggedStatement,
    UnauditableStatement,
    square_of,
)

AVERAGES = frozenset({"avg", "mean", "favg"})
SUMS = frozenset({"sum", "fsum"}) | AVERAGES
EXTREMES = frozenset({"min", "max", "median", "quantile_cont", "quantile_disc"})
ROOTS = frozenset({"stddev", "stddev_samp", "stddev_pop"})
POPULATION = frozenset({"var_pop", "stddev_pop"})
SPREADS = frozenset({"var_samp", "variance", "var"}) | ROOTS | POPULATION
READ = SUMS | EXTREMES | SPREADS | {"count"}
LARGEST_TIMES = 100
"""The largest number by which an item of a select list multiplies what a record has."""

Cells = list[tuple[Pattern, Bools]]
"""Disjoint sets of places, each with its minterms."""


@dataclass(frozen=True)
class StatementCase:
    """A statement, for one value of the secrets that it groups by."""

    logged: LoggedStatement
    secrets: tuple[SqlValue, ...] = ()


@dataclass(frozen=True, eq=False)
class TotalMeaning:
    """What an aggregate means in a group: times * total + constant, the total being one over cells."""

    key: Key
    cells: Cells
    secrets: tuple[str, ...]
    times: Fraction = Fraction(1)
    constant: Fraction = Fraction(0)
    records: int = 0  # the number of values it adds up

    @property
    def members(self) -> Bools:
        return np.asarray(np.logical_or.reduce([members for _, members in self.cells]))


class QuerySets:
    """Turns statements into totals. Evaluations are cached."""

    def __init__(self, records: AuditRecords, places: int, measures: AuditMeasures) -> None:
        self.records, self.places, self.measures = records, places, measures
        self.sizes = measures.counts("", "")
        self._masks: dict[str, Bools] = {}
        self._asked: dict[str, set[Hashable]] = {}  # the conditions on each secret column
        self._labels: dict[tuple[str, ...], tuple[Ints, list[tuple[SqlValue, ...]]]] = {}

    def note(self, logged: LoggedStatement) -> list[StatementCase]:
        """Notes all conditions of a statement; returns it for each value of the secrets that it groups by."""
        found = [StatementCase(logged)]
        if logged.hidden:
            values = [self.records.distinct(text) for text, _ in logged.hidden]
            if math.prod(len(one) for one in values) > MOST_DISTINCT:
                raise UnauditableStatement(f"It groups by secrets with more than {MOST_DISTINCT} values.")
            found = [_of_secret(logged, chosen) for chosen in itertools.product(*values)]
        for added in (added for one in found for added in one.logged.added):
            if added.name not in READ:
                raise UnauditableStatement(_why_unread(added.name))
            for column in added.about:
                self._asked.setdefault(column, set()).add((added.value, *(part.secret for part in added.parts)))
            for part in added.parts if added.secret else ():
                if not self._mask(part.known).any():
                    continue
                self.measures.note(added.value, part.secret)
                if added.name in SPREADS:
                    self.measures.note(square_of(added.value), part.secret)
        return found

    def totals(self, answer: JsonValue, asked: Sequence[StatementCase]) -> Iterator[QueryTotal]:
        """One total for each number that the statement showed; the caller adds whose it is."""
        if not asked:  # it groups by a secret without any values
            return
        first = asked[0].logged
        label, keys = self._grouped(first)
        answers = Answers(answer, first, [(*key, *one.secrets) for one in asked for key in keys])
        for number, one in enumerate(asked):
            cells = [self._cells(added) for added in one.logged.added]
            for group in range(len(keys)):
                here = label == group
                meant = [
                    None if found is None else self._meant(added, found, here)
                    for added, found in zip(one.logged.added, cells, strict=True)
                ]
                given = _Given(answers, number * len(keys) + group)
                yield from self._shown(given, one.logged, meant)

    def _grouped(self, logged: LoggedStatement) -> tuple[Ints, list[tuple[SqlValue, ...]]]:
        texts = tuple(text for text, _ in logged.keys)
        if texts not in self._labels:
            empty: tuple[Ints, list[tuple[SqlValue, ...]]] = np.zeros(self.places, dtype=np.int64), [()]
            self._labels[texts] = self.records.groups(texts) if texts else empty
        return self._labels[texts]

    # -- what an aggregate is over ------------------------------------------------------------------------------------

    def look_up(self, statements: Iterable[LoggedStatement]) -> None:
        """Evaluate the conditions of many statements at once."""
        parts = (part for one in statements for added in one.added for part in (*added.parts, *added.among))
        wanted = [known for known in dict.fromkeys(part.known for part in parts) if known not in self._masks]
        for condition, mask in zip(wanted, self.records.masks(wanted), strict=True):
            if mask is not None:
                self._masks[condition] = mask

    def _mask(self, condition: str) -> Bools:
        if condition not in self._masks:
            self._masks[condition] = self.records.mask(condition)
        return self._masks[condition]

    def _cells(self, added: LoggedAggregate) -> TotalMeaning | None:
        """The cells of an aggregate over all groups; None if it reveals nothing secret."""
        if not added.secret:
            return None
        dense: dict[Pattern, Ints] = {}
        secrets: list[str] = []
        keys: set[Key] = set()
        for part in added.parts:
            members = self._mask(part.known)
            if members.any():
                key, pattern = self.measures.pattern(added.value, part.secret)
                if any(pattern):
                    keys.add(key)
                    secrets += [part.secret]
                    dense[pattern] = dense.get(pattern, np.zeros(self.places, dtype=np.int64)) + members
        if len(keys) > 1:
            raise UnauditableStatement("It sums different secrets over different people.")
        if not keys:
            return None
        return TotalMeaning(keys.pop(), _joined(list(dense.items())), tuple(secrets))

    def _meant(self, added: LoggedAggregate, over: TotalMeaning, here: Bools) -> TotalMeaning | None:
        """The same in one group; None if the group is empty."""
        cells = [(pattern, members & here) for pattern, members in over.cells]
        cells = [(pattern, members) for pattern, members in cells if members.any()]
        if not cells:
            return None
        records = self._number(added.value, added.parts, here)
        times, constant = added.scale, added.shift * records
        if added.name in AVERAGES:
            among = records
            if added.among:
                missing = self._number("", added.parts, here) - records
                among = self._number("", added.among, here) - missing
            if not among:
                return None
            times, constant = times / among, constant / among
        return TotalMeaning(over.key, cells, over.secrets, times, constant, records) if times else None

    def _number(self, value: str, parts: Sequence[ConditionPart], here: Bools) -> int:
        return sum(int(self.measures.counts(value, p.secret)[self._mask(p.known) & here].sum()) for p in parts)

    # -- what a group was shown ---------------------------------------------------------------------------------------

    def _shown(
        self, given: _Given, logged: LoggedStatement, meant: Sequence[TotalMeaning | None]
    ) -> Iterator[QueryTotal]:
        sizes = {
            i: one.times * one.records + one.constant
            for i, one in enumerate(meant)
            if one is not None and not one.key[0] and not any(one.secrets)
        }
        if not _is_shown(logged, sizes):
            return
        told = set(sizes)  # their number counts as known
        for place, formula in logged.formulas:
            answer = given.answers.given(given.row, place)
            if answer is not None:
                found = list(self._from_formula(given, logged, meant, sizes, formula, answer))
                told |= formula.aggregates if found else set()
                yield from found
        for i, (added, one) in enumerate(zip(logged.added, meant, strict=True)):
            if one is None or (added.item is None and i in told):
                continue
            answer = AnswerFigure() if added.item is None else given.answers.given(given.row, added.item)
            if answer is None and not one.records and added.name in SUMS:
                answer = AnswerFigure(Fraction(0), Fraction(0), "0")  # nobody has a value: NULL shows that
            if answer is not None:
                yield from self._total(given, added, one, answer)
        if not self.records.has_secrets:
            yield from self._families(logged, meant)

    def _families(self, logged: LoggedStatement, meant: Sequence[TotalMeaning | None]) -> Iterator[QueryTotal]:
        """The same again, ignoring the conditions: only the secrets could show which of them hold for the same people.
        So different questions about a secret column count as one."""
        for added, one in zip(logged.added, meant, strict=True):
            for column in added.about if one is not None else ():
                if one is not None and len(self._asked.get(column, ())) > 1:
                    name = f"{FAMILY}{column}"
                    yield QueryTotal("", "", name, one.members, base=name, records=one.records)

    def _from_formula(
        self,
        given: _Given,
        logged: LoggedStatement,
        meant: Sequence[TotalMeaning | None],
        sizes: dict[int, Fraction],
        formula: AnswerFormula,
        answer: AnswerFigure,
    ) -> Iterator[QueryTotal]:
        """Totals of an arithmetic item: one aggregate by itself, or several of one measure combined."""
        formula, answer = unrounded(formula, answer)
        found = linear(formula, sizes)
        if found is not None and not found.times:
            found = linear(formula, {})
        ones = [] if found is None else [(meant[i], c) for i, c in found.times.items()]
        sums = all(logged.added[i].name in SUMS | {"count"} for i in (found.times if found else ()))
        if found is None or not ones or not sums or len({one.key for one, _ in ones if one is not None}) != 1:
            return
        factors = [(one, c * one.times) for one, c in ones if one is not None]
        constant = found.constant + sum((c * one.constant for one, c in ones if one is not None), Fraction(0))
        step = factors[0][1] if len(factors) == 1 else _common([c for _, c in factors])
        times = [int(c / step) for _, c in factors]
        if max(map(abs, times)) > LARGEST_TIMES:
            return
        over = [(one, n) for (one, _), n in zip(factors, times, strict=True)]
        cells, factor = _reduced(_joined([(p, n * m.astype(np.int64)) for one, n in over for p, m in one.cells]))
        if any(abs(n) > LARGEST_TIMES for pattern, _ in cells for n in pattern):
            return
        secrets = tuple(secret for one, _ in factors for secret in one.secrets)
        if cells:
            both = TotalMeaning(factors[0][0].key, cells, secrets)
            yield from self._sums(given, both, solved(answer, step * factor, constant))

    def _total(
        self, given: _Given, added: LoggedAggregate, one: TotalMeaning, answer: AnswerFigure
    ) -> Iterator[QueryTotal]:
        if added.name in SUMS or added.name == "count":
            yield from self._sums(given, one, solved(answer, one.times, one.constant))
        elif len(one.cells) > 1:
            raise UnauditableStatement("It compares different secrets of different people.")
        elif added.name in EXTREMES:
            measure = self.measures.name(one.key, one.cells[0][0], one.secrets)
            kind = " ".join((added.name, *added.parameters))
            yield QueryTotal("", "", measure, one.members, kind, *answer)
        else:
            yield self._spread(given, added, one, answer)

    def _spread(self, given: _Given, added: LoggedAggregate, one: TotalMeaning, answer: AnswerFigure) -> QueryTotal:
        """A variance as the sum of squares about the mean; it gives a total of squares if the sum is known too."""
        pattern, members = one.cells[0]
        if len(one.secrets) != 1:
            raise UnauditableStatement("It is a variance over people selected by more than one secret condition.")
        of = self.measures.name(one.key, pattern, one.secrets)
        key, squared = self.measures.pattern(square_of(added.value), one.secrets[0])
        measure = self.measures.name(key, squared, one.secrets)
        number = one.records if added.name in POPULATION else one.records - 1
        low, high, said = answer
        if low is not None and high is not None and added.name in ROOTS:
            low, high, said = max(low, Fraction(0)) ** 2, max(high, Fraction(0)) ** 2, _squared(said)
        if low is not None and high is not None:
            low, high, said = low * number, high * number, f"{number}*{said}"
        return QueryTotal(
            "",
            "",
            measure,
            members,
            VARIANCE,
            low,
            high,
            said,
            self.measures.system(key, reduced=False),
            ((squared, members),),
            one.records,
            of,
        )

    def _sums(self, given: _Given, one: TotalMeaning, answer: AnswerFigure) -> Iterator[QueryTotal]:
        """A sum is one total. A count is one of presence, and one of the secrets in its condition."""
        key = one.key
        if key[0]:
            yield self._sum(given, one, answer, self.measures.system(key, reduced=False))
            return
        if not key[1]:
            yield self._sum(given, one, answer, PRESENCE)
        left = [(tuple(t - pattern[0] for t in pattern), members) for pattern, members in one.cells]
        left = [(pattern, members) for pattern, members in left if any(pattern)]
        if left:
            known = sum(pattern[0] * int(self.sizes[members].sum()) for pattern, members in one.cells)
            sign = 1 if next(t for t in left[0][0] if t) > 0 else -1
            cells = [(tuple(sign * t for t in pattern), members) for pattern, members in left]
            turned = solved(answer, Fraction(sign), Fraction(known))
            flipped = replace(one, cells=cells, secrets=one.secrets if sign > 0 else _turned(one.secrets))
            yield self._sum(given, flipped, turned, self.measures.system(key, reduced=True))

    def _sum(self, given: _Given, one: TotalMeaning, answer: AnswerFigure, system: str) -> QueryTotal:
        if system == PRESENCE:
            measure = PRESENCE
        elif len(one.cells) == 1:
            measure = self.measures.name(one.key, one.cells[0][0], one.secrets)
        else:
            measure = f"{shown(one.key[0])} by place".strip()
        parts = tuple(sorted(((p, m) for p, m in one.cells), key=lambda cell: cell[0]))
        counted = not one.key[0] and all(self.measures.varies(secret) for secret in one.secrets)
        return QueryTotal("", "", measure, one.members, "", *answer, system, parts, one.records, counted=counted)


@dataclass(frozen=True)
class _Given:
    """Identifies a row of an answer."""

    answers: Answers
    row: int


def _joined(weighted: Sequence[tuple[Pattern, Ints]]) -> Cells:
    """Disjoint sets of places, by the factors of their minterms."""
    if len(weighted) == 1 and weighted[0][1].max(initial=0) == 1 and weighted[0][1].min(initial=0) == 0:
        return [(weighted[0][0], weighted[0][1] > 0)]
    if not weighted:
        return []
    dense = sum(times[:, None] * np.array(pattern) for pattern, times in weighted)
    rows, label = np.unique(np.asarray(dense), axis=0, return_inverse=True)
    return [(tuple(int(t) for t in row), np.asarray(label.reshape(-1) == i)) for i, row in enumerate(rows) if row.any()]


def _reduced(cells: Cells) -> tuple[Cells, int]:
    """The cells divided by their common factor, and that factor: 62 times a total reveals the total."""
    times = [n for pattern, _ in cells for n in pattern if n]
    factor = math.gcd(*times) * (1 if not times or times[0] > 0 else -1)
    return [(tuple(n // factor for n in pattern), members) for pattern, members in cells], factor


def _common(values: Sequence[Fraction]) -> Fraction:
    """The greatest common divisor."""
    whole = math.lcm(*(value.denominator for value in values))
    return Fraction(math.gcd(*(int(value * whole) for value in values)), whole)


def _of_secret(logged: LoggedStatement, values: tuple[SqlValue, ...]) -> StatementCase:
    """The statement with its secret keys turned into conditions."""
    held = [
        f"(({text} {'IS NULL' if value is None else f'= {literal(value)}'}) IS NOT DISTINCT FROM TRUE)"
        for (text, _), value in zip(logged.hidden, values, strict=True)
    ]
    condition = " AND ".join(held)

    def among_them(parts: Sequence[ConditionPart]) -> tuple[ConditionPart, ...]:
        secrets = [f"({part.secret}) AND {condition}" if part.secret else condition for part in parts]
        return tuple(ConditionPart(part.known, secret) for part, secret in zip(parts, secrets, strict=True))

    added = [replace(one, parts=among_them(one.parts), among=among_them(one.among)) for one in logged.added]
    return StatementCase(replace(logged, added=tuple(added)), values)


def _is_shown(logged: LoggedStatement, sizes: dict[int, Fraction]) -> bool:
    """Does HAVING, as far as it uses known numbers, show the group?"""
    for one in logged.shown:
        found = linear(one.formula, sizes)
        if found is not None and not found.times:
            tests = {
                ">": found.constant > one.number,
                ">=": found.constant >= one.number,
                "=": found.constant == one.number,
            }
            tests |= {"<": found.constant < one.number, "<=": found.constant <= one.number}
            if not tests[one.comparison]:
                return False
    return True


def _squared(said: str) -> str:
    return f"{said}^2" if said.replace(".", "").isalnum() else f"({said})^2"


def _turned(secrets: Sequence[str]) -> tuple[str, ...]:
    return (f"NOT ({' OR '.join(secrets)})",)


def _why_unread(name: str) -> str:
    if name.endswith(" distinct"):
        return "It counts or sums distinct values, which is not a total over records."
    return f"The audit does not know what {name.upper()} reveals in combination with others."
