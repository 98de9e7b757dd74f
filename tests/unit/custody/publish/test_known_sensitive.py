"""Sensitive attributes that others may know (Li & Ye 2007): generalised with the quasi-identifiers, so that knowing one
does not reveal another. Judged record by record on what an extract would show: the classes of the store.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.policies import diverse, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import ends, new_site, put

K, L = 4, 3
DISEASES = ("flu", "angina", "asthma", "infarction")
TREE = "flu;lung;any\nasthma;lung;any\nangina;heart;any\ninfarction;heart;any\n"
DRUGS = ("A", "B", "C", "D")

POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", [0, 120]),
        "disease": quasi("category", hierarchy="diseases.csv"),
        "salary": sensitive("number", [0, 200], carry="joint", guard=10),
        "drug": sensitive("category", values=list(DRUGS)) | diverse("distinct", l=L),
    },
    k=K,
    anonymise={"method": "mondrian"},
)


def people(rows: int = 200) -> dict[str, list[Any]]:
    """The drug follows the disease, and the salary the age: each would tell the other."""
    rng = np.random.default_rng(7)
    disease = rng.integers(0, 4, rows)
    drug = np.where(rng.random(rows) < 0.7, disease, rng.integers(0, 4, rows))
    age = rng.integers(20, 90, rows)
    return {
        "age": age.tolist(),
        "disease": [DISEASES[d] for d in disease],
        "salary": (age + rng.normal(0, 5, rows)).clip(0, 200).tolist(),
        "drug": [DRUGS[d] for d in drug],
    }


def test_who_knows_a_disease_and_a_salary_besides_learns_no_drug(tmp_path: Path) -> None:
    (tmp_path / "diseases.csv").write_text(TREE, encoding="utf-8")
    opened, rows = new_site(tmp_path), people()
    report = put(opened, POLICY.parsed(folder=tmp_path), rows)
    assert report.measured.smallest >= K
    assert report.measured.kept["distinct values of drug"] >= L
    release: Any = opened.gate.store.current("t")
    told = release._connection.execute("SELECT DISTINCT class, c1_set, c2_lo, c2_hi FROM cells").fetchall()
    assert len(told) == len({label for label, *_ in told}) > 1  # a class has one group of diseases, one interval
    assert min(high - low for *_, low, high in told) >= 10
    for disease in DISEASES:
        low, high = ends(opened, "COUNT(*)", f"disease = '{disease}'")
        assert low <= rows["disease"].count(disease) <= high
    low, high = ends(opened, "AVG(salary)")
    assert low <= float(np.mean(rows["salary"])) <= high
