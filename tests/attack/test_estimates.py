"""Estimates are functions of the published store: two tables that publish alike have the same estimates."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet

from querygate.core.types import Principal, Request
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import ask
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.policies import make_policy, quasi, sensitive

POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 99), grid=10, cuts=[50]),
        "sex": quasi("category", values=["F", "M"]),
        "sbp": sensitive("integer", (80, 199), bins=20, guard=20),
        "ill": sensitive("category", values=["no", "yes"]),
    },
    k=5,
)
OF_CLASSES = (
    "SELECT COUNT(*) AS n, AVG(sbp) AS m, MEDIAN(sbp) AS d FROM t WHERE age BETWEEN 13 AND 64",
    "SELECT sex, COUNT(*) FILTER (WHERE ill = 'yes') AS n, STDDEV(sbp) AS s FROM t WHERE age < 72 GROUP BY sex",
    "SELECT sex, MAX(sbp) AS x FROM t WHERE sbp > 131 GROUP BY sex",
)
OF_VIEWS = ("SELECT sex, COUNT(*) AS n, COUNT(*) FILTER (WHERE ill = 'yes') AS i FROM t WHERE age < 37 GROUP BY sex",)


def twins(rows: int = 150) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """The same people, with other ages and blood pressures inside the same public intervals."""
    rng = random.Random(8)
    tables = []
    decade, sex = [rng.randrange(10) for _ in range(rows)], rng.choices("FM", k=rows)
    bin_, ill = [rng.randrange(6) for _ in range(rows)], rng.choices(["no", "yes"], weights=[4, 1], k=rows)
    for low in (True, False):
        within = [0 if low else 9] * rows
        age = [10 * d + within[i] for i, d in enumerate(decade)]
        sbp = [80 + 20 * b + (rng.randrange(3) if low else 17 + rng.randrange(3)) for b in bin_]
        tables.append({"age": age, "sex": sex, "sbp": sbp, "ill": ill})
    return tables[0], tables[1]


def published(rows: dict[str, list[Any]], folder: Path, **more: Any) -> OpenSite:
    folder.mkdir()
    pyarrow.parquet.write_table(pa.table(rows), folder / "t.parquet")
    opened = open_gate(init_site(folder / "site"))
    publish_to(opened, POLICY.but(**more).parsed(), str(folder / "t.parquet"), user="custodian")
    return opened


def cells(opened: OpenSite) -> list[Any]:
    with duckdb.connect(str(opened.site.store / "t" / "v00001.duckdb"), read_only=True) as store:
        return sorted(store.execute("SELECT * FROM cells").fetchall(), key=repr)


def check_twins(first: OpenSite, second: OpenSite, statements: Sequence[str]) -> None:
    assert cells(first) == cells(second)
    ann = Principal("ann", "researcher")
    for sql in statements:
        one, other = (ask(Request(ann, "t", sql), each.gate)["rows"] for each in (first, second))
        assert one == other
        assert any(cell.get("estimate") is not None for row in one for cell in row.values() if isinstance(cell, dict))


def test_twins_of_classes_have_the_same_estimates(tmp_path: Path) -> None:
    one, other = twins()
    assert one != other
    check_twins(published(one, tmp_path / "a"), published(other, tmp_path / "b"), OF_CLASSES)


def test_twins_of_views_have_the_same_estimates(tmp_path: Path) -> None:
    """Views publish sums of numbers, which would tell twins apart: these have a category alone."""
    one, other = ({name: column for name, column in rows.items() if name != "sbp"} for rows in twins())
    more: dict[str, Any] = {"views": {}, "columns": {"sbp": None}}
    check_twins(published(one, tmp_path / "a", **more), published(other, tmp_path / "b", **more), OF_VIEWS)
