"""Dummy rows have the columns, types, domains, values and missing shares of what is published. No vault is needed."""

from __future__ import annotations

import datetime as dt
import io
import random
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from querygate.core.types import Principal
from querygate.custody.use_cases.publish_version import publish_to
from querygate.estimates import points
from querygate.gate.twin import DRAWN_FROM, TWIN_FORMATS, TwinWish, write_twin
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.empty_site import empty_site
from tests.policies import make_policy, quasi, sensitive

ANN = Principal("ann", "researcher")
DAY = dt.date(2020, 2, 29)
POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 99), grid=10),
        "town": quasi("category", values=["Graz", "=SUM(A1)", "Łódź"]),
        "born": quasi("date", ("1900-01-01", "2030-12-31"), grid=3650),
        "weight": sensitive("number", (0.0, 300.0), bins=50),
        "same": quasi("integer", (0, 99), grid=10),
        "ill": sensitive("boolean"),
    },
    k=5,
)


def people(rows: int) -> dict[str, list[Any]]:
    """Every third weight is missing, and every tenth town; some people are there twice."""
    rng = random.Random(3)
    return {
        "age": [rng.randrange(100) for _ in range(rows)],
        "town": [None if i % 10 == 0 else rng.choice(["Graz", "=SUM(A1)", "Łódź"]) for i in range(rows)],
        "born": [DAY - dt.timedelta(days=rng.randrange(30_000)) for _ in range(rows)],
        "weight": [None if i % 3 == 0 else rng.uniform(1e-9, 299.9) for i in range(rows)],
        "same": [7] * rows,
        "ill": rng.choices([True, False], k=rows),
    }


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    """Published, and then without its vault."""
    folder = tmp_path_factory.mktemp("twin")
    pyarrow.parquet.write_table(pa.table(people(400)), folder / "t.parquet")
    made = open_gate(empty_site(folder / "site"))
    publish_to(made, POLICY.parsed(), str(folder / "t.parquet"), user="custodian")
    shutil.rmtree(made.site.folder / "vault")
    return open_gate(open_site(made.site.folder))


def test_dummy_rows_look_like_the_dataset(opened: OpenSite) -> None:
    made = write_twin(TwinWish("t", 3000, 1), ANN, opened.gate)
    kinds = {"age": pa.int64(), "town": pa.string(), "born": pa.date32(), "weight": pa.float64()}
    assert {field.name: field.type for field in made.schema} == {**kinds, "same": pa.int64(), "ill": pa.bool_()}
    rows = made.to_pydict()
    assert set(rows["town"]) == {None, "Graz", "=SUM(A1)", "Łódź"}
    assert all(0 <= value <= 9 for value in rows["same"])
    assert set(rows["ill"]) == {True, False}
    known = [weight for weight in rows["weight"] if weight is not None]
    assert all(0 <= weight <= 300 for weight in known)
    assert all(0 <= age <= 99 for age in rows["age"])
    assert all(dt.date(1900, 1, 1) <= day <= dt.date(2030, 12, 31) for day in rows["born"])
    assert abs(len(known) / 3000 - 2 / 3) < 0.15
    assert abs(rows["town"].count(None) / 3000 - 0.1) < 0.1


def test_files_are_read_back(opened: OpenSite) -> None:
    made = write_twin(TwinWish("t", 50), ANN, opened.gate)
    data = {form: write(made) for form, (_, write) in TWIN_FORMATS.items()}
    assert pyarrow.parquet.read_table(io.BytesIO(data["parquet"])).equals(made)
    assert pyarrow.csv.read_csv(io.BytesIO(data["csv"])).column("town").to_pylist()[0] is not False
    assert write_twin(TwinWish("t", 50), ANN, opened.gate).equals(made)
    assert write_twin(TwinWish("t", 1), ANN, opened.gate).num_rows == 1


def test_it_is_on_record(opened: OpenSite) -> None:
    write_twin(TwinWish("t", 5, 9), ANN, opened.gate)
    last = opened.log.last("twin", "t")
    assert last is not None
    assert (last["user"], last["body"]) == ("ann", {"version": 1, "rows": 5, "seed": 9, "drawn_from": "store"})


def drawn_from(made: pa.Table) -> str:
    return str(made.schema.metadata[DRAWN_FROM.encode()].decode())


def test_what_is_too_large_is_drawn_from_the_description(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn_from(write_twin(TwinWish("t", 9, 4), ANN, opened.gate)) == "store"
    monkeypatch.setattr(points, "MOST_POINTS", 3)
    assert drawn_from(write_twin(TwinWish("t", 9, 4), ANN, opened.gate)) == "description"


@pytest.mark.parametrize(
    "more",
    [
        {"answers": {"min_group": 10}},
        {
            "answers": {"modes": ["laplace"]},
            "laplace": {"epsilon_per_query": 0.1, "epsilon_total": 1.0, "epsilon_per_user": 1.0},
        },
    ],
)
def test_what_a_policy_holds_back_no_twin_shows(tmp_path: Path, more: dict[str, Any]) -> None:
    """People of other ages, towns and weights have the same twin, as the description is the same."""
    twins = []
    for name, table in (("one", people(100)), ("other", {key: values[:60] for key, values in people(100).items()})):
        pyarrow.parquet.write_table(pa.table(table), tmp_path / f"{name}.parquet")
        made = open_gate(empty_site(tmp_path / name))
        publish_to(made, POLICY.but(**more).parsed(), str(tmp_path / f"{name}.parquet"), user="custodian")
        twins.append(write_twin(TwinWish("t", 500, 3), ANN, made.gate))
    assert [drawn_from(twin) for twin in twins] == ["description"] * 2
    assert twins[0].equals(twins[1])
    rows = twins[0].to_pydict()
    assert {value for value in rows["town"] if value is not None} == {"Graz", "=SUM(A1)", "Łódź"}
    assert all(0 <= age <= 99 for age in rows["age"] if age is not None)
    assert all(dt.date(1900, 1, 1) <= day <= dt.date(2030, 12, 31) for day in rows["born"] if day is not None)
