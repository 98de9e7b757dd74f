"""Step 3: queries inside queries become one: names against the catalog, CTEs and subqueries against each other.

A subquery that only filters, projects or renames is substituted: its expressions for its names, its WHERE added to the
outer one. A UNION ALL of rows becomes an OR, once its branches are shown to exclude each other. A JOIN to a reference
table that the custodian registered is a function of the column it is joined on. What is left is a SELECT over the
dataset, or one over the groups of another. A column that is withheld is unknown, like one that never was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from querygate.core.errors import SyntaxRefused, UnsupportedSQL
from querygate.core.types import Catalog, Column, folded
from querygate.sql.aggregates import is_aggregate, listed
from querygate.sql.allow_list import may_have
from querygate.sql.buckets import write_out_buckets
from querygate.sql.clauses.group_keys import group_of_distinct, mark_without_columns
from querygate.sql.clauses.reference_join import join_reference
from querygate.sql.clauses.select_list import expand_stars, is_grouped, items_by_name, name_items, name_of
from querygate.sql.clauses.tables_in_scope import UNLISTED, Names, Tables, nameless, quoted_column
from querygate.sql.column_lookup import substitute_names
from querygate.sql.name_text import name_text
from querygate.sql.parse import span_of
from querygate.sql.person_column import CLAUSES, count_rows
from querygate.sql.subqueries.projections import projected
from querygate.sql.subqueries.scalar_queries import NUMBERS, as_call, is_call, query_of, refused, refused_threshold
from querygate.sql.subqueries.subquery_conditions import reduce_subqueries

LARGEST = 20_000
SYSTEM_SCHEMAS = frozenset({"information_schema", "pg_catalog", "pg_temp", "pg_toast", "system", "temp"})
"""Where a database keeps tables of its own. Elsewhere a schema is the place of the custodian's table, and the gate has
one dataset of a name: telemetry.crashes is crashes."""


@dataclass
class Query:
    """A SELECT whose columns are the dataset's, or the outputs of `inner` where it asks about the groups of another.

    `disjoint` lists conditions that must exclude each other for the query to mean what it says.
    """

    tree: exp.Select
    inner: Query | None = None
    disjoint: list[tuple[exp.Expr, exp.Expr]] = field(default_factory=list)


def compose(tree: exp.Select | exp.Union, catalog: Catalog) -> list[Query]:
    """The queries whose answers are to be shown one after the other. The tree is used up: its parts are theirs."""
    write_out_buckets(tree)
    _put_day(tree, catalog)
    queries = _branches(tree, catalog, {}, top=True)
    for query in queries if catalog.person else ():
        over_records = _over_records(query).tree
        parts = [part for clause in CLAUSES for part in listed(over_records.args.get(clause))]
        calls = [node for part in parts for node in part.find_all(exp.Anonymous) if is_call(node)]
        for made in [over_records, *(query_of(call).tree for call in calls)]:
            count_rows(made, catalog.person)
    return queries


def _put_day(tree: exp.Expr, catalog: Catalog) -> None:
    """CURRENT_DATE is the day the version was published, so that a statement asks the same on every day."""
    for node in list(tree.find_all(exp.CurrentDate)) if may_have(tree, exp.CurrentDate) else ():
        if not catalog.published:
            raise UnsupportedSQL(
                "QG204", "The publication date of this version is not known.", "Write the date.", span=span_of(node)
            )
        node.replace(exp.Cast(this=exp.Literal.string(catalog.published[:10]), to=exp.DataType.build("DATE")))


def _over_records(query: Query) -> Query:
    """The one whose columns are the dataset's."""
    return query if query.inner is None else _over_records(query.inner)


def _branches(tree: exp.Expr, catalog: Catalog, ctes: Mapping[str, exp.Expr], *, top: bool = False) -> list[Query]:
    ctes = _with(tree, ctes)
    if isinstance(tree, exp.Union):
        return [q for side in (tree.this, tree.expression) for q in _branches(side, catalog, ctes, top=top)]
    if isinstance(tree, exp.Select):
        return [_flatten(tree, catalog, ctes, top)]
    if isinstance(tree, (exp.Subquery, exp.Paren)):
        return _branches(tree.this, catalog, ctes, top=top)
    raise _no_source(catalog)


def _no_source(catalog: Catalog) -> UnsupportedSQL:
    return UnsupportedSQL(
        "QG205", "FROM does not name anything that can be queried.", f"Write FROM {name_text(catalog.dataset)}."
    )


