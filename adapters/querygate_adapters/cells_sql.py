"""A Plan as one aggregate SELECT over the cells. Every SQL engine runs this same text.

Per cell and condition the statement computes how many of the cell's n records satisfy it at least and at most:
Frechet bounds, AND: [max(0, l1 + l2 - n), min(u1, u2)], OR: [max(l1, l2), min(n, u1 + u2)]. NOT has been pushed to
the atoms, so only the TRUE side is needed. Where the aggregated column is also in the condition, its interval is
clipped to the values the condition lets through. What comes back is grouped by (keys, intervals) with the bounds
added up: one row per distinct interval, never one per person.

Physical columns of column number i: c{i}_lo, c{i}_hi, and c{i}_null (0 none, 1 some, 2 all of the cell's values are
missing; absent where nothing is missing) for numbers; c{i}_set for categories.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from querygate.core.plan import Measure, Plan
from querygate.core.predicate import And, Atom, Const, Or, Predicate, columns
from querygate.core.types import Catalog, Column
from querygate.core.valueset import kind_of
from querygate_adapters.dictionary import ALWAYS, NEVER, Dictionary

INT64 = (-(2**63), 2**63 - 1)


@dataclass
class CellQuery:
    """Builds the statement; constants go to `parameters` and never into the text."""

    catalog: Catalog
    dictionaries: Mapping[int, Dictionary]
    placeholder: Callable[[str], str] = lambda name: f"${name}"
    parameters: dict[str, Any] = field(default_factory=dict)
    grouped: tuple[str, ...] = ()

    def build(self, plan: Plan) -> str:
        """The statement: keys k0.., then for each measure m: l{m}, u{m} and, with a column, lo{m}, hi{m}."""
        self.grouped = plan.groups
        keys = [f"k{g}" for g in range(len(plan.groups))]
        measured = [m for m, measure in enumerate(plan.measures) if measure.column is not None]
        ends = [f"{side}{m}" for m in measured for side in ("lo", "hi")]
        bounds = [self._measure(m, measure) for m, measure in enumerate(plan.measures)]
        counts = ", ".join(
            f"CAST(SUM(l{m}) AS BIGINT) AS l{m}, CAST(SUM(u{m}) AS BIGINT) AS u{m}" for m in range(len(bounds))
        )
        by = ", ".join([*keys, *ends])
        return "\n".join(
            [
                f"WITH cell AS ({self._cells(plan)}),",
                f"bound AS (SELECT {', '.join([*keys, *bounds])} FROM cell),",
                f"held AS (SELECT {', '.join([*keys, *(self._held(m, plan.measures[m]) for m in range(len(bounds)))])}",
                "  FROM bound WHERE u0 > 0)",
                f"SELECT {', '.join([*keys, *ends, counts])} FROM held",
                f"GROUP BY {by} ORDER BY {by}" if by else "HAVING COUNT(*) > 0",
            ]
        )

    # -- the cells, projected to the columns that matter and spread over the group keys -----------------------

    def _cells(self, plan: Plan) -> str:
        used: set[str] = set()
        for measure in plan.measures:
            used |= columns(measure.where) | ({measure.column} if measure.column else set())
        physical = [
            name
            for column in self.catalog.columns
            if column.name in used - set(plan.groups)
            for name in self._stored(column)
        ]
        if self.catalog.tight:
            physical += ["class", "class_n"]
        keys, joins, alone = [], [], []
        for g, name in enumerate(plan.groups):
            index = self._column(name).index
            keys.append(f"s{g}.value_id AS k{g}")
            alone.append(f"s{g}.alone")
            joins.append(f"JOIN set_value s{g} ON s{g}.column_id = {index} AND s{g}.set_id = cells.c{index}_set")
        if alone:
            keys.append(f"({' AND '.join(alone)}) AS alone")
        names = [*(f"cells.{name}" for name in physical), *keys]
        by = ", ".join([*(f"cells.{name}" for name in physical), *(key.split(" AS ")[0] for key in keys)])
        grouping = f" GROUP BY {by}" if by else ""
        return (
            f"SELECT {', '.join([*names, 'CAST(SUM(cells.n) AS BIGINT) AS n'])} FROM cells {' '.join(joins)}{grouping}"
        )

    @staticmethod
    def _stored(column: Column) -> list[str]:
        if not column.is_numeric:
            return [f"c{column.index}_set"]
        names = [f"c{column.index}_lo", f"c{column.index}_hi"]
        return [*names, f"c{column.index}_null"] if column.nullable else names

    # -- measures --------------------------------------------------------------------------------------------

    def _measure(self, m: int, measure: Measure) -> str:
        least, most = self._bounds(measure.where)
        if self.grouped:  # being in the group is one more condition: certain where the cell's set has one value
            least = f"CASE WHEN alone THEN {least} ELSE 0 END"
        parts = [f"{least} AS l{m}", f"{most} AS u{m}"]
        if measure.column is not None:
            low, high = self._hull(measure.where, self._column(measure.column))
            parts += [f"{low} AS lo{m}", f"{high} AS hi{m}"]
        return ", ".join(parts)

    def _held(self, m: int, measure: Measure) -> str:
        """Where the clipped interval is empty nobody is selected; where nobody is selected the interval is moot."""
        if measure.column is None:
            return f"l{m}, u{m}"
        real = f"u{m} > 0 AND lo{m} <= hi{m}"
        return ", ".join(
            f"CASE WHEN {real} THEN {name} ELSE {other} END AS {name}"
            for name, other in ((f"l{m}", "0"), (f"u{m}", "0"), (f"lo{m}", "NULL"), (f"hi{m}", "NULL"))
        )

    # -- count bounds ------------------------------------------------------------------------------------------

    def _bounds(self, p: Predicate) -> tuple[str, str]:
        """SQL for the least and the most number of the cell's records for which the condition is TRUE."""
        match p:
            case Const(truth):
                return ("n", "n") if truth == "true" else ("0", "0")
            case Atom():
                column = self._column(p.column)
                return self._number_bounds(p, column) if column.is_numeric else self._category_bounds(p, column)
            case And(parts):
                least, most = zip(*(self._bounds(part) for part in parts), strict=True)
                return f"GREATEST(0, {' + '.join(least)} - {len(parts) - 1} * n)", f"LEAST({', '.join(most)})"
            case Or(parts):
                least, most = zip(*(self._bounds(part) for part in parts), strict=True)
                return f"GREATEST({', '.join(least)})", f"LEAST(n, {' + '.join(most)})"

    def _category_bounds(self, atom: Atom, column: Column) -> tuple[str, str]:
        dictionary = self.dictionaries[column.index]
        if column.name in self.grouped:  # the key is known: the condition is decided
            truth = "".join("1" if t else "0" for t in dictionary.value_truth(atom))
            holds = f"{self._letter(truth, f'k{self.grouped.index(column.name)} + 1')} = '1'"
            count = f"CASE WHEN {holds} THEN n ELSE 0 END"
            return count, count
        status = self._letter("".join(map(str, dictionary.set_status(atom))), f"c{column.index}_set")
        return f"CASE WHEN {status} = '{ALWAYS}' THEN n ELSE 0 END", f"CASE WHEN {status} = '{NEVER}' THEN 0 ELSE n END"

    def _number_bounds(self, atom: Atom, column: Column) -> tuple[str, str]:
        low, high = f"c{column.index}_lo", f"c{column.index}_hi"
        inside = self._pieces(atom, column, "{low} >= {p}", "{high} <= {q}")
        touched = self._pieces(atom, column, "{high} >= {p}", "{low} <= {q}")
        must, may = inside, touched
        missing = "FALSE"
        if column.nullable:
            state, null_true = f"c{column.index}_null", "TRUE" if atom.null == "true" else "FALSE"
            must = f"({state} = 2 OR {inside}) AND ({state} = 0 OR {null_true})"
            may = f"({state} <> 2 AND {touched}) OR ({state} <> 0 AND {null_true})"
            missing = f"{state} = 1"
        if not (self.catalog.tight and column.role == "quasi-identifier"):
            return f"CASE WHEN {must} THEN n ELSE 0 END", f"CASE WHEN {may} THEN n ELSE 0 END"
        # Tight edges: in a whole class one member sits at each end, and one at least is missing where some are.
        at = [self._pieces(atom, column, f"{end} >= {{p}}", f"{end} <= {{q}}") for end in (low, high)]
        known = [("TRUE", at[0]), (f"{low} < {high}", at[1]), (missing, "TRUE" if atom.null == "true" else "FALSE")]
        sure = " + ".join(f"CASE WHEN ({there}) AND {hit} THEN 1 ELSE 0 END" for there, hit in known)
        out = " - ".join(f"CASE WHEN ({there}) AND NOT {hit} THEN 1 ELSE 0 END" for there, hit in known)
        return (
            f"CASE WHEN {must} THEN n WHEN n = class_n THEN {sure} ELSE 0 END",
            f"CASE WHEN {may} THEN CASE WHEN n = class_n THEN n - {out} ELSE n END ELSE 0 END",
        )

    def _pieces(self, atom: Atom, column: Column, from_below: str, from_above: str) -> str:
        """A disjunction over the closed intervals [p, q] of the condition's set; an open side asks nothing."""
        names = {"low": f"c{column.index}_lo", "high": f"c{column.index}_hi"}
        pieces = []
        for p, q in _intervals(atom, column):
            tests = []
            if p is not None:
                tests.append(from_below.format(p=self._parameter(p), **names))
            if q is not None:
                tests.append(from_above.format(q=self._parameter(q), **names))
            pieces.append(" AND ".join(tests) if tests else f"{names['low']} IS NOT NULL")
        return "(" + " OR ".join(f"({piece})" for piece in pieces) + ")" if pieces else "FALSE"

    # -- values ------------------------------------------------------------------------------------------------

    def _hull(self, p: Predicate, column: Column) -> tuple[str, str]:
        """SQL for an interval that holds the column's value in every record of the cell for which `p` is TRUE.

        Where there is no such value the ends have crossed, as far apart as they go: GREATEST and LEAST above then let
        it empty an AND and leave an OR alone. A branch that says nothing of the column says its whole interval.
        """
        low, high = f"c{column.index}_lo", f"c{column.index}_hi"
        match p:
            case Atom(column=name) if name == column.name:
                pieces = [self._clip(column, a, b) for a, b in _intervals(p, column)]
                return _joined("LEAST", "GREATEST", pieces or [self._nothing(column)])
            case And(parts):
                said = [self._hull(part, column) for part in parts if column.name in columns(part)]
                return _joined("GREATEST", "LEAST", said or [(low, high)])
            case Or(parts) if column.name in columns(p):
                branches = []
                for part in parts:
                    possible = f"({self._bounds(part)[1]}) > 0"
                    ends = zip(self._hull(part, column), self._nothing(column), strict=True)
                    a, b = (f"CASE WHEN {possible} THEN {end} ELSE {none} END" for end, none in ends)
                    branches.append((a, b))
                return _joined("LEAST", "GREATEST", branches)
        return low, high

    def _clip(self, column: Column, p: Any, q: Any) -> tuple[str, str]:
        """The cell's interval cut to [p, q]; an open side cuts nothing."""
        low, high = f"c{column.index}_lo", f"c{column.index}_hi"
        ends = (
            low if p is None else f"GREATEST({low}, {self._parameter(p)})",
            high if q is None else f"LEAST({high}, {self._parameter(q)})",
        )
        meets = [f"{high} >= {self._parameter(p)}"] if p is not None else []
        meets += [f"{low} <= {self._parameter(q)}"] if q is not None else []
        if not meets:
            return ends
        none = self._nothing(column)
        a, b = (f"CASE WHEN {' AND '.join(meets)} THEN {ends[i]} ELSE {none[i]} END" for i in (0, 1))
        return a, b

    def _nothing(self, column: Column) -> tuple[str, str]:
        """The ends of an interval that holds no value."""
        most = INT64[1] if column.is_discrete else math.inf
        return self._parameter(most), self._parameter(-most)

    # -- helpers -----------------------------------------------------------------------------------------------

    def _column(self, name: str) -> Column:
        column = self.catalog.column(name)
        if column is None:
            raise KeyError(name)
        return column

    def _parameter(self, value: Any) -> str:
        for name, known in self.parameters.items():
            if type(known) is type(value) and known == value:
                return self.placeholder(name)
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return self.placeholder(name)

    def _letter(self, letters: str, index: str) -> str:
        """Letter number `index` (from 0) of a text: an array look-up that every SQL engine does fast."""
        return f"SUBSTRING({self._parameter(letters)}, {index} + 1, 1)"


def _joined(low: str, high: str, intervals: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """One interval for several: `low` and `high` name the functions that choose among their ends."""
    if len(intervals) == 1:
        return intervals[0]
    lows, highs = zip(*intervals, strict=True)
    return f"{low}({', '.join(lows)})", f"{high}({', '.join(highs)})"


def _intervals(atom: Atom, column: Column) -> Iterator[tuple[Any, Any]]:
    """The pieces on which the condition is TRUE, in values that the column can have.

    A bound beyond 64 bits would make engines compare, and answer, in a wider type that need not be exact.
    """
    least, greatest = INT64 if column.is_discrete else (-math.inf, math.inf)
    for low, high in atom.true.intervals(kind_of(column.type)):
        if (low is None or low <= greatest) and (high is None or high >= least):
            yield (
                None if low is None or low <= least else low,
                None if high is None or high >= greatest else high,
            )
