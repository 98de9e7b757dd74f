"""Text to what a noisy answer needs: the plan, and the pieces of SQL that count the raw rows for it.

The pieces are written out from the tree that was allowed, never copied from the statement. What is refused here has no
known sensitivity, or would need a release that the policy's budget does not pay for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Expression, Ref
from querygate.core.plan import Aggregate, Plan
from querygate.core.ports import Limits, Native
from querygate.core.predicate import Predicate
from querygate.core.types import Catalog, Column, folded
from querygate.sql.aggregates import AggregateCall, read_aggregate
from querygate.sql.allow import allow
from querygate.sql.code_tests import is_code_test
from querygate.sql.compose import Query, compose, schema_notes
from querygate.sql.group_keys import grouping_sets
from querygate.sql.measures import as_filter
from querygate.sql.parse import parse, span_of
from querygate.sql.plan import make_plan
from querygate.sql.restatement import check_wording, own_wording
from querygate.sql.work_limit import WorkLimit

Kind = Literal["count", "distinct", "sum", "avg", "quantile"]

_KINDS: dict[tuple[str, str], Kind] = {
    ("column", "count"): "count",
    ("column", "count_distinct"): "distinct",
    ("sets", "count_distinct"): "distinct",
    ("column", "sum"): "sum",
    ("column", "avg"): "avg",
    ("column", "median"): "quantile",
    ("column", "quantile_cont"): "quantile",
    ("column", "quantile_disc"): "quantile",
}
_NEVER_FAILS = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Is),
)
_REMEDY = "Use COUNT, COUNT(DISTINCT column), SUM, AVG, MEDIAN or QUANTILE_CONT, or ask for guaranteed ranges."


@dataclass(frozen=True, slots=True)
class NoisyNumber:
    """One number of each group that is told with noise. `of` is the expression of its value, `given` its condition.

    `id` is equal for numbers that mean the same, whatever the words.
    """

    id: str
    kind: Kind
    value: str  # SQL; empty for COUNT(*)
    where: str  # SQL of its own condition; empty if it has none
    of: Expression | None = None
    given: Predicate | None = None
    share: float = 0.5  # which quantile
    persons: bool = False  # it counts persons, however many rows they have


@dataclass(frozen=True, slots=True)
class NoisyPlan:
    """A statement understood. `items` tell for each shown output its release, None for a key."""

    plan: Plan
    where: str
    terms: tuple[str, ...]
    releases: tuple[NoisyNumber, ...]
    items: tuple[int | None, ...]

    @property
    def number(self) -> int:
        """Releases that touch the same people: each grouping set tells every one of the numbers again."""
        return len(self.releases) * len(self.plan.sets)


def understand_noisy(sql: str, catalog: Catalog, native: Native, limits: Limits | None = None) -> NoisyPlan:
    """The plan of a statement that is to be answered with noise."""
    limits, person = limits or Limits(), catalog.noise.person if catalog.noise is not None else ""
    if person:
        catalog = replace(catalog, columns=(*catalog.columns, _person(catalog, person)), person="")
    tree = allow(parse(sql, max_chars=limits.max_sql_chars, max_nesting=limits.max_nesting))
    own = own_wording(tree)
    notes = schema_notes(tree, catalog)
    queries = compose(tree, catalog)
    if len(queries) != 1 or queries[0].inner is not None:
        raise _refused("Noise can be added to the groups of one query only.", "Send each query separately.")
    _check_person(queries[0].tree, person)
    plan = make_plan(queries[0], catalog, WorkLimit(native), limits)
    check_wording(sql, own, native)
    return _noisy(queries[0], replace(plan, notes=(*notes, *plan.notes)), person)


def _person(catalog: Catalog, name: str) -> Column:
    """The column that tells persons apart, which is in no answer: how many there are can be asked, and nothing else."""
    return Column(name, len(catalog.columns), "identifier", "category", nullable=True)


def _check_person(tree: exp.Select, person: str) -> None:
    for node in tree.find_all(exp.Column):
        if person and folded(node.name) == folded(person):
            counted = node.parent
            if not (isinstance(counted, exp.Distinct) and isinstance(counted.parent, exp.Count)):
                raise _refused("Persons can only be counted.", f"Use COUNT(DISTINCT {person}).", node)


def _noisy(query: Query, plan: Plan, person: str) -> NoisyPlan:
    tree = query.tree
    if plan.having is not None:
        raise _refused(
            "HAVING would select groups by their true numbers.", "Remove it, and select groups in the answer."
        )
    for node in tree.walk():
        if is_code_test(node):
            raise _refused("Noisy counts of code lists are not supported.", _REMEDY, node)
    releases: list[NoisyNumber] = []
    items: list[int | None] = []
    for item, output in zip(tree.expressions, plan.outputs[: plan.shown], strict=True):
        if output.kind == "key":
            items.append(None)
            continue
        release = _release(item, output.formula, plan, person)
        known = [other.id for other in releases]
        if release.id not in known:
            releases.append(release)
        items.append([*known, release.id].index(release.id))
    if not releases:
        raise _refused("There is no number to add noise to.", _REMEDY)
    if any(order.output >= plan.shown for order in plan.orders):
        raise _refused("ORDER BY may only use what the select list shows.", "Order by a name in the select list.")
    group = tree.args.get("group")
    terms = grouping_sets(group, tree.expressions)[0] if group is not None else []
    if len(terms) != len(plan.keys):
        raise _refused(
            "The select list shows a function of a group key next to the key.", "Show only the keys themselves."
        )
    clause = tree.args.get("where")
    where = unfailing(clause.this) if clause is not None else ""
    return NoisyPlan(plan, where, tuple(unfailing(term) for term in terms), tuple(releases), tuple(items))


def _release(item: exp.Expr, formula: Expression, plan: Plan, person: str) -> NoisyNumber:
    node = (item.this if isinstance(item, exp.Alias) else item).unnest()
    asked = read_aggregate(node)
    found = next((a for a in plan.aggregates if isinstance(formula, Ref) and formula.column == a.id), None)
    kind = _KINDS.get((found.family, found.statistic)) if found is not None else None
    if asked is None or found is None or kind is None:
        raise _refused("It is not known how much one person can change this number.", _REMEDY, node)
    return _of(as_filter(asked), found, kind, plan, person)


def _of(asked: AggregateCall, found: Aggregate, kind: Kind, plan: Plan, person: str) -> NoisyNumber:
    given = [argument for argument in asked.arguments if not isinstance(argument, exp.Star)]
    value = given[0].unnest() if given and given[0].find(exp.Column) else None
    where = unfailing(asked.condition) if asked.condition is not None else ""
    if asked.name == "count_if" and value is not None:
        where = " AND ".join(f"({text})" for text in (where, unfailing(value)) if text)
        value = None
    text = unfailing(value) if value is not None else ""
    measure = plan.measures[found.measure]
    of = measure.values[0] if measure.values and kind in ("sum", "avg", "quantile") else None
    if of is not None and of.type not in ("integer", "number"):
        raise _refused("Noise can be added to numbers only.", _REMEDY, value)
    share = float(found.parameters[0]) if found.parameters else 0.5
    persons = isinstance(value, exp.Column) and kind == "distinct" and folded(value.name) == folded(person)
    return NoisyNumber(found.id, kind, text, where, of, measure.where if of is not None else None, share, persons)


def unfailing(node: exp.Expr) -> str:
    """The SQL of an expression that is NULL for a row for which it has no result.

    An error would tell, without noise, that there is such a row. Columns compared with constants have a result always,
    and are counted faster as they are.
    """
    text = own_wording(node)
    return text if all(isinstance(part, _NEVER_FAILS) for part in node.walk()) else f"TRY({text})"


def _refused(detail: str, remedy: str, node: exp.Expr | None = None) -> UnsupportedSQL:
    return UnsupportedSQL("QG216", detail, remedy, span=span_of(node) if node is not None else None)