class _Before(dict[str, exp.Expr]):
    """The named queries before one. A copy of that one has them too, and no copies of them: each has those before it,
    so that copies would double with every query."""

    def __deepcopy__(self, memo: object) -> _Before:
        return self


def _with(tree: exp.Expr, ctes: Mapping[str, exp.Expr]) -> Mapping[str, exp.Expr]:
    """The named queries in force. A later one may use an earlier one, so each keeps those before it."""
    clause = tree.args.get("with_")
    known = dict(ctes)
    for cte in clause.expressions if clause else ():
        body = cte.this.copy()
        body.meta["ctes"] = _Before(known)
        known[folded(cte.alias)] = body
    tree.set("with_", None)
    return known


def _flatten(tree: exp.Select, catalog: Catalog, ctes: Mapping[str, exp.Expr], top: bool) -> Query:
    ctes = _with(tree, ctes)
    if tree.args.get("from_") is None:  # numbers of other queries: one row, whoever there is
        tree.set("from_", exp.From(this=exp.Table(this=exp.to_identifier(catalog.dataset, quoted=True))))
        tree.set("where", exp.Where(this=exp.false()))
        tree.meta[NUMBERS] = True
    reduce_subqueries(tree, catalog)
    _put_calls(tree, catalog, ctes)
    names, where, disjoint, inner, alias = _source(tree.args["from_"].this, catalog, ctes)
    tables = Tables({alias: names})
    for join in tree.args.get("joins") or ():
        row = _one_row(join, catalog, ctes)
        if row is not None and folded(join.this.alias_or_name) not in tables:
            tables.add(folded(join.this.alias_or_name), row)
            continue
        where = _and(where, join_reference(join, catalog, ctes, tables, lambda e: _origin(e, inner, catalog)))
    tree.set("joins", None)
    projects = top and inner is not None and not tree.args.get("distinct") and not is_grouped(tree)
    if not top or projects:
        expand_stars(tree, tables)
    name_items(tree)
    mark_without_columns(tree.expressions)
    after_windows = _selects_by_windows(tree, names)
    if substitute_names(tree, tables, catalog) > LARGEST:
        raise SyntaxRefused("QG102", "The statement becomes too long once its subqueries are expanded.", "Simplify it.")
    own = tree.args.get("where")
    if own is not None and after_windows:
        tree.set("qualify", exp.Qualify(this=own.this))
        own = None
    both = _and(where, own.this if own else None)
    tree.set("where", exp.Where(this=both) if both is not None else None)
    if inner is not None and projects:
        merged = projected(tree, inner.tree, items_by_name(inner.tree))
        return Query(merged, inner.inner, inner.disjoint)
    return Query(tree, inner, disjoint)


def _selects_by_windows(tree: exp.Select, names: Names) -> bool:
    """Does it select among groups of which windows were made before? That is QUALIFY, whatever it selects by: WHERE
    would select before they are made."""
    if tree.args.get("where") is None or not any(value.find(exp.Window) for value in names.values()):
        return False
    if is_grouped(tree) or tree.args.get("distinct"):
        return False
    own = [part for clause in ("expressions", "qualify", "order") for part in listed(tree.args.get(clause))]
    again = next((part.find(exp.Window) for part in own if part.find(exp.Window)), None)
    if again is not None or tree.args.get("qualify") is not None:
        raise UnsupportedSQL(
            "QG206",
            "A window over groups that already use windows is not supported.",
            "Use windows in one of the queries only.",
            span=span_of(again) if again is not None else None,
        )
    return True


# -- one number ------------------------------------------------------------------------------------------------------


def _put_calls(tree: exp.Select, catalog: Catalog, ctes: Mapping[str, exp.Expr]) -> None:
    """Queries of one number as calls, beside aggregates; constants as they are."""
    clauses = ("expressions", "where", "group", "having", "qualify", "order")
    for clause in clauses if may_have(tree, exp.Subquery) else ():
        for root in listed(tree.args.get(clause)):
            for node in list(root.walk(prune=_is_query)):
                if isinstance(node, exp.Subquery):
                    node.replace(_number(node, clause, catalog, ctes))


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, exp.Subquery)


def _number(node: exp.Subquery, clause: str, catalog: Catalog, ctes: Mapping[str, exp.Expr]) -> exp.Expr:
    query = node.this
    if not isinstance(query, exp.Select) or len(query.expressions) != 1:
        raise refused(node)
    if query.args.get("from_") is None and not query.find(exp.Subquery):
        return exp.Paren(this=query.expressions[0].unalias().copy())
    if clause in ("where", "group") or _is_in_aggregate(node):
        raise refused_threshold(node)
    [made] = _branches(query, catalog, ctes, top=True)
    return as_call(_of_records(made), _of_records(made).tree.expressions[0].unalias(), node)


