"""Aggregates by the names SQL gives them: which statistic each means, and what it takes.

Most names are DuckDB's and PostgreSQL's. Those that SQL lacks are documented in the reference: CV, IQR, VALUE_RANGE,
HARMONIC_MEAN, KURTOSIS_POP, EXCEEDANCE, CI_LOW, CI_HIGH, MEAN_DIFF, WELCH_T, WELCH_P, MANN_WHITNEY, SUPERIORITY,
SPEARMAN, KENDALL, RISK, RISK_DIFF, RISK_RATIO, ODDS_RATIO, CHI_SQUARE.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from sqlglot import exp

from querygate.core.frozen_classes import frozen

Family = Literal["column", "pair", "groups", "table"]


@frozen
class Aggregation:
    """A statistic under a name of SQL: of a column, of two, of a column in two groups, or of two conditions.

    `parameters` are the defaults of what follows the columns, None where it must be given.
    """

    statistic: str
    family: Family = "column"
    parameters: tuple[float | None, ...] = ()
    value: bool = False  # the result has the type of the column
    dates: bool = False  # days can be asked for it too


_SUM = Aggregation("sum", value=True)
_AVG = Aggregation("avg")

NAMES: dict[str, Aggregation] = {
    "count": Aggregation("count"),
    "sum": _SUM,
    "fsum": Aggregation("sum"),
    "avg": _AVG,
    "mean": _AVG,
    "favg": _AVG,
    "min": Aggregation("min", value=True, dates=True),
    "max": Aggregation("max", value=True, dates=True),
    "median": Aggregation("median"),
    "mode": Aggregation("mode", value=True, dates=True),
    "mad": Aggregation("mad"),
    "var_samp": Aggregation("var_samp"),
    "variance": Aggregation("var_samp"),
    "var": Aggregation("var_samp"),
    "var_pop": Aggregation("var_pop"),
    "stddev": Aggregation("stddev_samp"),
    "stddev_samp": Aggregation("stddev_samp"),
    "stddev_pop": Aggregation("stddev_pop"),
    "skewness": Aggregation("skewness"),
    "kurtosis": Aggregation("kurtosis"),
    "kurtosis_pop": Aggregation("kurtosis_pop"),
    "entropy": Aggregation("entropy"),
    "geomean": Aggregation("geometric_mean"),
    "geometric_mean": Aggregation("geometric_mean"),
    "harmonic_mean": Aggregation("harmonic_mean"),
    "cv": Aggregation("cv"),
    "iqr": Aggregation("iqr"),
    "value_range": Aggregation("range", value=True),
    "quantile_cont": Aggregation("quantile_cont", parameters=(None,)),
    "quantile_disc": Aggregation("quantile_disc", parameters=(None,), value=True, dates=True),
    "exceedance": Aggregation("exceedance", parameters=(None,)),
    "ci_low": Aggregation("mean_ci_low", parameters=(0.95,)),
    "ci_high": Aggregation("mean_ci_high", parameters=(0.95,)),
    "covar_pop": Aggregation("covar_pop", "pair"),
    "covar_samp": Aggregation("covar_samp", "pair"),
    "corr": Aggregation("corr", "pair"),
    "regr_slope": Aggregation("regr_slope", "pair"),
    "regr_intercept": Aggregation("regr_intercept", "pair"),
    "regr_r2": Aggregation("regr_r2", "pair"),
    "mean_diff": Aggregation("mean_difference", "groups"),
    "welch_t": Aggregation("welch_t", "groups"),
    "welch_p": Aggregation("welch_p", "groups"),
    "mann_whitney": Aggregation("mann_whitney", "groups"),
    "superiority": Aggregation("superiority", "groups"),
    "spearman": Aggregation("spearman", "pair"),
    "kendall": Aggregation("kendall", "pair"),
    "risk": Aggregation("proportion", "table"),
    "risk_diff": Aggregation("risk_difference", "table"),
    "risk_ratio": Aggregation("risk_ratio", "table"),
    "odds_ratio": Aggregation("odds_ratio", "table"),
    "chi_square": Aggregation("chi_square", "table"),
}

AGGREGATE_NODES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.CountIf: "count_if",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Median: "median",
    exp.Mode: "mode",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.Skewness: "skewness",
    exp.Kurtosis: "kurtosis",
    exp.PercentileCont: "quantile_cont",
    exp.PercentileDisc: "quantile_disc",
    exp.Quantile: "quantile_disc",
    exp.Corr: "corr",
    exp.CovarPop: "covar_pop",
    exp.CovarSamp: "covar_samp",
    exp.RegrSlope: "regr_slope",
    exp.RegrIntercept: "regr_intercept",
    exp.RegrR2: "regr_r2",
    exp.LogicalOr: "bool_or",
    exp.LogicalAnd: "bool_and",
    exp.RegrCount: "regr_count",
    exp.RegrAvgx: "regr_avgx",
    exp.RegrAvgy: "regr_avgy",
}
"""Aggregates that the parser has kinds of nodes for."""

_READ = ("this", "expression", "quantile", "expressions")
"""Where the parser keeps the arguments of an aggregate, in their order."""


@frozen
class AggregateCall:
    """An aggregate as it was written: its name, its arguments, and what stands around them."""

    name: str
    arguments: tuple[exp.Expr, ...]
    distinct: bool = False
    condition: exp.Expr | None = None  # FILTER (WHERE ...)


def is_aggregate(node: exp.Expr) -> bool:
    """Does an aggregate begin here? FILTER and WITHIN GROUP belong to the one inside them; one with OVER is none."""
    if isinstance(node.parent, exp.Window) and node.arg_key == "this":
        return False
    if isinstance(node, (exp.Filter, exp.WithinGroup)):
        return True
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in NAMES
    return type(node) in AGGREGATE_NODES


def read_aggregate(node: exp.Expr) -> AggregateCall | None:
    """The aggregate at a node; None where its parts do not fit together."""
    if isinstance(node, exp.Filter):
        inner = read_aggregate(node.this)
        clause = node.expression
        if inner is None or not isinstance(clause, exp.Where):
            return None
        return AggregateCall(inner.name, inner.arguments, inner.distinct, clause.this)
    if isinstance(node, exp.WithinGroup):
        return _within_group(node)
    if isinstance(node, exp.Anonymous):
        return AggregateCall(str(node.this).lower(), tuple(node.expressions))
    name = AGGREGATE_NODES.get(type(node))
    inside = node.this
    if isinstance(inside, exp.Order) and not isinstance(inside.this, exp.Distinct):
        inside = inside.this  # no aggregate here depends on the order of its values
    if name is None or isinstance(inside, exp.Order):
        return None
    if any(listed(part) for key, part in node.args.items() if key not in _READ):
        return None  # MIN(x, 2) is another aggregate
    others = [part for key in _READ[1:] for part in listed(node.args.get(key))]
    if isinstance(inside, exp.Distinct):
        return AggregateCall(name, tuple(inside.expressions), True) if inside.expressions and not others else None
    return AggregateCall(name, (*([inside] if inside is not None else []), *others))


def _within_group(node: exp.WithinGroup) -> AggregateCall | None:
    """PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x), rising."""
    inner, order = node.this, node.expression
    terms = order.expressions if isinstance(order, exp.Order) else []
    if len(terms) != 1:
        return None
    if isinstance(inner, exp.Mode) and inner.this is None:
        return AggregateCall("mode", (terms[0].this,))
    if not isinstance(inner, (exp.PercentileCont, exp.PercentileDisc)) or inner.expression is not None:
        return None
    if terms[0].args.get("desc"):
        return None
    return AggregateCall(AGGREGATE_NODES[type(inner)], (terms[0].this, inner.this))


def quantiles(node: exp.Expr) -> list[tuple[exp.Expr, str]]:
    """QUANTILE_CONT(x, [0.25, 0.5]) as one aggregate for each share, with what its name ends in; else nothing."""
    array = next((part for part in node.walk() if isinstance(part, exp.Array)), None) if is_aggregate(node) else None
    around = array.parent if array is not None else None
    if array is None or not isinstance(around, (exp.PercentileCont, exp.PercentileDisc, exp.Quantile)):
        return []
    return [(_with_share(node, share), f"_{share}") for share in array.expressions]


def _with_share(node: exp.Expr, share: exp.Expr) -> exp.Expr:
    copy = node.copy()
    for array in list(copy.find_all(exp.Array)):
        array.replace(share.copy())
    return copy


def listed(part: object) -> list[exp.Expr]:
    """A part of a node as the nodes it has, none, one or many."""
    return [p for p in (part if isinstance(part, list) else [part]) if isinstance(p, exp.Expr)]


def as_filter(asked: AggregateCall) -> AggregateCall:
    """Aggregates pass over NULL, so of CASE WHEN p THEN x END they see x where p is TRUE: as with FILTER (WHERE p)."""
    if not asked.arguments or asked.name not in NAMES or NAMES[asked.name].family != "column":
        return asked
    value, where = asked.arguments[0].unnest(), asked.condition
    while isinstance(value, (exp.Case, exp.If)):
        whens = value.args["ifs"] if isinstance(value, exp.Case) else [value]
        default = value.args.get("default" if isinstance(value, exp.Case) else "false")
        if len(whens) != 1 or not (default is None or isinstance(default.unnest(), exp.Null)):
            break
        test = whens[0].this
        if isinstance(value, exp.Case) and value.this is not None:
            test = exp.EQ(this=value.this.copy(), expression=test.copy())
        where = test if where is None else exp.and_(where, test)
        value = whens[0].args["true"].unnest()
    return replace(asked, arguments=(value, *asked.arguments[1:]), condition=where)
