"""Text to what a noisy answer needs: the plan, and which rows and values each of its numbers is made of.

No text of the statement goes on from here: conditions and values are those of the plan. What is refused here has no
known sensitivity, or would need a release that the policy's budget does not pay for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Expression, Ref, condition_size, value_size
from querygate.core.plan import Aggregate, LeftOut, Plan
from querygate.core.ports import Limits, Native
from querygate.core.predicate import Predicate
from querygate.core.types import Catalog, Column, folded
from querygate.sql.aggregates import listed, quantiles, read_aggregate
from querygate.sql.allow_list import allow
from querygate.sql.clauses.group_keys import grouping_sets
from querygate.sql.code_tests import is_code_test
from querygate.sql.compose import Query, compose, reading_notes
from querygate.sql.parse import parse, span_of
from querygate.sql.person_column import CLAUSES
from querygate.sql.planner import make_plan
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
MOST_OPERATIONS = 2_000
"""Tables that each record is looked up in, and numbers that are calculated from it, for one statement."""

_REMEDY = "Use COUNT, COUNT(DISTINCT column), SUM, AVG, MEDIAN or QUANTILE_CONT, or ask for guaranteed ranges."


@dataclass(frozen=True, slots=True)
class NoisyNumber:
    """One number of each group that is told with noise, of the records for which `where` is TRUE and so `value` known.

    `id` is equal for numbers that mean the same, whatever the words.
    """

    id: str
    kind: Kind
    where: Predicate
    value: Expression | None = None  # what is added, ranked or told apart; None for a count of records
    share: float = 0.5  # which quantile
    persons: bool = False  # it counts persons, however many rows they have


@dataclass(frozen=True, slots=True)
class NoisyPlan:
    """A statement understood. `items` tell for each shown output its release, None for a key."""

    plan: Plan
    releases: tuple[NoisyNumber, ...]
    items: tuple[int | None, ...]

    @property
    def where(self) -> Predicate:
        """The selection of the statement itself."""
        return self.plan.measures[0].where

    @property
    def operations(self) -> int:
        """How much is done for each record, whatever it holds."""
        each = [
            condition_size(self.where),
            *(value_size(key.by) for key in self.plan.keys if not isinstance(key.by, LeftOut)),
        ]
        for release in self.releases:
            each.append(condition_size(release.where) + (value_size(release.value) if release.value is not None else 0))
        return sum(each) * len(self.plan.sets)

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
    notes = reading_notes(tree, catalog)
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
    parts = [part for clause in CLAUSES for part in listed(tree.args.get(clause))]
    for node in (node for part in parts for node in part.find_all(exp.Column)):
        if person and folded(node.name) == folded(person):
            counted = node.parent
            if not (isinstance(counted, exp.Distinct) and isinstance(counted.parent, exp.Count)):
                raise _refused("People can only be counted.", f"Use COUNT(DISTINCT {person}).", node)


def _noisy(query: Query, plan: Plan, person: str) -> NoisyPlan:
    tree = query.tree
    if plan.having is not None or plan.qualify is not None:
        raise _refused(
            "HAVING or QUALIFY would select groups by their true numbers.",
            "Remove it, and select groups in the answer.",
        )
    for node in tree.walk():
        if is_code_test(node):
            raise _refused("Noisy counts of code lists are not supported.", _REMEDY, node)
    if any(quantiles(item.this if isinstance(item, exp.Alias) else item) for item in tree.expressions):
        raise _refused("Noise is added to one quantile at a time.", "Ask for one quantile per statement.")
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
    if any(isinstance(key.by, LeftOut) for key in plan.keys):
        raise _refused("GROUPING is not available with noise.", "Leave it out: total rows are marked in the answer.")
    group = tree.args.get("group")
    terms = grouping_sets(group, tree.expressions)[0] if group is not None else []
    if len(terms) != len(plan.keys):
        raise _refused(
            "The select list shows a function of a group key next to the key.", "Show only the keys themselves."
        )
    found = NoisyPlan(plan, tuple(releases), tuple(items))
    if found.operations > MOST_OPERATIONS:
        raise _refused(
            "The statement computes too much for each record.",
            "Use fewer conditions, branches and numbers per statement.",
        )
    return found


def _release(item: exp.Expr, formula: Expression, plan: Plan, person: str) -> NoisyNumber:
    node = (item.this if isinstance(item, exp.Alias) else item).unnest()
    found = next((a for a in plan.aggregates if isinstance(formula, Ref) and formula.column == a.id), None)
    kind = _KINDS.get((found.family, found.statistic)) if found is not None else None
    if read_aggregate(node) is None or found is None or kind is None:
        raise _refused("It is not known how much one person can change this number.", _REMEDY, node)
    return _of(found, kind, plan, person, node)


def _of(found: Aggregate, kind: Kind, plan: Plan, person: str, node: exp.Expr) -> NoisyNumber:
    measure = plan.measures[found.measure]
    value = measure.values[0] if kind != "count" else None
    if value is not None and kind != "distinct" and value.type not in ("integer", "number"):
        raise _refused("Noise can be added to numbers only.", _REMEDY, node)
    share = float(found.parameters[0]) if found.parameters else 0.5
    persons = isinstance(value, Ref) and kind == "distinct" and folded(value.column) == folded(person)
    return NoisyNumber(found.id, kind, measure.where, value, share, persons)


def _refused(detail: str, remedy: str, node: exp.Expr | None = None) -> UnsupportedSQL:
    return UnsupportedSQL("QG216", detail, remedy, span=span_of(node) if node is not None else None)
