"""FHIR resources in Parquet files as tables, whichever program wrote them and whatever it left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from querygate.core.errors import ConfigError
from querygate_adapters.sources.open_source import open_source

Row = dict[str, Any]


def put(path: Path, *rows: Row) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(name for row in rows for name in row))
    pyarrow.parquet.write_table(pa.Table.from_pylist([dict.fromkeys(names) | row for row in rows]), path)
    return path


def table(path: Path) -> list[tuple[Any, ...]]:
    source = open_source(f"fhir:{path}")
    rows = source.batches(source.columns()).read_all().to_pylist()
    return sorted((tuple(row.values()) for row in rows), key=str)


def coded(*codes: str, system: str | None = "s") -> Row:
    return {"coding": [{"system": system, "code": code} for code in codes]}


OF_7 = {"reference": "Patient/7"}


@pytest.mark.parametrize(
    ("at", "value"),
    [
        ({"effectiveDateTime": "2020-02-29T23:59:00Z"}, {"valueQuantity": {"value": "1.50", "code": "kg"}}),
        ({"effective": {"dateTime": "2020-02-29T23:59:00Z"}}, {"value": {"quantity": {"value": 1.5, "unit": "kg"}}}),
    ],
)
def test_each_code_and_component_is_a_row(at: Row, value: Row, tmp_path: Path) -> None:
    pressure = {"component": [{"code": coded("8480-6"), **value}, {"code": coded(), **value}]}
    path = put(
        tmp_path / "Observation.parquet",
        {"subject": OF_7, "code": coded("a", "b"), **at, **value},
        {"subject": OF_7, "code": coded("panel", system=None), **at, **pressure},
        {"subject": OF_7, "code": None, **at, **value},
    )

    columns = open_source(f"fhir:{path}").columns()
    rows = [(*row[:3], row[3] and float(row[3]), row[4]) for row in table(path)]

    when = "2020-02-29T23:59:00Z"
    assert columns == ("patient_id", "effective_date", "code", "value", "unit")
    assert rows == [
        ("7", when, "panel", None, None),
        ("7", when, "s|8480-6", 1.5, "kg"),
        ("7", when, "s|a", 1.5, "kg"),
        ("7", when, "s|b", 1.5, "kg"),
    ]


def test_what_is_void_is_left_out_and_bounds_are_no_values(tmp_path: Path) -> None:
    low = {"valueQuantity": {"value": "5", "comparator": "<"}}
    path = put(
        tmp_path / "Observation.parquet",
        {"subject": OF_7, "code": coded("kept"), "status": "final", **low},
        {"subject": OF_7, "code": coded("kept"), "status": None},
        {"subject": OF_7, "code": coded("gone"), "status": "entered-in-error"},
    )
    refuted = put(
        tmp_path / "Condition.parquet",
        {"subject": OF_7, "code": coded("gone"), "verificationStatus": coded("refuted")},
        {"subject": OF_7, "code": coded("kept"), "verificationStatus": None},
    )

    assert table(path) == [("7", "s|kept", None), ("7", "s|kept", None)]
    assert table(refuted) == [("7", "s|kept")]


@pytest.mark.parametrize(
    ("reference", "person"),
    [
        ("Patient/a-7", "a-7"),
        ("https://host/fhir/Patient/7/_history/2", "7"),
        ("urn:uuid:0f-7", "0f-7"),
        ("7", "7"),
        ("Group/7", None),
        ("Patient/", None),
        (None, None),
    ],
)
def test_a_reference_names_a_patient_or_nobody(reference: str | None, person: str | None, tmp_path: Path) -> None:
    path = put(
        tmp_path / "encounter.parquet",
        {"subject": {"reference": reference}, "class": {"code": "AMB"}},
        {"subject": {"reference": "Patient/other"}, "class": {"code": None}},
    )

    assert sorted(table(path), key=str) == sorted([(person, "AMB"), ("other", None)], key=str)


def test_a_folder_of_files_is_one_table_and_dates_have_a_day(tmp_path: Path) -> None:
    folder = tmp_path / "Patient"
    put(folder / "1.parquet", {"id": "1", "birthDate": "1950-05"}, {"id": "2", "birthDate": "1950-05-31"})
    put(
        folder / "2.parquet",
        {"id": "Patient/3", "gender": "O'Neil", "deceasedDateTime": "2020", "name": "no", "gone": {"x": None}},
    )

    assert table(folder) == [("1", None, None, None), ("2", None, "1950-05-31", None), ("3", "O'Neil", None, "true")]


def test_other_files_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "Basic.parquet", {"id": "1"})
    (tmp_path / "Patient.parquet").write_text("secret")
    (tmp_path / "Condition").mkdir()

    for name, told in (
        ("Basic.parquet", "are not read as a table"),
        ("Patient.parquet", "does not match the file extension"),
        ("Condition", "does not exist"),
    ):
        with pytest.raises(ConfigError, match=told) as refused:
            open_source(f"fhir:{name}", tmp_path)
        assert (refused.value.code, "secret" in str(refused.value)) == ("QG802", False)
