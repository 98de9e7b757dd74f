"""Random statements over the whole grammar: aggregates, groups, HAVING, ORDER BY, queries inside queries, UNION ALL.

Each is written once for the gate. DuckDB is asked the same text, except that it knows no FILTER after a macro: there
the condition goes into the argument, which means the same.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.property.grammar_shown import other_query, result, window
from tests.property.grammar_values import Field, Values, quoted
from tests.property.random_cases import Case

OF_NUMBERS = (
    "SUM", "SUM", "AVG", "AVG", "MEAN", "FAVG", "FSUM", "MEDIAN", "MAD", "VAR_SAMP", "VARIANCE", "VAR_POP", "STDDEV",
    "STDDEV_SAMP", "STDDEV_POP", "SKEWNESS", "KURTOSIS", "KURTOSIS_POP", "ENTROPY",
)  # fmt: skip
OF_VALUES = ("MIN", "MAX", "MODE", "MIN", "MAX")
OF_PAIRS = (
    "COVAR_POP", "COVAR_SAMP", "CORR", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "REGR_COUNT", "REGR_AVGX",
    "REGR_AVGY",
)  # fmt: skip
OF_DISTINCT = ("SUM", "AVG", "MEDIAN", "MAX", "MODE", "VAR_POP", "STDDEV_SAMP", "SKEWNESS")
OWN = ("HARMONIC_MEAN", "CV", "IQR", "VALUE_RANGE", "VAR")
OWN_OF_GROUPS = ("MEAN_DIFF", "WELCH_T", "WELCH_P")
OWN_OF_TABLES = ("RISK", "RISK_DIFF", "RISK_RATIO", "ODDS_RATIO", "CHI_SQUARE")
"""What DuckDB lacks; `truth` defines it there."""

SHARES = ("0.5", "0.25", "0.9", "0", "1", "0.333")
MANY = 300
"""Values beyond which a column is rarely grouped by as it is."""


@dataclass(frozen=True)
class Question:
    """A statement, and what DuckDB is asked."""

    sql: str
    truth: str


@dataclass(frozen=True)
class Scope:
    """What a FROM offers: its text, what has to stand before SELECT, and its columns."""

    source: str
    fields: tuple[Field, ...]
    before: str = ""


class Writer:
    """Writes statements about one published table."""

    def __init__(self, rng: random.Random, fields: list[Field]) -> None:
        self.rng = rng
        self.dataset = Scope("t", tuple(fields))
        self.rewrites: dict[str, str] = {}

    def question(self) -> Question:
        self.rewrites.clear()
        sql = self.rng.choice(
            [self.plain] * 5 + [self.over_rows] * 3 + [self.over_groups] * 2 + [self.over_union, self.union]
        )()
        truth = sql
        for written, meant in self.rewrites.items():
            truth = truth.replace(written, meant)
        return Question(sql, truth)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    # -- aggregates --------------------------------------------------------------------------------------------------

    def aggregate(self, values: Values) -> str:
        """One aggregate, perhaps of some records only."""
        depth = self.rng.choice([0, 0, 0, 1, 1, 2])
        number, condition = (lambda: values.number(depth)), (lambda: values.condition(self.rng.randint(0, 1)))
        own: list[Callable[[], tuple[str, ...]]] = [
            lambda: (self.rng.choice(OWN), number()),
            lambda: ("EXCEEDANCE", number(), self.rng.choice(["0", "3", "40.5"])),
            lambda: (self.rng.choice(["CI_LOW", "CI_HIGH"]), number(), *self.rng.choice([(), ("0.9",)])),
            lambda: (self.rng.choice(OWN_OF_GROUPS), number(), condition()),
            lambda: (self.rng.choice(OWN_OF_TABLES), condition(), condition()),
            lambda: (self.rng.choice(OWN_OF_TABLES), condition(), condition()),
        ]
        if self.chance(0.25):
            return self.own(self.rng.choice(own)(), values)
        if self.chance(0.04):
            return self.own((self.rng.choice(["GEOMEAN", "GEOMETRIC_MEAN"]), number()), values)
        text = self.native(values, depth, number, condition)
        return f"{text} FILTER (WHERE {condition()})" if self.chance(0.15) else text

    def native(self, values: Values, depth: int, number: Callable[[], str], condition: Callable[[], str]) -> str:
        dates = bool(values.of_kind("date"))
        value = lambda: values.date(depth) if dates and self.chance(0.3) else number()  # noqa: E731
        share = self.rng.choice(SHARES)
        return values.one_of(
            *[lambda: "COUNT(*)"] * 2,
            lambda: f"COUNT({self.anything(values, depth)})",
            lambda: f"COUNT(DISTINCT {self.anything(values, depth)})",
            lambda: f"{self.rng.choice(['COUNT_IF', 'COUNTIF'])}({condition()})",
            *[lambda: f"{self.rng.choice(OF_NUMBERS)}({number()})"] * 5,
            *[lambda: f"{self.rng.choice(OF_VALUES)}({value()})"] * 2,
            lambda: f"{self.rng.choice(['QUANTILE_CONT', 'QUANTILE_DISC', 'QUANTILE'])}({number()}, {share})",
            lambda: f"QUANTILE_DISC({value()}, {share})",
            lambda: f"PERCENTILE_CONT({share}) WITHIN GROUP (ORDER BY {number()})",
            lambda: f"PERCENTILE_DISC({share}) WITHIN GROUP (ORDER BY {value()})",
            *[lambda: f"{self.rng.choice(OF_PAIRS)}({number()}, {number()})"] * 2,
            lambda: f"SUM({self.flag(values)})",
            lambda: f"{self.rng.choice(OF_DISTINCT)}(DISTINCT {number()})",
        )

    def own(self, parts: tuple[str, ...], values: Values) -> str:
        name, first, *others = parts
        text = f"{name}({', '.join([first, *others])})"
        if self.chance(0.15):
            condition = values.condition(0)
            meant = f"{name}({', '.join([f'CASE WHEN {condition} THEN {first} END', *others])})"
            text = f"{text} FILTER (WHERE {condition})"
            self.rewrites[text] = meant
        return text

    def anything(self, values: Values, depth: int) -> str:
        ways = [lambda: values.number(depth)]
        ways += [lambda: values.date(depth)] if values.of_kind("date") else []
        ways += [lambda: values.text(depth)] * 2 if values.of_kind("category") else []
        ways += [lambda: self.rng.choice(values.fields).name]
        return values.one_of(*ways)

    def flag(self, values: Values) -> str:
        flags = values.of_kind("boolean")
        return self.rng.choice(flags).name if flags else f"CASE WHEN {values.condition(0)} THEN 1 ELSE 0 END"

    def item(self, values: Values) -> str:
        """An item of a select list: an aggregate, or arithmetic over some."""
        if self.chance(0.65):
            return self.aggregate(values)
        a, b = self.aggregate(values), self.aggregate(values)
        x, w = values.number(0), values.number(0)
        condition = values.condition(0)
        return values.one_of(
            lambda: f"SUM({x} * {w}) / NULLIF(SUM({w}), 0)",
            lambda: f"SUM(CASE WHEN {condition} THEN {w} ELSE 0 END) / NULLIF(SUM({w}), 0)",
            lambda: f"{a} {self.rng.choice('+-*')} {b}",
            lambda: f"{a} / NULLIF({b}, 0)",
            lambda: f"SUM({x}) / COUNT(*)",
            lambda: f"100.0 * COUNT_IF({condition}) / NULLIF(COUNT(*), 0)",
            lambda: f"SUM({x}) FILTER (WHERE {condition}) / COUNT({x})",
            lambda: f"SUM({x}) / NULLIF(SUM({values.number(0)}), 0)",
            lambda: f"COUNT(*) FILTER (WHERE {condition}) / COUNT(*)",
            lambda: f"ROUND({a}, 1)",
            lambda: f"COALESCE({a}, 0)",
            lambda: f"CASE WHEN COUNT(*) > {self.rng.randint(0, 9)} THEN {a} END",
            lambda: f"{self.rng.choice(['GREATEST', 'LEAST'])}({a}, {b})",
            lambda: f"ABS({a} - {b})",
            lambda: f"SQRT(ABS({a}))",
            lambda: f"({a} - {b}) / 2",
        )

    # -- groups ------------------------------------------------------------------------------------------------------

    def key(self, values: Values) -> str:
        """Something to group by."""
        x = self.rng.choice(values.fields)
        one = values.about(x)
        step = self.rng.choice(["10", "100", "2.5", "1e6"])
        ways: list[Callable[[], str]] = [
            lambda: f"CASE WHEN {one.condition(1)} THEN 'one' WHEN {one.plain_condition()} THEN 'two' ELSE 'rest' END",
            lambda: f"CASE WHEN {one.plain_condition()} THEN 1 ELSE 0 END",
        ]
        if x.kind in ("category", "boolean") or x.size <= MANY or self.chance(0.05):
            ways += [lambda: x.name] * 4
        texts = values.of_kind("category", "boolean")
        if len(texts) > 1:
            joined = [field.name for field in self.rng.sample(texts, 2)]
            ways += [lambda: f"{joined[0]} || '-' || {joined[1]}", lambda: f"CONCAT_WS('/', {', '.join(joined)})"]
        if x.kind == "category":
            ways += [lambda: one.text(1), lambda: one.length_of(0)]
        if x.kind == "boolean":
            ways += [lambda: f"COALESCE({x.name}, FALSE)"]
        if x.size == math.inf and self.chance(0.9):
            return values.one_of(*ways)
        if x.kind == "date":
            unit = self.rng.choice(["month", "quarter", "year", "week", "decade"])
            ways += [lambda: f"DATE_TRUNC('{unit}', {x.name})", lambda: one.of_date(0), one.text_of_day]
        if x.kind in ("integer", "number"):
            low = int(self.rng.choice(x.pool)) if x.pool else 0
            ways += [
                lambda: f"FLOOR({x.name} / {step}) * {step}",
                lambda: f"{self.rng.choice(['CEIL', 'ROUND', 'TRUNC'])}({x.name} / {step})",
                lambda: f"WIDTH_BUCKET({x.name}, {low}, {low + 20}, 4)",
                lambda: f"{x.name} > {one.near(x)}",
                lambda: f"SIGN({x.name})",
                lambda: f"CAST({x.name} / {step} AS BIGINT)",
            ]
        return values.one_of(*ways)

    def group_by(self, keys: list[str], named: list[str], limit: bool) -> str:
        """GROUP BY in one of its forms, for keys that stand first in the select list."""
        plain, places = ", ".join(keys), ", ".join(str(i + 1) for i in range(len(keys)))
        forms = [plain, plain, places, ", ".join(named), "ALL", f"({keys[0]})" + "".join(f", {k}" for k in keys[1:])]
        if not limit:
            forms += [f"ROLLUP ({plain})", f"CUBE ({plain})", f"GROUPING SETS (({plain}), ({keys[-1]}), ())"]
        return f" GROUP BY {self.rng.choice(forms)}"

    def having(self, values: Values, keys: list[str], named: list[str]) -> str:
        item = self.item(values)
        number = self.rng.choice(["0", "1", "2", "5", "10", "0.5", "40", *map(values.near, values.of_kind("integer"))])
        return " HAVING " + values.one_of(
            lambda: f"COUNT(*) >= {self.rng.randint(0, 12)}",
            lambda: f"COUNT(*) > {self.rng.randint(0, 12)} AND {item} < {number}",
            lambda: f"{item} {self.rng.choice(['<', '>', '<=', '=', '<>'])} {number}",
            lambda: f"NOT ({item} BETWEEN 0 AND {number}) OR {item} IS NULL",
            lambda: f"{self.aggregate(values)} > {self.aggregate(values)}",
            lambda: f"{self.rng.choice([*keys, *named] or ['COUNT(*)'])} IS NOT NULL",
        )

    # -- statements --------------------------------------------------------------------------------------------------

    def select(self, scope: Scope, *, names: str = "x", where: str | None = None, keys: list[str] | None = None,
               items: list[str] | None = None, ordered: bool = True) -> str:  # fmt: skip
        """SELECT keys and aggregates FROM the scope, with every clause perhaps."""
        values = Values(self.rng, list(scope.fields))
        if keys is None:
            keys = list(dict.fromkeys(self.key(values) for _ in range(self.rng.choice([0, 0, 1, 1, 1, 2]))))
        shown = items is None
        items = items or [self.item(values) for _ in range(self.rng.choice([1, 1, 2, 2, 3]))]
        if shown and self.chance(0.25):
            items[-1] = self.shown(values, over_dataset=scope is self.dataset)
        named = [f"{names}k{i}" for i in range(len(keys))]
        listed = [f"{key} AS {name}" for key, name in zip(keys, named, strict=True)]
        listed += [f"{item} AS {names}{i}" for i, item in enumerate(items)]
        limit = bool(keys) and ordered and self.chance(0.15)
        grouped = self.group_by(keys, named, limit) if keys else ""
        if ("ROLLUP" in grouped or "CUBE" in grouped) and self.chance(0.5):
            function = self.rng.choice(["GROUPING", "GROUPING_ID"])
            listed.append(f"{function}({', '.join(keys)}) AS {names}g")
        if where is None and self.chance(0.6):
            where = values.condition(self.rng.randint(0, 2))
        if shown and self.chance(0.1):
            where = self.with_own(values, where, over_dataset=scope is self.dataset)
        windowed = shown and keys and not grouped.endswith("ALL") and self.chance(0.3)
        if windowed:
            listed.append(f"{window(self.rng, values, keys, self.aggregate(values))} AS {names}w")
        sql = f"{scope.before}SELECT {', '.join(listed)} FROM {scope.source}" + (f" WHERE {where}" if where else "")
        sql += grouped
        if self.chance(0.2):
            sql += self.having(values, keys, [f"{names}{i}" for i in range(len(items))])
        if windowed and self.chance(0.3):
            sql += f" QUALIFY {names}w {self.rng.choice(['<=', '>', '<>'])} {self.rng.choice(['1', '2', '0.5', '30'])}"
        if ordered and keys and (limit or self.chance(0.2)):
            sql += self.order_by(values, named, [f"{names}{i}" for i in range(len(items))])
        cuts = ["", " OFFSET 1", " LIMIT 3 OFFSET 1", " FETCH FIRST 2 ROWS ONLY", *(f" LIMIT {n}" for n in range(5))]
        return sql + (self.rng.choice(cuts) if limit else "")

    def shown(self, values: Values, *, over_dataset: bool) -> str:
        """An item that stands in a select list by itself."""
        aggregate, other = self.aggregate(values), self.aggregate(values)
        if over_dataset and self.chance(0.3):
            return other_query(self.rng, values, aggregate)
        return result(self.rng, values, aggregate, other)

    def with_own(self, values: Values, where: str | None, *, over_dataset: bool) -> str | None:
        """A condition with one more, that a record decides by itself or by the day."""
        x = self.rng.choice(values.fields)
        more = values.about(x).condition(0)
        if over_dataset:
            more = f"{x.name} IN (SELECT {x.name} FROM t WHERE {more})"
        if x.kind == "date" and self.chance(0.5):
            more = f"{x.name} < CURRENT_DATE"
        return more if where is None else f"({where}) {self.rng.choice(['AND', 'OR'])} {more}"

    def order_by(self, values: Values, named: list[str], items: list[str]) -> str:
        first = self.rng.choice([*named, *items, "1", "2", "COUNT(*)", self.aggregate(values)])
        ways = ["", " ASC", " DESC", " NULLS FIRST", " DESC NULLS LAST"]
        return " ORDER BY " + ", ".join(f"{term}{self.rng.choice(ways)}" for term in [first, *named])

    def plain(self) -> str:
        return self.select(self.dataset)

    def over_rows(self) -> str:
        """Over a subquery or a CTE that filters, projects and renames."""
        return self.select(self.projected(self.dataset, "s", self.chance(0.3)))

    def projected(self, scope: Scope, name: str, again: bool) -> Scope:
        values = Values(self.rng, list(scope.fields))
        fields = [Field(f"{name}{i}", f.kind, f.pool, f.size) for i, f in enumerate(scope.fields)]
        listed = [f"{f.name} AS {g.name}" for f, g in zip(scope.fields, fields, strict=True)]
        if self.chance(0.5):
            fields.append(Field(f"{name}n", "number"))
            listed.append(f"{values.number(1)} AS {name}n")
        body = f"SELECT {', '.join(listed)} FROM {scope.source}"
        if self.chance(0.15):
            body, fields = f"SELECT * FROM {scope.source}", list(scope.fields)
        if self.chance(0.6):
            body += f" WHERE {values.condition(self.rng.randint(0, 1))}"
        made = self.around(body, name, scope.before, fields)
        return self.projected(made, name + "u", False) if again else made

    def around(self, body: str, name: str, before: str, fields: list[Field]) -> Scope:
        """A query as a source: in brackets, or under a name."""
        if self.chance(0.5) and not before:
            return Scope(f"({body}) AS {name}", tuple(fields))
        return Scope(
            name, tuple(fields), f"{before.strip()}, {name} AS ({body}) " if before else f"WITH {name} AS ({body}) "
        )

    def over_groups(self) -> str:
        """Aggregates over the groups of a query."""
        values = Values(self.rng, list(self.dataset.fields))
        keys = list(dict.fromkeys(self.key(values) for _ in range(self.rng.choice([1, 1, 2]))))
        items = [self.item(values) for _ in range(self.rng.randint(1, 2))]
        inner = self.select(self.dataset, names="i", keys=keys, items=items, ordered=False)
        fields = [Field(f"i{i}", "number", (0, 1, 2, 5, 10)) for i in range(len(items))]
        kinds = {f.name: f for f in self.dataset.fields}
        for i, key in enumerate(keys):
            if key in kinds:
                fields.append(Field(f"ik{i}", kinds[key].kind, kinds[key].pool, kinds[key].size))
        return self.select(self.around(inner, "g", "", fields))

    def over_union(self) -> str:
        """Over rows of two selections that exclude each other, or perhaps not."""
        values = Values(self.rng, list(self.dataset.fields))
        x = self.rng.choice(self.dataset.fields)
        cut = values.near(x)
        wheres = (
            [f"{x.name} < {cut}", f"{x.name} >= {cut}"]
            if self.chance(0.7)
            else [f"{x.name} IS NULL", f"{x.name} = {cut}"]
        )
        if self.chance(0.15):
            wheres = [values.condition(0), values.condition(0)]
        names = [f"{f.name} AS u{i}" for i, f in enumerate(self.dataset.fields)]
        extra = [[f"{values.number(1)} AS un"] if self.chance(0.8) else ["0 AS un"] for _ in wheres]
        body = " UNION ALL ".join(
            f"SELECT {', '.join([*names, *more])} FROM t WHERE {where}"
            for where, more in zip(wheres, extra, strict=True)
        )
        fields = [Field(f"u{i}", f.kind, f.pool, f.size) for i, f in enumerate(self.dataset.fields)]
        return self.select(self.around(body, "u", "", [*fields, Field("un", "number")]))

    def union(self) -> str:
        """Two answers, one after the other."""
        values = Values(self.rng, list(self.dataset.fields))
        keys = [self.key(values)] if self.chance(0.5) else []
        items = [self.item(values) for _ in range(self.rng.randint(1, 2))]
        labels = self.chance(0.3)
        branches = []
        for word in ("first", "second"):
            own = items if self.chance(0.7) else [self.item(values) for _ in items]
            text = self.select(self.dataset, where=values.condition(1), keys=keys, items=own, ordered=False)
            branches.append(
                text.replace("SELECT ", f"SELECT {quoted(word)} AS part, ", 1) if labels and not keys else text
            )
        return " UNION ALL ".join(branches)


def fields_of(case: Case) -> list[Field]:
    """The published columns, with values of theirs."""
    found = []
    for column in case.opened.gate.store.current("t").catalog.columns:
        query = f'SELECT DISTINCT "{column.name}" FROM t WHERE "{column.name}" IS NOT NULL ORDER BY 1 LIMIT 40'
        pool = tuple(row[0] for row in case.truth.execute(query).fetchall())
        size = math.inf if column.low is None or column.high is None else column.high - column.low
        found.append(Field(column.name, column.type, pool, size))
    return found
