"""Statements about PostgreSQL's own catalog, as tools send them, in the words of the engine that holds a shadow of it.

Only tables of the shadow and functions that are known are let through: whatever else a statement names is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from querygate.core.errors import SyntaxRefused, UnsupportedSQL
from querygate.core.types import folded
from querygate.sql.postgres.catalog_growth import (
    BOUNDED,
    bounded,
    check_growth,
    is_joined,
    is_whole,
    joined_inside,
)  # fmt: skip

CATALOG, INFORMATION = "pg_catalog", "information_schema"
LONGEST, DEEPEST = 50_000, 60
PREFIX = "qg_"
"""Before the name of each function that the shadow has of its own."""

_OIDS = {"regclass": "to_regclass", "regtype": "to_regtype", "regnamespace": "to_regnamespace"}
_TEXTS = {"name", "char", "regproc", "regprocedure", "regoper", "cstring", "information_schema.sql_identifier"}


@dataclass(frozen=True, slots=True)
class Shadow:
    """What is there: tables by their names, those of them without a row, columns of single letters, functions without
    their prefix, settings of the session, and what it is told of itself."""

    tables: Collection[str]
    empty: Collection[str]
    letters: Collection[str]
    functions: Collection[str]
    settings: Mapping[str, str]
    user: str
    database: str
    version: str
    now: str


def is_about_catalog(sql: str, datasets: Collection[str] = ()) -> bool:
    """Does it name no table but PostgreSQL's own? `SELECT version()` names none at all.

    >>> is_about_catalog("SELECT relname FROM pg_class"), is_about_catalog("SELECT COUNT(*) FROM survey")
    (True, False)
    """
    tree = _read(sql)
    if not isinstance(tree, exp.Query) or tree.find(*_CHANGES):
        return False
    inner = {folded(cte.alias) for cte in tree.find_all(exp.CTE)}
    tables = [table for table in tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    known = {folded(name) for name in datasets}
    return all(_is_own(table, known) or (not table.db and folded(table.name) in inner) for table in tables)


_CHANGES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Command, exp.Into)


def _is_own(table: exp.Table, datasets: Collection[str]) -> bool:
    if table.db:
        return folded(table.db) in (CATALOG, INFORMATION)
    return folded(table.name).startswith("pg_") and folded(table.name) not in datasets


_NUMBERS = re.compile(r"::\s*(?:pg_catalog\.)?(?:oid|regclass|regtype)\s*\[\]", re.IGNORECASE)
_KEYWORD_ALIAS = re.compile(r"\bAS\s+(select|update|insert|delete|table)\b", re.IGNORECASE)
_NAMES_OF = re.compile(r"::\s*(?:pg_catalog\.)?(?:name|\"char\"|regproc)\s*\[\]", re.IGNORECASE)


def _read(sql: str) -> exp.Expr | None:
    sql = _NAMES_OF.sub("::text[]", _NUMBERS.sub("::bigint[]", sql))  # lists of these the parser does not know
    sql = _KEYWORD_ALIAS.sub(r'AS "\1"', sql)  # PostgreSQL takes any word after AS
    try:
        return parse_one(sql, dialect="postgres") if len(sql) <= LONGEST and _is_shallow(sql) else None
    except (SqlglotError, SyntaxRefused, RecursionError, TypeError, ValueError, AttributeError, LookupError):
        return None


def _is_shallow(sql: str) -> bool:
    """May a recursive parser read it? Tools join more tables than people do."""
    depth = deepest = 0
    for sign in sql:
        depth += (sign in "([") - (sign in ")]")
        deepest = max(deepest, depth)
    return deepest <= DEEPEST


def translate(sql: str, shadow: Shadow) -> str:
    """The statement in the engine's words. Raises a refusal for what the shadow does not have."""
    tree = _read(sql)
    if not isinstance(tree, exp.Query) or tree.find(*_CHANGES):
        raise SyntaxRefused("QG101", "The statement cannot be read.", "Send one SELECT.")
    inner = {folded(cte.alias) for cte in tree.find_all(exp.CTE)}
    if any(name.startswith(_ENGINES_OWN) for name in inner):
        raise UnsupportedSQL("QG205", "A table of a WITH clause has a name of the engine's own.", "Name it otherwise.")
    for select in tree.find_all(exp.Select):
        select.set("expressions", [_named(item) for item in select.expressions])
    for select in list(tree.find_all(exp.Select)):
        _empty_select(select, shadow)
    if isinstance(tree, exp.Select):
        _order_columns(tree)
    for table in list(tree.find_all(exp.Table)):
        _place_table(table, shadow, inner)
    check_growth(tree)
    return _reworded(tree, shadow).sql(dialect="duckdb", comments=False)


