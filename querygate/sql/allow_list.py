"""Step 2: only what the gate can bound passes, and nothing is silently dropped.

The grammar is an allow-list of node kinds and, for each, the parts it may have. A part that is present but not listed
(SAMPLE, LATERAL, a hint ...) is refused, so a construct unknown to this version cannot slip through with its meaning
changed. Scalar functions are listed by kind: those that give the same result for the same arguments.
"""

from __future__ import annotations

from sqlglot import exp

from querygate.core.errors import Refusal, Span, UnsupportedSQL
from querygate.sql.aggregates import AGGREGATE_NODES, NAMES, is_aggregate
from querygate.sql.code_tests import TESTS
from querygate.sql.parse import span_of, too_deep

DEEPEST = 120
"""Operations inside operations: a + b + c + ... is as deep as it is long."""

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)

_BINARY = frozenset({"this", "expression"})
_UNARY = frozenset({"this"})
_ANY = None  # every part; the whole text is evaluated by the database itself, or looked at part by part

_CLAUSES_OF_SELECT = {
    "expressions",
    "from_",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "offset",
    "with_",
    "joins",
    "distinct",
    "qualify",
}
GRAMMAR: dict[type[exp.Expr], frozenset[str] | None] = {
    exp.Select: frozenset(_CLAUSES_OF_SELECT),
    exp.Subquery: frozenset({"this", "alias"}),
    exp.With: frozenset({"expressions"}),
    exp.CTE: frozenset({"this", "alias"}),
    exp.Union: frozenset({"this", "expression", "distinct", "with_"}),
    exp.Join: frozenset({"this", "on", "using", "side", "kind"}),
    exp.From: _UNARY,
    exp.Table: frozenset({"this", "db", "alias"}),
    exp.TableAlias: _UNARY,
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Column: frozenset({"this", "table"}),
    exp.Alias: frozenset({"this", "alias"}),
    exp.Star: frozenset(),
    exp.Where: _UNARY,
    exp.Having: _UNARY,
    exp.Group: frozenset({"expressions", "all", "rollup", "cube", "grouping_sets"}),
    exp.Rollup: frozenset({"expressions"}),
    exp.Cube: frozenset({"expressions"}),
    exp.GroupingSets: frozenset({"expressions"}),
    exp.Tuple: frozenset({"expressions"}),
    exp.Grouping: frozenset({"expressions"}),
    exp.GroupingId: frozenset({"expressions"}),
    exp.Order: frozenset({"this", "expressions"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Limit: frozenset({"expression"}),
    exp.Offset: frozenset({"expression"}),
    exp.Fetch: frozenset({"direction", "count", "limit_options"}),
    exp.LimitOptions: frozenset({"rows"}),
    exp.Window: frozenset({"this", "partition_by", "order", "spec", "over"}),
    exp.WindowSpec: frozenset({"kind", "start", "start_side", "end", "end_side"}),
    exp.RowNumber: frozenset(),
    exp.Rank: frozenset(),
    exp.DenseRank: frozenset(),
    exp.PercentRank: frozenset(),
    exp.CumeDist: frozenset(),
    exp.Ntile: _UNARY,
    exp.Lag: frozenset({"this", "offset", "default"}),
    exp.Lead: frozenset({"this", "offset", "default"}),
    exp.FirstValue: _UNARY,
    exp.LastValue: _UNARY,
    exp.Qualify: _UNARY,
    exp.Filter: _BINARY,
    exp.WithinGroup: _BINARY,
    exp.Distinct: frozenset({"expressions"}),
    exp.Array: frozenset({"expressions"}),
    # conditions
    exp.And: _BINARY,
    exp.Or: _BINARY,
    exp.Not: _UNARY,
    exp.Paren: _UNARY,
    **dict.fromkeys(COMPARISONS, _BINARY),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.In: frozenset({"this", "expressions", "query"}),
    exp.Exists: _UNARY,
    exp.Is: _BINARY,
    exp.Like: frozenset({"this", "expression", "negate"}),
    exp.ILike: frozenset({"this", "expression", "negate"}),
    exp.Escape: _BINARY,
    exp.Glob: _BINARY,
    exp.SimilarTo: _BINARY,
    # values
    exp.Null: frozenset(),
    exp.CurrentDate: frozenset(),
    exp.Boolean: _UNARY,
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Neg: _UNARY,
    exp.Cast: frozenset({"this", "to"}),
    exp.TryCast: frozenset({"this", "to", "safe"}),
    exp.DataType: frozenset({"this", "nested", "expressions"}),
    exp.DataTypeParam: _UNARY,
    exp.Interval: frozenset({"this", "unit"}),
    exp.Var: _UNARY,
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.If: frozenset({"this", "true", "false"}),
    exp.Anonymous: frozenset({"this", "expressions"}),
    **dict.fromkeys(AGGREGATE_NODES, _ANY),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.DPipe), _ANY),
    **dict.fromkeys(
        (
            exp.Abs, exp.Ceil, exp.Coalesce, exp.Cbrt, exp.Exp, exp.Floor, exp.Greatest, exp.Least, exp.Ln, exp.Log,
            exp.IsNan, exp.Nullif, exp.Pi, exp.Pow, exp.Round, exp.Sign, exp.Sqrt, exp.Trunc, exp.WidthBucket,
            exp.Concat, exp.ConcatWs, exp.Contains, exp.EndsWith, exp.Left, exp.Length, exp.Lower, exp.RegexpExtract,
            exp.RegexpFullMatch, exp.RegexpLike, exp.RegexpReplace, exp.Replace, exp.Reverse, exp.Right,
            exp.SplitPart, exp.StartsWith, exp.StrPosition, exp.Substring, exp.Trim, exp.Upper,
            exp.DateAdd, exp.DateDiff, exp.DateFromParts, exp.Day, exp.Dayname, exp.DayOfWeek, exp.DayOfWeekIso,
            exp.DayOfYear, exp.Extract, exp.LastDay, exp.Month, exp.Monthname, exp.Quarter, exp.TimestampTrunc,
            exp.TimeToStr, exp.Week, exp.Year, exp.DayOfMonth, exp.Hour, exp.TimeToUnix, exp.WeekOfYear,
            exp.Acos, exp.Acosh, exp.Asin, exp.Asinh, exp.Atan, exp.Atan2, exp.Atanh, exp.Cos, exp.Cosh, exp.Cot,
            exp.Degrees, exp.IsInf, exp.Radians, exp.Sin, exp.Sinh, exp.Tan, exp.Tanh,
            exp.BitwiseAnd, exp.BitwiseLeftShift, exp.BitwiseNot, exp.BitwiseOr, exp.BitwiseRightShift, exp.BitwiseXor,
            exp.Ascii, exp.BitLength, exp.Hex, exp.Levenshtein, exp.MD5, exp.Translate, exp.Unicode,
        ),
        _ANY,
    ),
}  # fmt: skip
"""Kinds of nodes and the parts each may have."""

