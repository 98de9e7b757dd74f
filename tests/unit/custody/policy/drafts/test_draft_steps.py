"""`policy draft`: what is proposed for a source can be published as it stands, and gives nobody away."""

from __future__ import annotations

import json
from functools import cache

import duckdb
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.core.errors import ConfigError
from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.policy_draft import draft_from
from tests.places import DATA
from tests.policies import make_policy, quasi
from tests.unit.custody.publish.publications import ask, new_site, put, write_parquet
from tests.unit.custody.publish.studies import claims, people, survey

ADULT = DATA / "adult_30162.csv.gz"
MAKERS = {"survey": survey, "people": people, "claims": claims, "adult": lambda folder: ADULT}


@pytest.fixture(scope="module")
def drafts(tmp_path_factory):
    """The source and the draft of a study by its name, each made once."""

    @cache
    def make(name):
        source = MAKERS[name](tmp_path_factory.mktemp(name))
        return source, draft_from(str(source))

    return make


@pytest.mark.parametrize("name", MAKERS)
def test_a_draft_is_published_as_it_stands(name, drafts, tmp_path):
    source, drafted = drafts(name)
    opened = new_site(tmp_path)
    report = put(opened, drafted.text, source)
    assert report.measured.k >= drafted.k == 10
    assert report.rows == drafted.rows
    assert not report.warnings
    assert report.classes > 10
    (row,) = ask(opened, f"SELECT COUNT(*) AS n FROM {drafted.dataset}", drafted.dataset)
    assert row["n"]["low"] == row["n"]["high"] == drafted.rows


def test_no_value_of_an_identifier_is_written(drafts):
    source, drafted = drafts("people")
    hidden = [p.name for p in drafted.columns if p.role in ("identifier", "withheld") and not p.offer]
    for name in hidden:
        values = duckdb.sql(f"SELECT DISTINCT CAST({name} AS VARCHAR) FROM read_parquet('{source}')").fetchall()
        assert not [value for (value,) in values if value in drafted.text]


def test_no_domain_ends_on_a_value(drafts):
    source, drafted = drafts("survey")
    for column in parse_policy(drafted.text).columns:
        if column.is_numeric and column.low:
            low, high = duckdb.sql(
                f"SELECT MIN({column.name}), MAX({column.name}) FROM read_parquet('{source}')"
            ).fetchall()[0]
            assert column.low < low
            assert high < column.high


def test_roles_of_a_survey(drafts):
    assert {p.name: p.role for p in drafts("survey")[1].columns} == {
        "SEQN": "identifier",
        "SurveyYr": "withheld",
        "Gender": "quasi-identifier",
        "Age": "quasi-identifier",
        "AgeMonths": "withheld",
        "Race": "quasi-identifier",  # in a frame of it most can be printed
        "BPSysAve": "sensitive",
        "Weight": "sensitive",
        "Diabetes": "sensitive",
        "WTINT2YR": "withheld",
    }


def test_roles_of_a_register(drafts):
    _, drafted = drafts("people")
    found = {p.name: p.warning for p in drafted.columns if p.warning}
    assert found == {
        "who": "a name of a person",
        "last_name": "a name of a person",
        "col7": "a social security or other national number",
        "reach": "a telephone or fax number",
        "contact": "an e-mail address",
        "date_of_birth": "a date of birth",
        "remarks": "free text",
    }
    policy = parse_policy(drafted.text)
    assert policy.column("zipcode").role == "withheld"  # views have no hierarchies
    assert '# hierarchy = "digits"' in drafted.text
    assert "contain a telephone or fax number" in drafted.text


def test_roles_of_claims(drafts):
    _, drafted = drafts("claims")
    policy = parse_policy(drafted.text)
    assert policy.column("patient_id").role == "identifier"
    assert "records share a value on average" in drafted.text  # several rows for one patient
    assert policy.column("dgns_cd_1").hierarchy.preset == "icd9cm"
    assert policy.column("dgns_cd_2").role == "withheld"  # one diagnosis is enough to begin with
    assert policy.column("state_code").type == "category"
    # Left out, as the table is small: the one is written as eight digits, the other with a time.
    for name, kind in (("from_dt", "date"), ("admitted", "timestamp")):
        assert f'# type = "{kind}"' in drafted.text.split(f"[columns.{name}]")[1].split("[columns")[0]


def test_a_text_of_many_values_is_refused_with_advice(tmp_path):
    source = write_parquet(tmp_path / "t.parquet", {"q": [f"v{i}" for i in range(3000)], "age": [40] * 3000})
    with pytest.raises(ConfigError) as refused:
        put(new_site(tmp_path), make_policy("t", {"q": quasi("category")}), source)
    assert refused.value.code == "QG802"
    assert "3,000 distinct values" in refused.value.detail
    assert "hierarchy" in refused.value.remedy
    assert "v17" not in refused.value.detail


def test_a_source_without_rows(tmp_path):
    (tmp_path / "empty.csv").write_text("a,b\n")
    with pytest.raises(ConfigError, match="no rows") as refused:
        draft_from(str(tmp_path / "empty.csv"))
    assert refused.value.code == "QG802"


# -- the command -------------------------------------------------------------------------------------------------


def run(*words):
    return CliRunner().invoke(main, ["policy", "draft", *map(str, words)])


def test_the_command_prints_a_policy(tmp_path):
    result = run("--source", survey(tmp_path, 300))
    assert result.exit_code == 0
    assert parse_policy(result.stdout).dataset == "survey"


def test_the_command_writes_a_file_once(tmp_path):
    out = tmp_path / "p.toml"
    source = survey(tmp_path, 300)
    result = run("--source", source, "--out", out)
    assert result.exit_code == 0
    assert "a record number" in result.stdout
    before = out.read_text()
    again = run("--source", source, "--out", out)
    assert again.exit_code == 2
    assert "QG801" in again.stderr
    assert out.read_text() == before


def test_the_command_for_programs(tmp_path):
    body = json.loads(run("--source", survey(tmp_path, 300), "--format", "json").stdout)
    assert parse_policy(body["policy"]).k == body["k"]
    assert {"column", "role", "type", "found", "why"} == set(body["columns"][0])