def _is_in_aggregate(node: exp.Expr) -> bool:
    around = node.parent
    while around is not None and not is_aggregate(around):
        around = around.parent
    return around is not None


def _one_row(join: exp.Join, catalog: Catalog, ctes: Mapping[str, exp.Expr]) -> Names | None:
    """What a joined query of one row offers; None where it is something else."""
    source = join.this
    named = ctes.get(folded(source.name)) if isinstance(source, exp.Table) and not source.args.get("db") else None
    body = named.copy() if named is not None else source.this if isinstance(source, exp.Subquery) else None
    if not isinstance(body, exp.Select) or not source.alias_or_name:
        return None
    if any(join.args.get(part) for part in ("on", "using", "side")) or join.args.get("kind") not in (None, "", "CROSS"):
        return None
    ctes = named.meta.get("ctes", {}) if named is not None else ctes
    [made] = _branches(body, catalog, ctes, top=True)
    if made.inner is not None or any(map(made.tree.args.get, _SELECTING)) or not is_grouped(made.tree):
        return None
    where = made.tree.args.get("where")
    names: Names = {}
    for name, item in items_by_name(made.tree).items():
        only = exp.Select(expressions=[item.copy()], where=where.copy() if where is not None else None)
        names[name] = as_call(Query(only), item, source)
    return names


def _of_records(query: Query) -> Query:
    """A sum of the counts or sums of all groups as one of records: SELECT SUM(n) FROM (SELECT COUNT(*) AS n ...)."""
    inner = query.inner
    if inner is None or inner.inner is not None or any(query.tree.args.get(c) for c in ("where", *_SELECTING)):
        return query
    group = inner.tree.args.get("group")
    item = query.tree.expressions[0].unalias().unnest() if len(query.tree.expressions) == 1 else None
    if not isinstance(item, exp.Sum) or not isinstance(item.this.unnest(), exp.Column) or group is None:
        return query
    if any(inner.tree.args.get(c) for c in _SELECTING[1:]) or any(group.args.get(s) for s in _SETS):
        return query
    value = items_by_name(inner.tree).get(folded(item.this.unnest().name))
    value = value.unnest() if value is not None else None
    if isinstance(value, exp.Count) and isinstance(value.this, exp.Star):  # NULL where nobody is, and not 0
        value = exp.Sum(this=exp.Literal.number(1))
    if not isinstance(value, exp.Sum) or isinstance(value.this, exp.Distinct):
        return query
    return Query(exp.Select(expressions=[value.copy()], where=inner.tree.args.get("where")), None, inner.disjoint)


_SELECTING = ("group", "having", "qualify", "limit", "offset", "distinct")
_SETS = ("rollup", "cube", "grouping_sets")


# -- FROM ------------------------------------------------------------------------------------------------------------


_Source = tuple[Names, "exp.Expr | None", list[tuple[exp.Expr, exp.Expr]], "Query | None", str]


def _source(source: exp.Expr, catalog: Catalog, ctes: Mapping[str, exp.Expr]) -> _Source:
    """The names a FROM offers, the condition its rows fulfil, and by which table name they can be called."""
    alias = folded(source.alias) if source.alias else ""
    while isinstance(source, (exp.Subquery, exp.Paren)) and isinstance(source.this, (exp.Table, exp.Paren)):
        source = source.this  # brackets round a name
    if not isinstance(source, (exp.Table, exp.Subquery)):
        raise _no_source(catalog)
    if isinstance(source, exp.Table):
        named = ctes.get(folded(source.name)) if not source.args.get("db") else None
        if named is None:
            _check_dataset(source, catalog)
            own: Names = {folded(c.name): quoted_column(c.name) for c in catalog.columns}
            if catalog.person:
                own[folded(catalog.person)] = quoted_column(catalog.person)
                own[folded(catalog.person)].meta[UNLISTED] = True
            return own, None, [], None, alias or folded(source.name)
        body, ctes, alias = named.copy(), named.meta.get("ctes", {}), alias or folded(source.name)
    else:
        body = source.this
    queries = _branches(body, catalog, ctes)
    if len(queries) == 1:
        return _rows_of(queries[0], alias)
    return _union(queries, body, alias)


def _check_dataset(table: exp.Table, catalog: Catalog) -> None:
    schema = folded(table.args["db"].name) if table.args.get("db") else ""
    if folded(table.name) != folded(catalog.dataset) or schema in SYSTEM_SCHEMAS:
        raise UnsupportedSQL(
            "QG205",
            "FROM does not name the dataset of this request.",
            f"Write FROM {name_text(catalog.dataset)}.",
            span=span_of(table),
        )