FUNCTIONS = TESTS | frozenset(
    {
        "bin", "bit_count", "even", "fdiv", "fmod", "gamma", "gcd", "isfinite", "lcm", "lgamma", "round_even",
        "roundbankers", "signbit", "to_base",
        "damerau_levenshtein", "hamming", "jaccard", "jaro_similarity", "jaro_winkler_similarity", "nfc_normalize",
        "ord", "prefix", "strip_accents", "strlen", "suffix",
        "century", "date_part", "date_sub", "datepart", "datesub", "decade", "era", "isoyear", "julian", "millennium",
        "weekday", "yearweek",
    }
)  # fmt: skip
"""Scalar functions that the parser knows by name only."""

_CLAUSES = {
    "windows": "WINDOW",
    "sample": "SAMPLE",
    "laterals": "LATERAL",
    "symmetric": "SYMMETRIC",
    "limit_options": "LIMIT in percent or WITH TIES",
    "expressions": "LIMIT BY",
    "recursive": "RECURSIVE",
    "distinct": "DISTINCT",
}


def allow(tree: exp.Expr) -> exp.Select | exp.Union:
    """The tree as a SELECT, or a UNION ALL of several, inside the grammar."""
    if not isinstance(tree, (exp.Select, exp.Union)):
        raise _not_select(tree)
    stack: list[tuple[exp.Expr, int]] = [(tree, 0)]
    kinds = _Kinds()
    while stack:
        node, depth = stack.pop()
        kinds.add(type(node))
        if depth > DEEPEST:
            raise too_deep()
        if isinstance(node, (exp.Select, exp.Union)):
            node.meta[_KINDS] = kinds
            _check_query(node)
        if type(node) not in GRAMMAR or not _is_known_function(node):
            raise _outside(node)
        listed = GRAMMAR[type(node)]
        below = depth + (not isinstance(node, (exp.And, exp.Or)))  # chains of these are flattened
        for name, value in node.args.items():
            if not value and not (name == "all" and value is False):  # all=False is GROUP BY DISTINCT
                continue
            if (listed is not None and name not in listed) or _is_refused_part(node, name):
                raise _part(node, name)
            if isinstance(value, exp.Expr):
                stack.append((value, below))
            elif isinstance(value, list):
                stack += [(part, below) for part in value if isinstance(part, exp.Expr)]
    return tree


