"""Step 4: a composed query to a Plan: keys, measures, outputs, order, and a hash of the meaning."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Constant, Lookup, Ref, is_number, told_key
from querygate.core.plan import GroupKey, Order, Output, Plan
from querygate.core.ports import Limits, Native
from querygate.core.predicate import TRUE, Predicate, both, is_true
from querygate.core.types import Catalog, folded
from querygate.sql.aggregates import is_aggregate, quantiles, read_aggregate
from querygate.sql.clauses.group_formulas import GroupRows
from querygate.sql.clauses.group_keys import (
    all_items,
    group_of_distinct,
    grouping_sets,
    is_constant,
    make_key,
    possible_groups,
)
from querygate.sql.clauses.limit_clause import read_count
from querygate.sql.clauses.order_terms import items_named, read_position
from querygate.sql.clauses.output_names import named_once, unnamed
from querygate.sql.clauses.window_functions import check_windows, refused
from querygate.sql.code_tests import check_codes
from querygate.sql.compose import Query
from querygate.sql.condition_predicates import condition
from querygate.sql.context import Context
from querygate.sql.expressions import expression
from querygate.sql.inner_columns import check_inner_numbers, inner_columns, narrow_outputs
from querygate.sql.made_text_length import check_text_lengths
from querygate.sql.measures import TEXT_STATISTICS, Measures
from querygate.sql.ordered_values import write_out_order
from querygate.sql.parse import span_of
from querygate.sql.plan_hash import with_meaning
from querygate.sql.subqueries.projections import item_of, with_items
from querygate.sql.subqueries.scalar_queries import NUMBERS, is_call
from querygate.sql.value_notes import note_constants, note_groups


def make_plan(query: Query, catalog: Catalog, native: Native, limits: Limits) -> Plan:
    """The plan of a composed query."""
    inner = make_plan(query.inner, catalog, native, limits) if query.inner is not None else None
    columns = {folded(c.name): c for c in catalog.columns} if inner is None else inner_columns(inner, catalog)
    check_inner_numbers(query.inner, inner)
    singles, decimals = narrow_outputs(query.inner)
    context = Context(columns, native, condition, singles=singles, decimals=decimals)
    write_out_order(query.tree, columns, context.note)
    check_windows(query.tree)
    check_codes(query.tree, columns)
    check_text_lengths(query.tree, columns)
    note_constants(query.tree, context)
    for one, other in query.disjoint:
        shared = both(is_true(condition(side, context)) for side in (one, other))
        if context.meaning(shared) != "false":
            raise UnsupportedSQL(
                "QG206",
                "The branches of this UNION ALL may share records.",
                "Make their conditions exclude each other, as in age < 40 and age >= 40.",
            )
    return _Draft(query.tree, context, catalog, limits).plan(inner)


@dataclass
class _Draft:
    """A plan in the making."""

    tree: exp.Select
    context: Context
    catalog: Catalog
    limits: Limits
    outputs: list[Output] = field(default_factory=list)
    first: list[int] = field(default_factory=list)  # the first output of each item of the select list
    one_set: bool = True

    def plan(self, inner: Plan | None) -> Plan:
        where = self._where()
        self._read_distinct()
        self._read_all()
        group = self.tree.args.get("group")
        sets = self._read_groups(group, where, inner)
        self._check_groups(group)
        self._check_aggregated(group is not None)
        for item in self.tree.expressions:
            self._read_item(item)
        self._check_distinct(group)
        having, qualify = self._selected("having"), self._selected("qualify")
        shown_ = len(self.outputs)
        orders = self._orders(shown_)
        sets = [(*chosen, *range(len(self.groups.terms), len(self.groups.keys))) for chosen in sets]
        draft = Plan(
            dataset=self.catalog.dataset,
            keys=tuple(self.groups.keys),
            sets=tuple(sets),
            grouped=group is not None,
            measures=tuple(self.groups.measures.measures),
            aggregates=tuple(self.groups.measures.aggregates),
            outputs=tuple(self.outputs),
            shown=shown_,
            having=having,
            orders=orders,
            limit=read_count(self.tree, "limit"),
            offset=read_count(self.tree, "offset") or 0,
            canonical="",
            hash="",
            inner=inner,
            windows=tuple(self.groups.windows.made),
            qualify=qualify,
            notes=(*(inner.notes if inner is not None else ()), *self.context.notes),
        )
        return with_meaning(draft, self.context, self.groups.as_context)

    def _read_groups(self, group: exp.Group | None, where: Predicate, inner: Plan | None) -> list[tuple[int, ...]]:
        """What records are grouped by; the sets of keys that are asked for, by the places of their terms."""
        terms: list[exp.Expr] = []
        sets: list[tuple[int, ...]] = [()]
        if group is not None:
            self._resolve_aliases(group)
            terms, sets = grouping_sets(group, self.tree.expressions)
        self.one_set = len(sets) == 1
        keys = [make_key(term, self.context) for term in terms]
        measures = Measures(self.context, where, grouped=all(sets))
        self.groups = GroupRows(
            self.context, measures, group is not None, terms, keys if self.one_set else _told_apart(keys), sets,
            inner is None,
            self.tree.args.get("having") is not None,
        )  # fmt: skip
        return sets

    def _read_distinct(self) -> None:
        """SELECT DISTINCT of columns shows each combination once: it is grouping by them."""
        nodes = (node for item in self.tree.expressions for node in item.walk())
        if self.tree.args.get("distinct") and not self.tree.args.get("group") and not any(map(is_aggregate, nodes)):
            self.tree.set("group", group_of_distinct())

    def _read_all(self) -> None:
        """GROUP BY ALL without anything to group by is no GROUP BY."""
        group = self.tree.args.get("group")
        if group is not None and group.args.get("all") and not all_items(group, self.tree.expressions):
            self.tree.set("group", None)

    def _check_distinct(self, group: exp.Group | None) -> None:
        """Rows of groups differ in their keys, so DISTINCT changes nothing as long as all keys are shown."""
        shown_keys = {output.source for output in self.outputs if output.kind == "key"}
        hidden = {i for i, term in enumerate(self.groups.terms) if not is_constant(term)} - shown_keys
        if self.tree.args.get("distinct") and (hidden or not self.one_set):
            raise UnsupportedSQL(
                "QG206",
                "DISTINCT would drop groups that look the same.",
                "Show every group key, or remove DISTINCT.",
                span=span_of(group) if group is not None else None,
            )

    def _where(self) -> Predicate:
        clause = self.tree.args.get("where")
        if clause is None:
            return TRUE
        aggregate = next((node for node in clause.walk() if is_aggregate(node)), None)
        if aggregate is not None:
            raise UnsupportedSQL(
                "QG208",
                "WHERE selects records before anything is aggregated.",
                "Move conditions on aggregates to HAVING.",
                span=span_of(aggregate),
            )
        return is_true(condition(clause.this, self.context))

    def _check_aggregated(self, grouped: bool) -> None:
        """Without GROUP BY and without an aggregate a statement shows rows."""
        parts = [*self.tree.expressions, *(self.tree.args.get(name) for name in ("having", "qualify", "order"))]
        nodes = [node for part in parts if part is not None for node in part.walk()]
        if self.tree.expressions and (grouped or any(map(is_aggregate, nodes)) or self.tree.meta.get(NUMBERS)):
            return
        window = next((node for node in nodes if isinstance(node, exp.Window)), None)
        if window is not None:
            raise refused(window, "A window over single records would show rows.", "Use it over groups, with GROUP BY.")
        node = next((item.unalias().unnest() for item in self.tree.expressions), None)
        if isinstance(node, exp.Column):
            raise self.groups.not_grouped(node)
        raise UnsupportedSQL(
            "QG201",
            "Rows are never shown, only aggregates of them.",
            "Ask for aggregates such as COUNT(*) or AVG(column).",
            span=span_of(node) if node is not None else None,
        )

    # -- GROUP BY ------------------------------------------------------------------------------------------------

    def _resolve_aliases(self, group: exp.Group) -> None:
        """A name that no column has may be one of the select list."""
        for node in list(group.find_all(exp.Column)):
            if folded(node.name) not in self.context.columns:
                item = exp.Paren(this=self._item(node).copy())
                item.meta["item"] = True  # a number there is no position
                if item.find(exp.Window):
                    raise refused(
                        node,
                        "A window over single records cannot be grouped by.",
                        "Group in steps: use CASE or WIDTH_BUCKET, with cuts taken from QUANTILE_CONT.",
                    )
                node.replace(item)

    def _check_groups(self, group: exp.Group | None) -> None:
        possible = possible_groups(self.groups.keys)
        if possible > self.limits.max_groups:
            raise UnsupportedSQL(
                "QG212",
                f"These columns form {possible:,} groups; the limit is {self.limits.max_groups:,}.",
                "Group by fewer columns, or in wider steps.",
                span=span_of(group) if group is not None else None,
            )

    # -- select list ---------------------------------------------------------------------------------------------

    def _read_item(self, item: exp.Expr) -> None:
        node, name = item.unalias().unnest(), item.alias if isinstance(item, exp.Alias) else ""
        self.first.append(len(self.outputs))
        for part, ending in quantiles(node) or [(node, "")]:
            output = self._output(part, f"{name or unnamed(node)}{ending}" if ending else name)
            self.outputs.append(named_once(output, self.outputs))

    def _output(self, node: exp.Expr, name: str) -> Output:
        if isinstance(node, exp.Star):
            raise UnsupportedSQL(
                "QG201",
                "Rows are never shown.",
                "Ask for aggregates such as COUNT(*) or AVG(column).",
                span=span_of(node),
            )
        if self._is_of_day(node):
            return self._dependent_key(node, name)
        text = self._text(node, name)
        if text is not None:
            return text
        lifted = self.groups.lift(node)
        context = self.groups.as_context
        formula = expression(lifted, context)
        if isinstance(formula, Constant) and not is_number(formula):
            return self._constant_key(formula, name)
        if isinstance(formula, Ref):
            for place, key in enumerate(self.groups.keys):
                if key.id == formula.column:
                    return Output(name or unnamed(node), "key", key.type, place)
        if isinstance(formula, Lookup) and not is_number(formula) and self.one_set:
            return self._dependent_key(node, name)
        if formula.type == "boolean":
            return Output(name or unnamed(node), "range", "boolean", formula=formula)
        if not is_number(formula):
            raise UnsupportedSQL(
                "QG207",
                "The select list may contain group keys, aggregates, and arithmetic on them.",
                "Group by this expression to show it.",
                span=span_of(node),
            )
        type_ = "timestamp" if formula.type == "moment" else formula.type
        return Output(name or unnamed(node), "range", type_, formula=formula)

    def _text(self, node: exp.Expr, name: str) -> Output | None:
        """MODE, MIN or MAX of a category, or of a flag: by itself alone."""
        asked = read_aggregate(node) if is_aggregate(node) else None
        if asked is None or asked.name not in TEXT_STATISTICS:
            return None
        found = self.groups.measures.aggregate(node)
        if found.type not in ("category", "boolean"):
            return None
        return Output(name or unnamed(node), "range", found.type, formula=Ref(found.id, found.type), texts=found.texts)

    def _is_of_day(self, node: exp.Expr) -> bool:
        """Is it a function of a day that is grouped by? As a key that day is a text, of which there is no year."""
        terms, keys = self.groups.terms, self.groups.keys
        if not any(key.type in ("date", "timestamp") for key in keys):
            return False
        parts = list(node.walk(prune=lambda part: part in terms))
        held = [part for part in parts if part in terms or isinstance(part, exp.Column)]
        days = [part for part in held if part in terms and keys[terms.index(part)].type in ("date", "timestamp")]
        of_groups = any(is_aggregate(part) or is_call(part) or isinstance(part, exp.Window) for part in parts)
        return bool(days) and days == held and self.one_set and node not in terms and not of_groups

    def _dependent_key(self, node: exp.Expr, name: str) -> Output:
        """A function of a key beside it: grouping by both is grouping by the key."""
        key = make_key(node, self.context)
        if key.id not in [other.id for other in self.groups.keys]:
            self.groups.keys.append(key)
        place = [other.id for other in self.groups.keys].index(key.id)
        return Output(name or unnamed(node), "key", key.type, place)

    def _constant_key(self, formula: Constant, name: str) -> Output:
        """A constant text beside the aggregates is a key that every group has."""
        told = f"key {hashlib.sha256(formula.canonical.encode()).hexdigest()[:24]}"
        self.groups.keys.append(GroupKey(told, formula.type, formula, (told_key(formula.value),)))
        return Output(name or "constant", "key", formula.type, len(self.groups.keys) - 1)

    def _item(self, node: exp.Column) -> exp.Expr:
        return item_of(node, self.tree.expressions)

    # -- HAVING, ORDER BY and LIMIT ------------------------------------------------------------------------------

    def _selected(self, name: str) -> Predicate | None:
        """The condition of HAVING or QUALIFY on groups."""
        clause = self.tree.args.get(name)
        if clause is None:
            return None
        meant = self._with_items(with_items(clause.this, self.tree.expressions, self.groups.terms))
        self._check_all(meant)
        if name == "having" and meant.find(exp.Window):  # by the name of an item
            raise refused(meant, "HAVING is applied before window functions.", "Use QUALIFY, or an outer query.")
        note_groups(meant, self.context)
        return is_true(condition(self.groups.lift(meant), self.groups.as_context))

    def _with_items(self, node: exp.Expr) -> exp.Expr:
        """The node with names that no column has replaced by the items of the select list that they call."""
        holder = exp.Paren(this=node.copy())
        for name in list(holder.find_all(exp.Column)):
            if name not in self.groups.terms and folded(name.name) not in self.context.columns:
                name.replace(exp.Paren(this=self._item(name).copy()))
        found: exp.Expr = holder.this
        return found

    def _check_all(self, having: exp.Expr) -> None:
        """With GROUP BY ALL the database groups by the bare columns of HAVING too."""
        group = self.tree.args.get("group")
        if group is None or not group.args.get("all"):
            return
        for node in having.walk(prune=is_aggregate):
            if isinstance(node, exp.Column) and node not in self.groups.terms:
                raise UnsupportedSQL(
                    "QG206",
                    "With GROUP BY ALL, this HAVING would create groups of its own.",
                    "List the group columns in GROUP BY.",
                    span=span_of(node),
                )

    def _orders(self, shown_: int) -> tuple[Order, ...]:
        clause = self.tree.args.get("order")
        orders = []
        for term in clause.expressions if clause else ():
            everything = isinstance(term.this, exp.Var) and str(term.this.this).upper() == "ALL"
            for index in range(shown_) if everything else [self._ordered(term.this)]:
                orders.append(Order(index, bool(term.args.get("desc")), bool(term.args.get("nulls_first"))))
        return tuple(orders)

    def _ordered(self, node: exp.Expr) -> int:
        """The output an ORDER BY term means: a position, a name, else a key or an aggregate of its own."""
        node = node.unnest()
        if isinstance(node, exp.Literal):
            return self._place(read_position(node, len(self.first)) - 1, node)
        if not any(isinstance(part, exp.Column) or is_aggregate(part) for part in node.walk()):
            raise UnsupportedSQL(
                "QG214", "A constant does not order anything.", "Order by a name or a position.", span=span_of(node)
            )
        if isinstance(node, exp.Column) and not node.meta.get("qualified"):
            named = items_named(self.tree, node)
            if len(named) == 1:
                return self._place(named[0], node)
            if len(named) > 1:
                raise UnsupportedSQL(
                    "QG214",
                    f"The select list has {len(named)} columns with this name.",
                    "Give each column its own name.",
                    span=span_of(node),
                )
        try:
            wanted = self._output(self._with_items(node), "")
        except UnsupportedSQL as refusal:
            if refusal.code in ("QG203", "QG207") and any(map(is_aggregate, node.walk())):
                raise
            raise UnsupportedSQL(
                "QG214",
                "ORDER BY accepts group keys, aggregates, and names and positions of the select list.",
                "Order by one of those.",
                span=span_of(node),
            ) from None
        for index, output in enumerate(self.outputs):
            if (output.kind, output.source, output.formula) == (wanted.kind, wanted.source, wanted.formula):
                return index
        self.outputs.append(named_once(wanted, self.outputs))
        return len(self.outputs) - 1

    def _place(self, item: int, node: exp.Expr) -> int:
        """The output of an item of the select list."""
        if quantiles(self.tree.expressions[item].unalias().unnest()):
            raise UnsupportedSQL(
                "QG214", "A list of quantiles does not order groups.", "Order by one of them.", span=span_of(node)
            )
        return self.first[item]


# -- helpers ---------------------------------------------------------------------------------------------


def _told_apart(keys: list[GroupKey]) -> list[GroupKey]:
    """Of keys that mean the same each under an id of its own: a grouping set may have one of them without the other."""
    seen: Counter[str] = Counter()
    found = []
    for key in keys:
        seen[key.id] += 1
        found.append(key if seen[key.id] == 1 else replace(key, id=f"{key.id} {seen[key.id]}"))
    return found
