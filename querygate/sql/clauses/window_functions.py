"""OVER: numbers of a group that other groups of the answer have a part in.

`100.0 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY arm)` is the share of a group among those of its arm, and
`RANK() OVER (ORDER BY COUNT(*) DESC)` its place. A window over single records would show rows, and is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from querygate.core.canonical_text import told
from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Expression, Ref, is_number
from querygate.core.plan import NONE, GroupKey, Rank, Window
from querygate.sql.aggregates import AGGREGATE_NODES, is_aggregate, listed, read_aggregate
from querygate.sql.allow_list import may_have
from querygate.sql.context import Context
from querygate.sql.parse import span_of

RANKS: dict[type[exp.Expr], str] = {exp.RowNumber: "row_number", exp.Rank: "rank", exp.DenseRank: "dense_rank"}
SHARES: dict[type[exp.Expr], str] = {exp.PercentRank: "percent_rank", exp.CumeDist: "cume_dist"}
_STATISTICS = frozenset({"sum", "avg", "min", "max", "count"})
_COUNTS = frozenset({"count", "ntile", *RANKS.values()})
_OF_ARGUMENT = frozenset({"sum", "min", "max", "whole", "lag", "first", "last", "last_peer"})
_ORDERED = frozenset({"lag", "first", "ntile", *RANKS.values(), *SHARES.values()})
_MOST_BACK, _MOST_TILES = 10_000, 1_000_000
FUNCTIONS = (
    "SUM, AVG, MIN, MAX, COUNT, ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE, LAG, LEAD, FIRST_VALUE "
    "or LAST_VALUE"
)
"""What may stand before OVER."""


@dataclass(frozen=True)
class WindowParts:
    """A window as it is written, each part in terms of the groups."""

    statistic: str
    argument: Expression | None
    among: tuple[int, ...]
    ranks: tuple[Rank, ...] = ()
    peers: bool = True
    whole: int | None = None
    null: bool = False
    parameters: tuple[int | float, ...] = ()


@dataclass
class Windows:
    """The windows of a statement in the making."""

    made: list[Window] = field(default_factory=list)

    def add(self, parts: WindowParts, keys: Sequence[GroupKey], groups: Context) -> Window:
        """The window of these parts; the one there is, where it means the same."""
        argument = parts.argument if parts.argument is not None else NONE
        ranks = [
            (keys[rank.key].id if rank.key is not None else told(rank.formula, groups.named), rank.descending,
             rank.nulls_first)
            for rank in parts.ranks
        ]  # fmt: skip
        among = sorted(keys[place].id for place in parts.among)
        asked = [parts.statistic, told(argument, groups.named), among, ranks, parts.peers, parts.null]
        asked += [parts.parameters] if parts.parameters else []
        id_ = "window " + hashlib.sha256(repr(tuple(asked)).encode()).hexdigest()[:24]
        found = next((window for window in self.made if window.id == id_), None)
        if found is None:
            type_ = "integer" if parts.statistic in _COUNTS else "number"
            if parts.statistic in _OF_ARGUMENT:
                type_ = argument.type
            by = tuple(r if r.key is None else replace(r, order=keys[r.key].order) for r in parts.ranks)
            found = Window(
                id_, parts.statistic, type_, argument, parts.among, by, parts.peers, parts.whole, parts.null,
                parts.parameters,
            )  # fmt: skip
            self.made.append(found)
        return found


def read_window(
    node: exp.Window, place_of: Callable[[exp.Expr], int | None], formula: Callable[[exp.Expr], Expression]
) -> WindowParts:
    """What a window asks. `place_of` tells which key a node is, `formula` what it is of the groups' aggregates."""
    statistic, value, parameters = _function(node)
    among = [place_of(term.unnest()) for term in node.args.get("partition_by") or ()]
    if None in among:
        raise refused(node, "PARTITION BY accepts columns of the GROUP BY.", "Add the column to GROUP BY.")
    ranks = []
    order = node.args.get("order")
    for term in order.expressions if order is not None else ():
        key = place_of(term.this.unnest())
        by = formula(term.this) if key is None else NONE
        if key is None and not is_number(by):
            raise refused(
                term, "A window can only be ordered by group keys or aggregates.", "Order it by one of those."
            )
        ranks.append(Rank(key, by, bool(term.args.get("desc")), bool(term.args.get("nulls_first"))))
    argument = formula(value) if value is not None else None
    if argument is not None and (not is_number(argument) or argument.type in ("date", "moment")):
        raise refused(node, "A window function needs numbers.", "Use SUM, AVG, MIN, MAX or COUNT of an aggregate.")
    ranked, peers = _frame(node, bool(ranks))
    if statistic == "last" and ranked:  # the frame ends here: with those that rank the same, or with the group itself
        statistic, parameters = ("last_peer", ()) if peers else ("lag", (0,))
    if statistic == "lag" and len(parameters) > 1 and argument is not None and argument.type == "integer":
        _check_whole(node, parameters[1])
    places = tuple(place for place in among if place is not None)
    if statistic in _ORDERED or (statistic == "last" and not ranked):
        return WindowParts(statistic, argument, places, tuple(ranks), parameters=parameters)
    return WindowParts(statistic, argument, places, tuple(ranks) if ranked else (), peers, parameters=parameters)