class _Kinds(set[type[exp.Expr]]):
    """The kinds of nodes in a tree, cached for all its copies: nothing is added once it is parsed."""

    def __deepcopy__(self, memo: object) -> _Kinds:
        return self


_KINDS = "kinds"
"""Marks queries with the kinds of nodes of their statement."""


def may_have(query: exp.Expr, *kinds: type[exp.Expr]) -> bool:
    """Whether the tree can contain such nodes. If not, they need not be looked for."""
    known = query.meta.get(_KINDS)
    return known is None or not known.isdisjoint(kinds)


def _check_query(node: exp.Select | exp.Union) -> None:
    if isinstance(node, exp.Union) and not _is_source(node):
        raise UnsupportedSQL(
            "QG206",
            "UNION cannot be used as a value.",
            "Run it first as a separate query, or move it into FROM.",
            span=span_of(node),
        )
    if isinstance(node, exp.Select) and node.args.get("from_") is None and not _is_of_numbers(node):
        raise UnsupportedSQL("QG205", "The statement has no FROM.", "Name the dataset in FROM.", span=span_of(node))


def _is_source(query: exp.Expr) -> bool:
    """Whether it is the statement itself, a branch of a union, or something that FROM, WITH or JOIN takes."""
    around = query.parent
    while isinstance(around, (exp.Subquery, exp.Paren, exp.Union)):
        around = around.parent
    return around is None or isinstance(around, (exp.From, exp.CTE, exp.Join, exp.Lateral))


def _is_of_numbers(node: exp.Select) -> bool:
    """Whether it needs no table: constants as a value, or, for the statement itself, arithmetic on other queries."""
    if any(node.args.get(name) for name in _CLAUSES_OF_SELECT - {"expressions", "with_"}):
        return False
    own = [part for item in node.expressions for part in item.walk(prune=_is_query)]
    if any(isinstance(part, (exp.Column, exp.Star, exp.Window)) or is_aggregate(part) for part in own):
        return False
    return not _is_source(node) or (node.parent is None and any(map(_is_query, own)))


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, exp.Subquery)


