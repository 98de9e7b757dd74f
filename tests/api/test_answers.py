"""GET answers/{id}.{format}: the same answer in every format, for whoever asked it and for custodians."""

from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from querygate.gate.render import FORMATS

SQL = "SELECT sex, AVG(sbp), MAX(sbp) FROM clinic GROUP BY sex"
COLUMNS = [
    *("sex", "avg_sbp_low", "avg_sbp_high", "avg_sbp_estimate", "avg_sbp_may_be_null"),
    *("max_sbp_low", "max_sbp_high", "max_sbp_estimate", "max_sbp_may_be_null"),
    *("group_certain", "group_count_low", "group_count_high"),
]


WITH_SHARP = [
    *COLUMNS[:5], "avg_sbp_sharp", *COLUMNS[5:9], "max_sbp_sharp", *COLUMNS[9:]
]  # fmt: skip


@pytest.fixture
def answer(ask):
    return ask(SQL).json


@pytest.fixture
def url(answer):
    return f"/api/v1/answers/{answer['query_id']}.{{}}".format


def test_json_is_the_answer_again(get, url, answer):
    assert get(url("json"), "ann").json == answer


def test_csv_has_a_column_for_each_end(get, url, answer):
    names, *rows = csv.reader(io.StringIO(get(url("csv"), "ann").text))
    assert names == COLUMNS
    assert [row[0] for row in rows] == ["F", "M"]
    assert float(rows[0][1]) == answer["rows"][0]["avg_sbp"]["low"]


@pytest.mark.parametrize(
    ("form", "read"),
    [
        ("arrow", lambda data: pa.ipc.open_stream(data).read_all()),
        ("feather", lambda data: pa.ipc.open_file(data).read_all()),
        ("parquet", lambda data: pa.parquet.read_table(io.BytesIO(data))),
    ],
)
def test_arrow_and_parquet_keep_the_types(get, url, answer, form, read):
    table = read(get(url(form), "ann").data)
    assert table.column_names == WITH_SHARP
    assert table.schema.field("max_sbp_low").type == pa.int64()
    assert table.schema.field("avg_sbp_low").type == pa.float64()
    assert table["avg_sbp_high"].to_pylist() == [row["avg_sbp"]["high"] for row in answer["rows"]]
    assert table["avg_sbp_sharp"].to_pylist() == [row["avg_sbp"]["sharp"] for row in answer["rows"]]
    part = {b"querygate.column": b"avg_sbp", b"querygate.part": b"estimate"}
    assert part.items() <= table.schema.field("avg_sbp_estimate").metadata.items()
    told = json.loads(table.schema.metadata[b"querygate"])
    assert told == {key: value for key, value in answer.items() if key != "rows"}


@pytest.mark.parametrize("form", FORMATS)
def test_the_media_type_and_the_file_name_are_told(get, url, answer, form):
    response = get(url(form), "ann")
    assert response.content_type == FORMATS[form][0]
    assert response.headers["Content-Disposition"] == f'attachment; filename="{answer["query_id"]}.{form}"'


@pytest.mark.parametrize("form", FORMATS)
def test_a_custodian_may_fetch_it_and_another_researcher_may_not_learn_of_it(get, url, form):
    assert get(url(form), "carl").status_code == 200
    of_another = get(url(form), "bob")
    unknown = get(f"/api/v1/answers/q_01KJKB3Q000000000000000000.{form}", "bob")
    assert of_another.status_code == unknown.status_code == 404
    assert of_another.json == unknown.json
    assert unknown.json["code"] == "QG304"


def test_a_refused_query_has_no_answer(get, ask):
    query_id = ask("SELECT * FROM clinic").json["query_id"]
    assert get(f"/api/v1/answers/{query_id}.json", "ann").json["code"] == "QG304"


@pytest.mark.parametrize("form", ["xlsx", "", "JSON"])
def test_an_unknown_format_is_no_page(get, url, form):
    response = get(url(form), "ann")
    assert (response.status_code, response.json["code"]) == (404, "QG307")