_ENGINES_OWN = ("duckdb_", "sqlite_", "pragma_", "pg_", "qg_")
"""Before names that mean something outside the WITH clause too: a table of it is known by its name everywhere."""


def _named(item: exp.Expr) -> exp.Expr:
    """With the name that PostgreSQL gives a column of a result: that of the function, or of what is cast."""
    if isinstance(item, (exp.Alias, exp.Column, exp.Star)) or item.is_star:
        return item
    inner = item
    while isinstance(inner, (exp.Cast, exp.Paren, exp.Collate)):
        inner = inner.this
    if isinstance(inner, exp.Dot):
        inner = inner.expression
    if isinstance(inner, (exp.Column, exp.Identifier)):
        name = inner.name
    elif isinstance(inner, exp.Anonymous):
        name = str(inner.this).lower()
    else:
        name = _NAMES.get(inner.key, inner.sql_name().lower() if isinstance(inner, exp.Func) else "?column?")
    return exp.alias_(item.copy(), name, quoted=True)


_NAMES = {"currentuser": "current_user", "currentversion": "version", "case": "case", "array": "array"}


def _empty_select(select: exp.Select, shadow: Shadow) -> None:
    """A selection from a table without rows has none, whatever else it says: most of PostgreSQL's catalog is about
    things that are not here, in words that the engine need not know."""
    sources = [select.args.get("from_"), *(join for join in select.args.get("joins") or () if not join.side)]
    tables = [source.this for source in sources if source is not None and isinstance(source.this, exp.Table)]
    has_one = any(_schema_of(table) + "." + folded(table.name) in shadow.empty for table in tables)
    counted = not select.args.get("group") and any(item.find(exp.AggFunc) for item in select.expressions)
    if not has_one or counted or select.is_star:
        return
    names = [item.alias_or_name or f"column{i}" for i, item in enumerate(select.expressions)]
    for part in ("from_", "joins", "group", "having", "order", "distinct", "laterals", "limit", "offset"):
        select.set(part, None)
    select.set("expressions", [exp.alias_(exp.Null(), name, quoted=True) for name in names])
    select.set("where", exp.Where(this=exp.false()))


def _order_columns(select: exp.Select) -> None:
    """Columns of tables in their order, as PostgreSQL happens to give them where nobody asks for an order."""
    if any(select.args.get(part) for part in ("order", "group", "distinct")) or select.find(exp.AggFunc):
        return
    sources = [select.args.get("from_"), *(select.args.get("joins") or ())]
    for table in (source.this for source in sources if source is not None and isinstance(source.this, exp.Table)):
        place = _PLACES.get(folded(table.name))
        if place is not None:
            select.order_by(exp.column(place, table.alias_or_name), copy=False)


_PLACES = {"pg_attribute": "attnum", "columns": "ordinal_position"}


def _schema_of(table: exp.Table) -> str:
    return folded(table.db) or (CATALOG if folded(table.name).startswith("pg_") else "public")


def _place_table(table: exp.Table, shadow: Shadow, inner: Collection[str]) -> None:
    if not isinstance(table.this, exp.Identifier):  # a function
        table.set("db", None)
        return
    if not table.db and folded(table.name) in inner:
        return
    schema = _schema_of(table)
    name = f"{schema}.{folded(table.name) if schema != 'public' else table.name}"
    if name not in shadow.tables:
        raise UnsupportedSQL(
            "QG205", "This table of PostgreSQL's catalog is not kept here.", "List the datasets with \\dt."
        )
    alias = table.alias or table.name
    given = table.args.get("alias")
    columns = None if given is None else given.args.get("columns")
    table.set("this", exp.to_identifier(name.partition(".")[2], quoted=True))
    table.set("db", exp.to_identifier(_SCHEMAS.get(schema, schema), quoted=True))
    table.set("catalog", None)
    table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True), columns=columns))


_SCHEMAS = {CATALOG: "cat", INFORMATION: "info", "public": "data"}


