"""Subtotals beside groups of people whose value is missing: no reader of an answer takes one for the other."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.render import readable
from querygate.web import create_app
from tests.api.small_site import POLICY, SmallSite, csv_text, make_small_site

ROLLUP = "SELECT sex, COUNT(*) AS n FROM gaps GROUP BY ROLLUP (sex)"


@pytest.fixture(scope="module")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    """Every fourth patient's sex is missing."""
    folder = tmp_path_factory.mktemp("subtotals")
    site = make_small_site(folder)
    header, *lines = csv_text().splitlines()
    told = [line if i % 4 else line.replace(",F,", ",,") for i, line in enumerate(lines)]
    (folder / "gaps.csv").write_text("\n".join([header, *told]) + "\n")
    publish_to(site.opened, POLICY.but(dataset="gaps").parsed(), str(folder / "gaps.csv"), user="local")
    return site


def ask(site: SmallSite, sql: str) -> dict[str, Any]:
    client = create_app(site.opened).test_client()
    response = client.post("/api/v1/query", json={"dataset": "gaps", "sql": sql}, headers=site.headers("ann"))
    assert response.status_code == 200, response.json
    body: dict[str, Any] = json.loads(response.text)
    return body


def rows(site: SmallSite, form: str) -> list[dict[str, Any]]:
    """The answer as a program reads it, or a person."""
    answer = ask(site, ROLLUP)
    if form == "table":
        headings, lines = readable(answer)  # type: ignore[arg-type]
        return [dict(zip(headings, line, strict=True)) for line in lines]
    fetched = create_app(site.opened).test_client().get(
        f"/api/v1/answers/{answer['query_id']}.{form}", headers=site.headers("ann"), buffered=True
    )  # fmt: skip
    if form == "json":
        return [row | {"group": row["_group"].get("rolled_up")} for row in json.loads(fetched.text)["rows"]]
    if form == "csv":
        return list(csv.DictReader(io.StringIO(fetched.text)))
    read = pa.ipc.open_stream(fetched.data).read_all() if form == "arrow" else pq.read_table(io.BytesIO(fetched.data))
    return list(read.to_pylist())


@pytest.mark.parametrize("form", ["json", "csv", "arrow", "parquet", "table"])
def test_no_two_rows_have_the_same_keys(gaps: SmallSite, form: str) -> None:
    about = [
        tuple(str(value) for name, value in row.items() if name.startswith(("sex", "group")) and "count" not in name)
        for row in rows(gaps, form)
    ]
    assert len(about) == len(set(about)) == 4


def test_grouping_tells_them_apart_in_the_statement(gaps: SmallSite) -> None:
    answer = ask(gaps, "SELECT sex, GROUPING(sex) AS up, COUNT(*) AS n FROM gaps GROUP BY ROLLUP (sex) HAVING n >= 10")
    missing = [row for row in answer["rows"] if row["sex"] is None]
    assert sorted((row["up"], row["n"]["high"]) for row in missing) == [(0, 10), (1, 40)]