def reading_notes(tree: exp.Expr, catalog: Catalog) -> tuple[str, ...]:
    """What was read otherwise than a database would: CURRENT_DATE, and schemas, which are not looked at, so that nobody
    believes to have asked another table."""
    usual = {"", "main", "public", folded(catalog.dataset)}
    named = sorted({table.db for table in tree.find_all(exp.Table) if folded(table.db) not in usual})
    day = f"CURRENT_DATE means {catalog.published[:10]}, the day this version was published."
    days = (day,) if may_have(tree, exp.CurrentDate) else ()
    return days + tuple(
        f"Datasets have no schema: {name}.{catalog.dataset} was read as {catalog.dataset}." for name in named
    )


def _rows_of(query: Query, alias: str) -> _Source:
    """What a subquery offers: its expressions if it gives rows, its outputs if it gives groups."""
    tree = query.tree
    if tree.args.get("limit"):
        raise UnsupportedSQL(
            "QG206", "LIMIT inside a subquery would pick rows at random.", "Remove it.", span=span_of(tree)
        )
    tree.set("order", None)  # the order of rows has no meaning to an aggregate
    if tree.args.get("distinct") and not is_grouped(tree):
        tree.set("group", group_of_distinct())
        tree.set("distinct", None)
    if tree.args.get("qualify") and not is_grouped(tree):
        raise UnsupportedSQL(
            "QG206", "QUALIFY over single records would pick rows.", "Use it over groups.", span=span_of(tree)
        )
    if tree.args.get("offset"):
        raise UnsupportedSQL(
            "QG206", "OFFSET inside a subquery would pick rows at random.", "Remove it.", span=span_of(tree)
        )
    if is_grouped(tree):
        names: Names = {}
        for place, item in enumerate(tree.expressions):
            name = name_of(item) or nameless(place)
            if not name_of(item):
                item.replace(exp.alias_(item.copy(), name, quoted=True))
            names[folded(name)] = quoted_column(name)
        return names, None, [], query, alias
    clause = tree.args.get("where")
    return items_by_name(tree), clause.this if clause else None, query.disjoint, query.inner, alias


def _union(queries: list[Query], body: exp.Expr, alias: str) -> _Source:
    """Rows of several selections that exclude each other: one selection, a CASE where they differ.

    Columns belong together by their position; they are called as in the first selection.
    """
    sources = [_rows_of(query, alias) for query in queries]
    lists = [[item.unalias() for item in query.tree.expressions] for query in queries]
    called = [folded(name_of(item)) for item in queries[0].tree.expressions]
    if any(source[3] is not None for source in sources) or len({len(listed) for listed in lists}) > 1:
        raise UnsupportedSQL(
            "QG206",
            "UNION ALL inside FROM may only combine rows of the dataset, with the same columns.",
            "Filter and select columns in each branch, and aggregate outside.",
            span=span_of(body),
        )
    wheres = [source[1] if source[1] is not None else exp.true() for source in sources]
    disjoint = [pair for source in sources for pair in source[2]]
    disjoint += [(a.copy(), b.copy()) for i, a in enumerate(wheres) for b in wheres[i + 1 :]]
    names: Names = {}
    for name, values in zip(called, zip(*lists, strict=True), strict=True):
        same = all(value == values[0] for value in values)
        whens = [exp.If(this=where.copy(), true=value.copy()) for where, value in zip(wheres, values, strict=True)]
        if name and called.count(name) == 1:
            names[name] = values[0] if same else exp.Case(ifs=whens)
    return names, exp.or_(*(where.copy() for where in wheres)), disjoint, None, alias


# -- names -----------------------------------------------------------------------------------------------------------


def _origin(e: exp.Expr, inner: Query | None, catalog: Catalog) -> Column | None:
    """The column of the dataset that an expression is, under whatever name; None where it is something else."""
    if not isinstance(e, exp.Column):
        return None
    if inner is None:
        return catalog.column(e.name)
    items = [item for item in inner.tree.expressions if folded(name_of(item)) == folded(e.name)]
    if len(items) != 1:
        return None
    item = items[0].this if isinstance(items[0], exp.Alias) else items[0]
    return _origin(item.unnest(), inner.inner, catalog)


def _and(left: exp.Expr | None, right: exp.Expr | None) -> exp.Expr | None:
    if left is None or right is None:
        return left if right is None else right
    return exp.And(this=exp.Paren(this=left.copy()), expression=exp.Paren(this=right.copy()))