def _reworded(tree: exp.Expr, shadow: Shadow) -> exp.Expr:
    """From the leaves up, so that what stands inside is read before what stands around it."""
    for node in list(tree.find_all(exp.Expr, bfs=True))[::-1]:
        other = _other(node, shadow)
        if other is not node:
            if node is tree:
                return other
            node.replace(other)
    return tree


def _other(node: exp.Expr, shadow: Shadow) -> exp.Expr:
    other = next((reword(node, shadow) for kind, reword in _REWORDED.items() if isinstance(node, kind)), node)
    if (is_joined(node) or joined_inside(node)) and is_whole(node):
        return bounded(other.copy() if other is node else other)
    return other


def _without_schema(node: exp.Expr, shadow: Shadow) -> exp.Expr:
    """`pg_catalog.f(x)` is `f(x)`; whatever else has a dot stays."""
    named = node.this
    is_schema = isinstance(named, exp.Identifier) and folded(named.this) in (CATALOG, INFORMATION)
    if isinstance(named, exp.Column) and not named.table:
        is_schema = folded(named.name) in (CATALOG, INFORMATION)
    return node.expression if is_schema else node


def _function(node: exp.Expr, shadow: Shadow) -> exp.Expr:
    name = folded(str(node.this))
    if name == "all" or (name.startswith(PREFIX) and name.removeprefix(PREFIX) in shadow.functions):
        return node
    if name == "current_setting" and node.expressions:
        named = node.expressions[0]
        wanted = folded((named.this if isinstance(named, exp.Cast) else named).name)
        return _text(next((value for key, value in shadow.settings.items() if folded(key) == wanted), ""))
    if name == "set_config" and len(node.expressions) > 1:
        value: exp.Expr = node.expressions[1].copy()
        return value
    constant = _constants(shadow).get(name)
    if constant is not None:
        return _text(constant)
    if name in _SAME:
        return exp.Anonymous(this=_SAME[name], expressions=[one.copy() for one in node.expressions])
    if name not in shadow.functions:
        raise UnsupportedSQL(
            "QG204", "This function of PostgreSQL is not available here.", "Ask without it, or over HTTP."
        )
    return exp.Anonymous(this=PREFIX + name, expressions=[one.copy() for one in node.expressions])


_SAME = {
    "json_build_object": "json_object", "json_object": "json_object", "json_build_array": "json_array",
    "array_position": "list_position", "to_json": "to_json", "list_position": "list_position",
    "json_array": "json_array", "translate": "translate", "array_cat": "list_concat", "array_append": "list_append",
}  # fmt: skip
"""Functions that the engine has under this name."""


def _constants(shadow: Shadow) -> dict[str, str]:
    return {
        "version": shadow.version,
        "current_database": shadow.database,
        "current_catalog": shadow.database,
        "current_schema": "public",
        **dict.fromkeys(("current_user", "session_user", "user", "current_role"), shadow.user),
    }


def _constant_function(node: exp.Expr, shadow: Shadow) -> exp.Expr:
    """Functions that the parser knows by name."""
    name = node.key.removeprefix("current")
    found = {"user": shadow.user, "role": shadow.user, "sessionuser": shadow.user, "schema": "public"}
    found |= {"catalog": shadow.database, "database": shadow.database, "version": shadow.version}
    return _text(found[name])


def _moment(node: exp.Expr, shadow: Shadow) -> exp.Expr:
    """The time and the day, which the engine would have to look up in a table of time zones."""
    kind = "DATE" if isinstance(node, exp.CurrentDate) else "TIMESTAMP"
    return exp.cast(_text(shadow.now), kind, dialect="duckdb")


def _text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _cast(node: exp.Expr, shadow: Shadow) -> exp.Expr:
    """Casts to types that only PostgreSQL has. A text becomes the number of what it names; a number its name."""
    kind = _type_name(node.args["to"])
    if isinstance(node.this, exp.Literal) and node.this.name.startswith("{") and node.args["to"].is_type("array"):
        return exp.Array(expressions=[_text(word) for word in node.this.name.strip("{}").split(",") if word])
    if kind in _OIDS:
        is_text = isinstance(node.this, exp.Literal) and node.this.is_string
        is_number = is_text and node.this.name.isdigit()
        if is_number:
            return exp.cast(node.this.copy(), "UINTEGER", dialect="duckdb")
        known = _OIDS[kind] if is_text or _is_made_text(node.this) else f"{kind}_text"
        return exp.Anonymous(this=PREFIX + known, expressions=[node.this.copy()])
    if kind in _TEXTS:
        return exp.cast(node.this.copy(), "VARCHAR", dialect="duckdb")
    if kind in ("oid", "xid", "cid"):
        return exp.cast(node.this.copy(), "UINTEGER", dialect="duckdb")
    if kind in ("int2vector", "oidvector"):
        return exp.cast(node.this.copy(), "BIGINT[]", dialect="duckdb")
    return node


