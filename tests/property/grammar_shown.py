"""Random items that are only shown: windows over groups, conditions, texts and lists, numbers of other queries.

They are no parts of other expressions, and no outer query reads them.
"""

from __future__ import annotations

import random

from tests.property.grammar_values import Values

NUMBER_TYPES = ("FLOAT", "REAL", "DOUBLE", "NUMERIC", "DECIMAL(18, 1)", "DECIMAL(20, 4)", "INTEGER")
FRAMES = ("", "", "", " ROWS UNBOUNDED PRECEDING", " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")


def counted(rng: random.Random, values: Values) -> str:
    """What adds up over groups."""
    x = values.number(0)
    return rng.choice(
        ["COUNT(*)", "COUNT(*)", f"COUNT({x})", f"SUM({x})", f"SUM(ABS({x}))", f"COUNT_IF({values.condition(0)})"]
    )


def over(rng: random.Random, values: Values, keys: list[str], *, ordered: bool) -> str:
    """OVER with some of the keys, and an order."""
    among = rng.sample(keys, rng.randint(0, len(keys)))
    parts = [f"PARTITION BY {', '.join(among)}"] if among else []
    if ordered:
        term = rng.choice([*keys, "COUNT(*)", counted(rng, values)])
        parts.append(f"ORDER BY {term}{rng.choice(['', ' DESC', ' NULLS FIRST'])}{rng.choice(FRAMES)}")
    return f"OVER ({' '.join(parts)})"


PLACES = ("", ", 1", ", 2", ", 0", ", 1, 0", ", 3, -4")


def window(rng: random.Random, values: Values, keys: list[str], aggregate: str) -> str:
    """A number of a group that other groups have a part in."""
    part = counted(rng, values)
    plain = over(rng, values, keys, ordered=False)
    some = over(rng, values, keys, ordered=rng.random() < 0.5)
    ranked = over(rng, values, keys, ordered=rng.random() < 0.8).split(" ROWS")[0].rstrip(")") + ")"
    return rng.choice(
        [
            f"100.0 * {part} / SUM({part}) {plain}",
            f"{part} * 100 / NULLIF(SUM({part}) {plain}, 0)",
            f"CAST({part} AS {rng.choice(NUMBER_TYPES[:5])}) / SUM({part}) {plain}",
            f"ROUND({part} / SUM({part}) {plain}, 3)",
            f"{rng.choice(['SUM', 'AVG', 'MIN', 'MAX', 'COUNT'])}({aggregate}) {some}",
            f"SUM({part}) {plain}",
            f"COUNT(*) {some}",
            f"{aggregate} - AVG({aggregate}) {plain}",
            *[f"{name}() {ranked}" for name in ("RANK", "DENSE_RANK", "ROW_NUMBER", "PERCENT_RANK", "CUME_DIST")],
            f"NTILE({rng.choice(['1', '2', '3', '40'])}) {ranked}",
            f"{rng.choice(['LAG', 'LEAD'])}({part}{rng.choice(PLACES)}) {ranked}",
            f"{aggregate} - {rng.choice(['LAG', 'LEAD'])}({aggregate}) {ranked}",
            f"{rng.choice(['FIRST_VALUE', 'LAST_VALUE'])}({rng.choice([part, aggregate])}) {some}",
        ]
    )


def other_query(rng: random.Random, values: Values, aggregate: str) -> str:
    """Beside a number of another query."""
    part, where = counted(rng, values), rng.choice(["", f" WHERE {values.condition(0)}"])
    return rng.choice(
        [
            f"{part} / NULLIF((SELECT {part} FROM t{where}), 0)",
            f"100.0 * {part} / (SELECT {part} FROM t)",
            f"{aggregate} - (SELECT {aggregate} FROM t{where})",
        ]
    )


def result(rng: random.Random, values: Values, aggregate: str, other: str) -> str:
    """A condition, a text or a list as a result."""
    condition, x = values.condition(0), values.number(0)
    ways = [
        f"{rng.choice(['BOOL_OR', 'BOOL_AND'])}({condition})",
        f"BOOL_OR({condition}) FILTER (WHERE {values.condition(0)})",
        f"{aggregate} {rng.choice(['<', '>=', '='])} {rng.choice(['0', '3', '40.5'])}",
        f"{aggregate} IS NULL OR {other} > 2",
        f"{rng.choice(['QUANTILE_CONT', 'QUANTILE_DISC'])}({x}, [0.25, {rng.choice(['0.5', '0.9'])}])",
        f"PERCENTILE_CONT([0.1, 0.5]) WITHIN GROUP (ORDER BY {x})",
        f"CAST({aggregate} AS {rng.choice(NUMBER_TYPES)})",
        f"CAST({aggregate} AS {rng.choice(NUMBER_TYPES)}) {rng.choice('+-*')} {rng.choice(['3', '0.1', other])}",
        f"ROUND(CAST({aggregate} AS {rng.choice(NUMBER_TYPES)}), 1)",
    ]
    texts = values.of_kind("category", "boolean")
    if texts:
        name = rng.choice(texts).name
        ways += [f"MODE({name})", f"MODE() WITHIN GROUP (ORDER BY {name})", f"MIN({name})", f"MAX({name})"]
    return rng.choice(ways)
