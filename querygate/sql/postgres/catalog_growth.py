"""How large a statement about the catalog may make its values: only functions that are known are let through, and
whatever joins texts or lists is cut off by the engine itself, since its limit of memory does not cover single values.
"""

from __future__ import annotations

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import folded

BOUNDED = "qg_bounded"
"""The engine's function that gives a value back, or an error where it is longer than LONGEST_VALUE as a text."""
LONGEST_VALUE = 1_000
"""In bytes: the engine makes two thousand rows at once, with all their columns."""
LONGEST_LIST = 10_000
LONGEST_PATTERN = 100
MOST_JOINED = 60
MOST_COLUMNS = 200
MOST_STARS = 8
LARGEST_BOUND = 1_000

_HARMLESS = frozenset(
    getattr(exp, name)
    for name in (
        "Abs", "And", "Anonymous", "ArraySize", "Case", "Cast", "Coalesce", "Collate", "Count", "CurrentCatalog",
        "CurrentDatabase", "CurrentDate", "CurrentRole", "CurrentSchema", "CurrentSchemas", "CurrentTimestamp",
        "CurrentUser", "CurrentVersion", "Exists", "Explode", "Greatest", "If", "Least", "Left", "Length",
        "LogicalAnd", "LogicalOr", "Lower", "Max", "Min", "Nullif", "Or", "RegexpILike", "RegexpLike", "Right",
        "RowNumber", "SessionUser", "SplitPart", "StrPosition", "Substring", "Sum", "Trim", "Unnest", "Upper",
    )
    if hasattr(exp, name)
)  # fmt: skip
"""What gives no more than it was given."""

_AGGREGATES = (exp.ArrayAgg, exp.GroupConcat)
JOINING = (exp.DPipe, exp.Concat, exp.ConcatWs, exp.Format, exp.Replace, exp.ArrayToString, exp.Array, *_AGGREGATES)
JOINING_NAMES = frozenset(
    {
        "array_append", "array_cat", "array_to_string", "json_array", "json_build_array", "json_build_object",
        "json_object", "quote_ident", "quote_literal", "to_json",
    }
)  # fmt: skip
_SERIES = (exp.GenerateSeries, exp.ExplodingGenerateSeries)
_PATTERNS = {exp.Replace: "replacement", exp.GroupConcat: "separator", exp.ArrayToString: "expression"}
_WRITTEN = (exp.Literal, exp.ByteString, exp.RawString, exp.National, exp.UnicodeString, exp.HexString, exp.BitString)
_ROWS_COMPARED = (exp.In, exp.Predicate, exp.Values, exp.Group, exp.Order, exp.Ordered)


def check_growth(tree: exp.Expr) -> None:
    """Refuse what could make values of any size. QG204, QG102."""
    if sum(is_joined(node) for node in tree.walk()) > MOST_JOINED:
        raise _too_large("It joins texts or lists more often than is read here.")
    if sum(_stars(select) for select in tree.find_all(exp.Select)) > MOST_STARS:
        raise _too_large("It has too many stars for columns.")
    rows = _row_names(tree)
    for node in tree.walk():
        if isinstance(node, exp.Func):
            _check_function(node)
        elif isinstance(node, exp.Window) and joined_inside(node):
            raise _not_available()  # one long list for each row, before any of them can be cut off
        elif isinstance(node, _WRITTEN) and len(node.name.encode(errors="replace")) > _longest(node):
            raise _too_large(f"It has a text of more than {LONGEST_VALUE:,} bytes.")
        elif isinstance(node, exp.Select) and len(node.expressions) > MOST_COLUMNS:
            raise _too_large(f"It has more than {MOST_COLUMNS} columns.")
        elif isinstance(node, exp.Tuple) and not isinstance(node.parent, _ROWS_COMPARED):
            raise _not_available()
        elif isinstance(node, exp.Column) and not node.table and folded(node.name) in rows:
            raise _not_available()  # a whole row as one value