def _is_made_text(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous) and node.this == BOUNDED:
        node = node.expressions[0]
    is_cast = isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.TEXT_TYPES)
    return is_cast or isinstance(node, exp.DPipe) or str(node.this) == "printf"


def _type_name(to: exp.Expr) -> str:
    kind = to.args.get("kind")
    text = str(kind) if kind else to.sql("postgres")
    return folded(text.replace('"', "")).removeprefix("pg_catalog.")


def _operator(node: exp.Expr, shadow: Shadow) -> exp.Expr:
    """`a OPERATOR(pg_catalog.~) b` is `a ~ b`."""
    sign = str(node.args["operator"]).rpartition(".")[2].strip()
    made = _SIGNS.get(sign)
    if made is None:
        raise UnsupportedSQL("QG204", "This operator of PostgreSQL is not available here.", "Ask without it.")
    return made(node.this.copy(), node.expression.copy())


_SIGNS: dict[str, Callable[[exp.Expr, exp.Expr], exp.Expr]] = {
    "~": lambda a, b: exp.RegexpLike(this=a, expression=b),
    "!~": lambda a, b: exp.Not(this=exp.RegexpLike(this=a, expression=b)),
    "~*": lambda a, b: exp.RegexpILike(this=a, expression=b),
    "=": lambda a, b: exp.EQ(this=a, expression=b),
    "<>": lambda a, b: exp.NEQ(this=a, expression=b),
}


def _column(node: exp.Expr, shadow: Shadow) -> exp.Expr:
    """Words that are functions without brackets; and `pg_catalog.pg_class.oid` is `pg_class.oid`."""
    node.set("db", None)
    is_word = isinstance(node.this, exp.Identifier) and not node.this.quoted and not node.args.get("table")
    return _text(shadow.user) if is_word and folded(node.name) in ("user", "current_role") else node


def _format(node: exp.Expr, shadow: Shadow) -> exp.Expr:
    """`format('%I.%I', schema, name)`; widths would make texts of any length."""
    form = node.this.name if isinstance(node.this, exp.Literal) else "%"
    if re.search("%(?![ILs%])", form):
        return _refuse(node, shadow)
    values = [value.copy() for value in node.expressions]
    return exp.Anonymous(this="printf", expressions=[_text(re.sub("%[IL]", "%s", form)), *values])


def _equal(node: exp.Expr, shadow: Shadow) -> exp.Expr:
    """`relkind = ANY (ARRAY['r'])`: the engine compares letters with texts one by one, but not with lists of texts."""
    left = node.this
    if isinstance(node.expression, exp.Any) and isinstance(left, exp.Column) and folded(left.name) in shadow.letters:
        node.set("this", exp.cast(left.copy(), "VARCHAR", dialect="duckdb"))
    return node


def _inner(node: exp.Expr, shadow: Shadow) -> exp.Expr:
    inner: exp.Expr = node.this.copy()
    return inner


def _refuse(node: exp.Expr, shadow: Shadow) -> exp.Expr:
    """Functions that read files, or make texts of any length."""
    raise UnsupportedSQL("QG204", "This function is not available here.", "Ask without it.")


_REWORDED: Mapping[type[exp.Expr], Callable[[exp.Expr, Shadow], exp.Expr]] = {
    exp.Collate: _inner,
    **dict.fromkeys((exp.CurrentTimestamp, exp.CurrentDate), _moment),
    exp.EQ: _equal,
    exp.Format: _format,
    exp.Column: _column,
    exp.Operator: _operator,
    exp.Cast: _cast,
    exp.Dot: _without_schema,
    **dict.fromkeys((exp.ReadCSV, exp.ReadParquet, exp.Repeat, exp.Pad), _refuse),
    exp.Anonymous: _function,
    **{
        getattr(exp, name): _constant_function
        for name in (
            "CurrentUser",
            "CurrentSchema",
            "CurrentCatalog",
            "CurrentDatabase",
            "CurrentVersion",
            "SessionUser",
            "CurrentRole",
        )
        if hasattr(exp, name)
    },
}
