"""The genotype-phenotype attack: diagnoses of one gene beside sequences are counted, and nothing else is."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest

from querygate.core.json_body import from_json, to_json
from querygate.custody.policy import parse_policy
from querygate.custody.risk_report.gene_risk import find_gene_risk, gene_risks
from querygate.custody.risk_report.risk_body import KnownGene, RiskReport
from querygate.custody.use_cases.risk_assessment import RiskOptions, assess_source
from querygate.methods.code_lists.single_gene import SINGLE_GENE, single_gene
from querygate_adapters.sources.open_source import open_source
from tests.policies import IDENTIFIER, make_policy

CODES = {"role": "codes", "system": "icd9cm", "separator": ";"}
POLICY = make_policy("t", {"mrn": IDENTIFIER, "dx": CODES, "dna": {"role": "sequence"}}, k=2, person="mrn")
DX = ["333.4;250.00", "333.4", "282.60", None, "", "250.00;401.9", " 330.1 ;334.0", "250.00", "401.9", "401.9"]


@pytest.mark.parametrize(
    ("code", "gene"),
    [("333.4", "HTT"), ("3334", "HTT"), ("282.61", "HBB"), ("D57.1", "HBB"), ("d571", "HBB"), ("E70.0", "PAH"),
     ("G12.21", "SOD1"), ("335.20", "SOD1"), ("335.21", None), ("G12.20", None), ("E847", None), ("", None),
     ("334", None), ("V58.11", None), ("ß", None)],
)  # fmt: skip
def test_which_codes_tell_a_gene(code: str, gene: str | None) -> None:
    found = single_gene(code)
    assert (found.gene if found else None) == gene


def test_no_two_diseases_share_a_code() -> None:
    for system in ("icd9", "icd10"):
        codes = [getattr(one, system) for one in SINGLE_GENE]
        assert not [(a, b) for a in codes for b in codes if a != b and a.startswith(b)]


def test_records_are_counted_by_disease() -> None:
    column = parse_policy(POLICY).column("dx")
    found = find_gene_risk(column, pa.chunked_array([DX]), ("dna",))
    assert (found.records, found.alone) == (4, 2)
    assert found.known == (
        KnownGene("Friedreich's ataxia", "FXN", 1),
        KnownGene("Huntington's disease", "HTT", 2),
        KnownGene("sickle-cell disease", "HBB", 1),
    )
    assert find_gene_risk(column, pa.chunked_array([[["333.4", None], None]]), ("dna",)).records == 1  # lists as such


def test_only_beside_sequences_and_only_where_somebody_has_one() -> None:
    table = pa.table({"dx": DX, "dna": ["ACGT"] * len(DX)})
    assert [risk.beside for risk in gene_risks(parse_policy(POLICY), table)] == [("dna",)]
    assert not list(gene_risks(parse_policy(POLICY), table.drop(["dna"])))
    assert not list(gene_risks(parse_policy(POLICY.but(columns={"dna": None})), table))
    assert not list(gene_risks(parse_policy(POLICY), table.set_column(0, "dx", pa.array(["250.00"] * len(DX)))))


def test_the_risk_report_says_it(tmp_path: Path) -> None:
    rows = [(str(at), dx or "", "ACGT") for at, dx in enumerate(DX)]
    for name, head in (("bio.csv", ("mrn", "dx", "dna")), ("released.csv", ("mrn", "dx", "dna"))):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([head, *rows])
    options = RiskOptions(released=tmp_path / "released.csv")
    found = assess_source(parse_policy(POLICY), open_source(str(tmp_path / "bio.csv")), options)
    [risk] = found.genes
    assert (risk.records, risk.alone) == (4, 2)
    assert from_json(RiskReport, to_json(found)) == found
    told = " ".join(found.words)
    assert "4 records have a diagnosis in dx caused by a single gene (3 diseases)" in told
    assert "one of as few as 1" in told