def _longest(node: exp.Expr) -> int:
    """A list that a value is compared with is written once, and in no row."""
    around = node.parent
    while isinstance(around, (exp.Cast, exp.Paren)):
        around = around.parent
    is_all = isinstance(around, exp.Anonymous) and folded(str(around.this)) == "all"  # as the parser has it
    return LONGEST_LIST if is_all or isinstance(around, exp.Any) else LONGEST_VALUE


def _stars(select: exp.Select) -> int:
    """For how many tables' columns it has a star: each level of them could double the columns."""
    sources = 1 + len(select.args.get("joins") or ()) + len(select.args.get("laterals") or ())
    return sum(sources if isinstance(one, exp.Star) else 1 for one in select.expressions if one.is_star)


def is_joined(node: exp.Expr) -> bool:
    """Does it make one value of several? A list of literals is no longer than it was written."""
    if isinstance(node, exp.Array):
        return not all(isinstance(one, exp.Literal) for one in node.expressions)
    is_named = isinstance(node, exp.Anonymous) and folded(str(node.this)) in JOINING_NAMES
    return is_named or isinstance(node, JOINING)


def bounded(made: exp.Expr) -> exp.Expr:
    """A value that the engine does not let grow."""
    return exp.Anonymous(this=BOUNDED, expressions=[made])


def is_whole(node: exp.Expr) -> bool:
    """Does nothing follow that belongs to an aggregate, like OVER or FILTER?"""
    return not isinstance(node.parent, (exp.Window, exp.Filter, exp.WithinGroup))


def joined_inside(node: exp.Expr) -> bool:
    """Is it OVER or FILTER of an aggregate that makes one value of several?"""
    while isinstance(node, (exp.Window, exp.Filter, exp.WithinGroup)):
        node = node.this
    return isinstance(node, _AGGREGATES)


def _row_names(tree: exp.Expr) -> set[str]:
    """Names of tables, which stand for whole rows; a function's name stands for its only column."""
    tables = [table for table in tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    return {folded(one.alias_or_name) for one in [*tables, *tree.find_all(exp.Subquery)] if one.alias_or_name}


def _check_function(node: exp.Func) -> None:
    if isinstance(node, _SERIES):
        ends = [node.args.get(part) for part in ("start", "end", "step")]
        if not all(end is None or _is_small(end) for end in ends):
            raise _too_large("It makes a series that is too long.")
        return
    pattern = node.args.get(_PATTERNS.get(type(node), ""))
    if isinstance(node, exp.Anonymous) and folded(str(node.this)) == "array_to_string":
        pattern = node.expressions[-1] if node.expressions else None
    if isinstance(pattern, exp.Cast):
        pattern = pattern.this
    if pattern is not None and not (isinstance(pattern, _WRITTEN) and len(pattern.name) <= LONGEST_PATTERN):
        raise _not_available()
    if len(node.expressions) > LONGEST_PATTERN and not isinstance(node, exp.Array):
        raise _too_large("A function has too many arguments.")
    if type(node) not in _HARMLESS and not isinstance(node, JOINING):
        raise _not_available()


def _is_small(end: exp.Expr) -> bool:
    """A short number, or the length of a list, which is short."""
    if isinstance(end, exp.Dot):
        end = end.expression
    if isinstance(end, exp.Anonymous):
        return folded(str(end.this)) in ("array_upper", "array_lower")
    if isinstance(end, exp.Neg):
        end = end.this
    return isinstance(end, exp.ArraySize) or (
        isinstance(end, exp.Literal) and len(end.name) < 5 and end.name.isdigit() and int(end.name) <= LARGEST_BOUND
    )


def _not_available() -> UnsupportedSQL:
    return UnsupportedSQL("QG204", "This function is not available here.", "Ask without it.")


def _too_large(detail: str) -> UnsupportedSQL:
    return UnsupportedSQL("QG204", f"The statement is too large for PostgreSQL's catalog. {detail}", "Ask for less.")
