"""Random tables whose sensitive numbers are carried in every way and told with moments, and statements about them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from tests.policies import ILLNESS, SEX, declaring, make_policy, quasi, sensitive
from tests.property.random_cases import Case, publish_case, random_condition, with_nulls
from tests.property.truth import define

FUNCTIONS = ("SUM", "AVG", "VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP", "COUNT", "MIN", "MAX", "MEDIAN",
             "CV", "CI_LOW", "CI_HIGH", "GEOMEAN", "HARMONIC_MEAN")  # fmt: skip
PAIRS = ("COVAR_POP", "COVAR_SAMP", "CORR", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2")
COMPARISONS = ("MEAN_DIFF", "WELCH_T", "WELCH_P")


def random_number(rng: random.Random, rows: int) -> tuple[str, list[Any], list[Any], float]:
    """Type, values with ties, domain and guard: small and far from zero, whole and in thirds, of both signs."""
    if rng.random() < 0.5:
        base, spread = rng.choice([0, 120, -40, 10**6, 2**40]), rng.choice([3, 12, 60, 1000])
        values: list[Any] = [base + rng.randint(-spread, spread) for _ in range(rows)]
        return (
            "integer",
            values,
            [base - spread - rng.randint(0, 9), base + spread + rng.randint(1, 9)],
            rng.randint(1, 3),
        )
    base, scale = rng.choice([0.0, 20.0, -7.5, 1e9, -1e12]), rng.choice([1.0, 30.0, 1e-3, 1e6])
    if abs(base) > 1e8 * scale:
        scale = abs(base) * 1e-9
    values = [base + scale * (rng.choice([rng.uniform(-9, 9), rng.randint(-27, 27) / 3])) for _ in range(rows)]
    return "number", values, [base - scale * 9.5, base + scale * 9.5], scale * rng.choice([0.1, 0.5, 1.0])


def moment_case(seed: int, folder: Path) -> Case | None:
    """A table published with moments through the real path; None where no partition keeps the guards."""
    rng = random.Random(seed)
    rows, k = rng.choice([12, 30, 80, 200]), rng.choice([2, 3, 5, 10])
    moments = rng.choice(["rounded", "rounded", "exact"]) if k >= 10 else "rounded"
    columns: dict[str, list[Any]] = {
        "age": with_nulls(rng, [rng.randint(0, 90) for _ in range(rows)]),
        "sex": with_nulls(rng, rng.choices("FMX", weights=[4, 4, 1], k=rows)),
        "ward": rng.choices("ab", k=rows),
    }
    cuts = rng.choice([{}, {"cuts": [30, 60]}])
    tables = {"age": quasi("integer", (0, 100), grid=1, **cuts), "sex": SEX, "ward": ILLNESS | {"values": ["a", "b"]}}
    for name in ("x", "y")[: rng.randint(1, 2)]:
        kind, values, domain, guard = random_number(rng, rows)
        columns[name] = with_nulls(rng, values)
        carry = rng.choice(["bins", "bins", "hull", "univariate", "joint"])
        tables[name] = sensitive(kind, domain, carry=carry, guard=guard)
    edges = rng.choice(["grid", "grid", "tight"])
    anonymise = {"edges": edges, "class_moments": moments, "method": "mondrian"}
    policy = declaring(make_policy("t", tables, k=k, anonymise=anonymise), columns).parsed()
    case = publish_case(policy, columns, folder)
    if case is not None:
        define(case.truth)
    return case


def moment_query(rng: random.Random, case: Case) -> str:
    """Statistics of a number: of all, of those that a condition on any column selects, and by group."""
    names = [c.name for c in case.policy.columns if c.name in ("x", "y")]
    items = [f"{rng.choice(FUNCTIONS)}({rng.choice(names)})" for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.35:
        items.append(f"{rng.choice(PAIRS)}({', '.join(rng.sample([*names, 'age'], 2))})")
    if rng.random() < 0.35:
        items.append(f"{rng.choice(COMPARISONS)}({rng.choice(names)}, {random_condition(rng, case, 0)})")
    if rng.random() < 0.2:
        items.append(f"SUM({rng.choice(names)}) / NULLIF(SUM({rng.choice(['age', *names])}), 0)")
    if rng.random() < 0.2:
        items.append(
            f"{rng.choice(['SUM', 'AVG'])}({rng.choice(names)}) FILTER (WHERE {random_condition(rng, case, 0)})"
        )
    keys = rng.choice([[], [], ["sex"], ["ward"], ["sex", "ward"], ["CASE WHEN age < 30 THEN 'young' ELSE 'old' END"]])
    where = rng.choice(
        [
            "",
            "age < 30",
            "age BETWEEN 30 AND 59",
            "sex = 'F'",
            "ward = 'a'",
            random_condition(rng, case, rng.randint(0, 2)),
        ]
    )
    shown = [f"{key} AS g{i}" for i, key in enumerate(keys)] + [f"{item} AS s{i}" for i, item in enumerate(items)]
    sql = f"SELECT {', '.join(shown)} FROM t" + (f" WHERE {where}" if where else "")
    return sql + (f" GROUP BY {', '.join(keys)}" if keys else "")