def _is_known_function(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in FUNCTIONS | NAMES.keys()
    if isinstance(node, exp.Table):
        return isinstance(node.this, exp.Identifier)
    if isinstance(node, exp.Array):  # of shares, and of nothing else
        return isinstance(node.parent, (exp.PercentileCont, exp.PercentileDisc, exp.Quantile))
    return True


def _is_refused_part(node: exp.Expr, name: str) -> bool:
    """Parts that count as present only for some values."""
    if isinstance(node, exp.Union):
        return name == "distinct" and bool(node.args["distinct"])
    return isinstance(node, exp.Group) and name == "all" and node.args["all"] is False


def _not_select(tree: exp.Expr) -> Refusal:
    if isinstance(tree, exp.SetOperation):
        return UnsupportedSQL(
            "QG206", "Queries can be combined only with UNION ALL.", "Send each query separately.", span=span_of(tree)
        )
    return UnsupportedSQL(
        "QG202", "Only SELECT statements are answered.", "Ask for aggregates: SELECT ... FROM ...", span=span_of(tree)
    )


def _part(node: exp.Expr, name: str) -> Refusal:
    """A known kind of node with a part that is not listed."""
    value = node.args[name]
    first = value[0] if isinstance(value, list) else value
    span = span_of(first) if isinstance(first, exp.Expr) else span_of(node)
    if isinstance(node, (exp.Table, exp.Subquery, exp.Join, exp.TableAlias)):
        return UnsupportedSQL(
            "QG205",
            "FROM accepts only the name of a dataset, or a SELECT in parentheses.",
            "Remove the catalog, sample, column names and other additions.",
            span=span,
        )
    if isinstance(node, exp.Group):
        return UnsupportedSQL("QG206", "GROUP BY DISTINCT is not supported.", "Remove DISTINCT.", span=span)
    if isinstance(node, exp.Union):
        return UnsupportedSQL("QG206", "UNION would drop duplicate rows.", "Use UNION ALL.", span=span)
    if isinstance(node, (exp.Select, exp.Limit, exp.Between, exp.With)):
        clause = _CLAUSES.get(name, name.rstrip("_").replace("_", " ").upper())
        return UnsupportedSQL("QG206", f"{clause} is not supported.", f"Remove {clause}.", span=span)
    if isinstance(node, exp.In):
        return UnsupportedSQL("QG208", "IN needs a list of values.", "Write IN (value, value, ...).", span=span)
    return UnsupportedSQL("QG207", "This part of the expression is not supported.", "Remove it.", span=span)


def _outside(node: exp.Expr) -> Refusal:
    """A kind of node that is not in the grammar."""
    span: Span | None = span_of(node)
    if isinstance(node, exp.Table):
        return UnsupportedSQL(
            "QG205",
            "FROM accepts only the name of a dataset, not a function or a file.",
            "Write FROM and the name of the dataset.",
            span=span,
        )
    if isinstance(node, (exp.Values, exp.Lateral, exp.Pivot, exp.Unnest)):
        return UnsupportedSQL(
            "QG205", "FROM must name a dataset.", "Write FROM and the name of the dataset.", span=span
        )
    if isinstance(node.parent, exp.Window) and node.arg_key == "this":
        return UnsupportedSQL(
            "QG206",
            "This window function is not supported.",
            "Use SUM, AVG, MIN, MAX, COUNT, ROW_NUMBER, RANK, NTILE, LAG or FIRST_VALUE over groups.",
            span=span,
        )
    if isinstance(node, (exp.Placeholder, exp.Parameter)):
        return UnsupportedSQL("QG207", "Parameters are not supported.", "Write the value itself.", span=span)
    if isinstance(node, exp.Predicate):
        return UnsupportedSQL(
            "QG208",
            "This condition is not supported.",
            "Use comparisons, BETWEEN, IN, LIKE, IS NULL, AND, OR and NOT.",
            span=span,
        )
    if isinstance(node, (exp.Func, exp.IgnoreNulls, exp.RespectNulls)) or is_aggregate(node):
        return UnsupportedSQL(
            "QG204",
            "This function is not supported.",
            "Use an aggregate such as COUNT, SUM, AVG, MIN, MAX, MEDIAN, STDDEV_SAMP, QUANTILE_CONT or CORR; inside "
            "expressions ABS, ROUND, FLOOR, LN, CASE, COALESCE, and functions of dates and text. The SQL reference "
            "lists them all.",
            span=span,
        )
    return UnsupportedSQL(
        "QG207", "This expression is not supported.", "Use columns, values, arithmetic, CASE and functions.", span=span
    )