def check_windows(tree: exp.Select) -> None:
    """Windows stand around aggregates, in what is shown of groups, selects among them or orders them: nowhere else."""
    if not may_have(tree, exp.Window):
        return
    for name in ("where", "group", "having"):
        clause = tree.args.get(name)
        found = clause.find(exp.Window) if clause is not None else None
        if found is not None:
            raise refused(
                found, f"{name.upper()} is applied before window functions.", "Use QUALIFY, or an outer query."
            )
    for name in ("expressions", "qualify", "order"):
        for found in [found for part in listed(tree.args.get(name)) for found in part.find_all(exp.Window)]:
            around = found.parent
            while around is not None and not is_aggregate(around) and around is not tree:
                around = around.parent
            if around is not None and around is not tree:
                raise refused(found, "A window function over single records would show rows.", "Use it over groups.")


def _function(node: exp.Window) -> tuple[str, exp.Expr | None, tuple[int | float, ...]]:
    """The statistic, what it is of, nothing for ranks and COUNT(*), and its parameters."""
    function = node.this
    if type(function) in RANKS or type(function) in SHARES:
        return {**RANKS, **SHARES}[type(function)], None, ()
    if isinstance(function, exp.Ntile):
        return "ntile", None, (_constant(function.this, node, 1, _MOST_TILES),)
    if isinstance(function, (exp.Lag, exp.Lead)):
        return _shift(node, function)
    if isinstance(function, (exp.FirstValue, exp.LastValue)):
        return "first" if isinstance(function, exp.FirstValue) else "last", function.this, ()
    asked = read_aggregate(function) if type(function) in AGGREGATE_NODES else None
    if asked is None or asked.name not in _STATISTICS or asked.distinct or len(asked.arguments) != 1:
        raise refused(node, "This window function is not supported.", f"Use {FUNCTIONS} over groups.")
    value = asked.arguments[0]
    return asked.name, None if isinstance(value, exp.Star) else value, ()


def _shift(node: exp.Window, function: exp.Lag | exp.Lead) -> tuple[str, exp.Expr | None, tuple[int | float, ...]]:
    """LAG and LEAD: how many places away, and what stands for nothing there."""
    if node.args.get("spec") is not None:
        raise refused(node, "LAG and LEAD have no frame.", "Leave out ROWS or RANGE.")
    given, default = function.args.get("offset"), function.args.get("default")
    back = 1 if given is None else _constant(given, node, 0, _MOST_BACK)
    back = back if isinstance(function, exp.Lag) else -back
    if default is None or isinstance(default, exp.Null):
        return "lag", function.this, (back,)
    found = default.unnest()
    negative = isinstance(found, exp.Neg)
    text = str(found.this if negative else found)
    try:
        number: int | float = int(text) if text.isdigit() else float(text)
    except ValueError:
        raise refused(
            node, "The default of LAG and LEAD must be a number.", "Write a number, or leave it out."
        ) from None
    return "lag", function.this, (back, -number if negative else number)


def _constant(given: exp.Expr | None, node: exp.Window, least: int, most: int) -> int:
    text = str(given)
    if not (isinstance(given, exp.Literal) and not given.is_string and text.isdigit() and least <= int(text) <= most):
        raise refused(node, f"This window function needs a whole number from {least} to {most:,}.", "Write one.")
    return int(text)


def _check_whole(node: exp.Window, default: int | float) -> None:
    if not isinstance(default, int):
        raise refused(
            node, "The default for whole numbers must be a whole number.", "Write it without a decimal point."
        )


def _frame(node: exp.Window, ordered: bool) -> tuple[bool, bool]:
    """Whether it ends at the group itself, and whether those that rank the same are in."""
    spec = node.args.get("spec")
    if spec is None:
        return ordered, True
    kind, start, end = (str(spec.args.get(part) or "").upper() for part in ("kind", "start", "end"))
    sides = (str(spec.args.get("start_side") or "").upper(), str(spec.args.get("end_side") or "").upper())
    if kind in ("ROWS", "RANGE") and start == "UNBOUNDED" and sides[0] == "PRECEDING" and not spec.args.get("exclude"):
        if end == "UNBOUNDED" and sides[1] == "FOLLOWING":
            return False, True
        if end in ("CURRENT ROW", ""):
            return ordered, kind == "RANGE"
    raise refused(node, "This window frame is not supported.", "Leave it out, or write ROWS UNBOUNDED PRECEDING.")


def refused(node: exp.Expr, detail: str, remedy: str) -> UnsupportedSQL:
    return UnsupportedSQL("QG206", detail, remedy, span=span_of(node))


def is_sum_of(window: WindowParts, id_: str) -> bool:
    """Is it the sum of this aggregate over all groups of the partition?"""
    return (
        window.statistic == "sum" and not window.ranks and isinstance(window.argument, Ref)
        and window.argument.column == id_
    )  # fmt: skip
