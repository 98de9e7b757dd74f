"""Codes that leave with a payload, as a biobank shares them: codes are protected, the payload is untouched, and it is
said what that means.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.use_cases.extract_builder import SiteExtractBuilder
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.open_gate import open_gate
from tests.empty_site import empty_site
from tests.policies import IDENTIFIER, PolicyText, code_list, make_policy, quasi, sensitive
from tests.unit.custody.extract.study import extract

PROTECT = {"kind": "k^m", "m": 2}


def biobank(**columns: Any) -> PolicyText:
    own = {
        "mrn": IDENTIFIER,
        "dx": code_list("flat", values=["250.00", "401.9", "493.00"], protect=PROTECT),
        "dna": {"role": "payload"},
    }
    return make_policy("trial", {**own, **columns}, k=2)


def made(folder: Path) -> pa.Table:
    return pq.read_table(folder / "out" / "extract.parquet")


def test_the_example_of_the_tutorial(tmp_path: Path) -> None:
    """Gkoulalas-Divanis and Loukides 2012: 401.2 and 401.4 are published as one item, k = 2, and DNA stays beside."""
    table = pa.table(
        {
            "mrn": ["1", "2", "3", "4"],
            "dx": [["401.0", "401.1"], ["401.2", "401.3"], ["401.0", "401.1"], ["401.4", "401.3"]],
            "dna": ["AC...T", "GC...C", "CC...A", "CA...T"],
        }
    )
    codes = [f"401.{i}" for i in range(5)]
    utility = {"kind": "groups", "groups": [["401.2", "401.4"]]}
    policy = biobank(dx=code_list("flat", values=codes, utility=utility, protect=PROTECT))
    body = extract(tmp_path, table=table, policy=policy, columns=["dx", "dna"])
    rows = dict(zip(made(tmp_path)["dna"].to_pylist(), made(tmp_path)["dx"].to_pylist(), strict=True))
    assert rows == {
        "AC...T": "401.0; 401.1",
        "GC...C": "401.2/401.4; 401.3",
        "CC...A": "401.0; 401.1",
        "CA...T": "401.2/401.4; 401.3",
    }
    (payload,) = body["payloads"]
    assert (payload["records"], payload["different"], payload["alone"], payload["missing"]) == (4, 4, 4, 0)
    assert "is included unchanged: 4 records have values that no other record has (100%)" in payload["words"][0]
    assert body["risk"]["words"][0].startswith("The extract has no quasi-identifier")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Unchanged: dna" in page
    assert "AC...T" not in page
    assert "as in the source, unchanged" in (tmp_path / "out" / "dictionary.csv").read_text()
    assert json.loads((tmp_path / "out" / "report.json").read_text())["payloads"][0]["alone"] == 4


def test_payloads_are_untouched_whatever_they_are(tmp_path: Path) -> None:
    texts = ["007", "S-1 ", "ÅÄÖ", "", None, "=1+1", "1e5", "S-1 ", "x" * 500, "0.10"] * 3
    rng = np.random.default_rng(3)
    lists = [rng.choice(["250.00", "401.9", "493.00"], 2).tolist() for _ in texts]
    table = pa.table({"mrn": [f"p{i}" for i in range(30)], "dx": lists, "dna": texts, "age": rng.integers(20, 60, 30)})
    policy = biobank(age=quasi("integer", (0, 120), grid=1))
    body = extract(tmp_path, table=table, policy=policy, columns=["age", "dx", "dna"])
    assert sorted(made(tmp_path)["dna"].to_pylist(), key=str) == sorted(texts, key=str)
    assert body["payloads"][0]["alone"] == 0
    assert body["payloads"][0]["missing"] == 3


def test_a_payload_leaves_only_where_it_is_named(tmp_path: Path) -> None:
    table = pa.table({"mrn": ["1", "2"], "dx": [["250.00"], ["250.00"]], "dna": ["a", "b"]})
    body = extract(tmp_path, table=table, policy=biobank())
    assert made(tmp_path).column_names == ["dx"]
    assert body["payloads"] == []


def refused(folder: Path, policy: PolicyText, table: pa.Table, **wish: Any) -> ExtractRefused:
    with pytest.raises(ExtractRefused) as problem:
        extract(folder, table=table, policy=policy, **wish)
    assert not list(folder.glob("out/*"))
    return problem.value


TABLE = pa.table({"mrn": ["1", "2", "3"], "dx": [["250.00"]] * 3, "dna": ["a", " 2", None], "bmi": [20.0, 30.0, 25.0]})


def test_an_identifier_does_not_leave_as_a_payload(tmp_path: Path) -> None:
    problem = refused(tmp_path, biobank(), TABLE, columns=["dx", "dna"])
    assert problem.code == "QG605"
    assert problem.detail == "dna: 1 record has the same value as in the identifier mrn."


@pytest.mark.parametrize(
    "wish",
    [
        {"columns": ["dna"]},
        {"columns": ["bmi"]},
        {"columns": ["dx"], "method": "mondrian"},
        {"columns": ["dx"], "suppress": 0.1},
        {"columns": ["dx", "dna"], "kind": "condensed", "k": 2},
    ],
    ids=str,
)
def test_requests_that_protect_nobody_are_refused(wish: dict[str, Any], tmp_path: Path) -> None:
    policy = biobank(bmi=sensitive("number", (10, 60)))
    assert refused(tmp_path, policy, TABLE, **wish).code == "QG604"


def test_codes_alone_leave_from_a_site_with_their_risk(tmp_path: Path) -> None:
    """Reviewers see the risk report of every extract, also of one without a quasi-identifier."""
    opened = open_gate(empty_site(tmp_path / "site"))
    table = pa.table({"mrn": list("123456"), "dx": [["250.00"]] * 3 + [["401.9"]] * 3, "dna": list("abcdef")})
    pq.write_table(table, tmp_path / "bio.parquet")
    publish_to(opened, biobank().parsed(), str(tmp_path / "bio.parquet"), user="local")
    spec = ExtractSpec.of({"dataset": "trial", "purpose": "to see", "columns": ["dx", "dna"]})
    shown = SiteExtractBuilder(opened).preview(spec, requester="ann")
    assert shown["assessment"]["records"] == {"raw": 6, "after": 6}
