"""What each column of an answer measures, as its statement has it: for whoever draws the answer.

A name in an answer says nothing certain: `AS q3` may be a quantile, and `count` anything. The statement says it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from querygate.core.errors import QueryGateError
from querygate.sql.aggregates import NAMES, quantiles, read_aggregate
from querygate.sql.parse import DIALECT, parse


@dataclass(frozen=True, slots=True)
class WrittenMeasure:
    """A statistic of `of`, with the number that follows it: the share of a quantile, the threshold of an exceedance."""

    statistic: str
    of: str
    parameter: float | None = None


def written_measures(sql: str) -> list[WrittenMeasure | None]:
    """A measure for each column in the order of the answer; None where a column is anything but one aggregate.

    >>> written_measures("SELECT sex, MEDIAN(age), QUANTILE_CONT(age, [0.1, 0.9]) FROM t GROUP BY sex")[1:3]
    [WrittenMeasure(statistic='median', of='age', parameter=None), \
WrittenMeasure(statistic='quantile_cont', of='age', parameter=0.1)]
    """
    try:
        tree = parse(sql)
    except QueryGateError:  # the log has texts that other versions could read
        return []
    if not isinstance(tree, exp.Select):
        return []
    found: list[WrittenMeasure | None] = []
    for selected in tree.expressions:
        node = selected.unalias()
        each = [one for one, _ in quantiles(node)] or [node]
        found += [_measure(one) for one in each]
    return found


def _measure(node: exp.Expr) -> WrittenMeasure | None:
    call = read_aggregate(node)
    if call is None or not call.arguments or call.distinct:
        return None
    known = NAMES.get(call.name)
    parts = [argument.sql(dialect=DIALECT) for argument in call.arguments]
    wants = len(known.parameters) if known is not None else 0
    last = call.arguments[-1] if wants and len(call.arguments) > wants else None
    of = parts if last is None else parts[:-1]
    condition = [call.condition.sql(dialect=DIALECT)] if call.condition is not None else []
    return WrittenMeasure(known.statistic if known else call.name, " | ".join(of + condition), _number(last))


def _number(node: exp.Expr | None) -> float | None:
    sign = -1.0 if isinstance(node, exp.Neg) else 1.0
    literal = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(literal, exp.Literal) or literal.is_string:
        return None
    try:
        return sign * float(literal.this)
    except ValueError:
        return None
