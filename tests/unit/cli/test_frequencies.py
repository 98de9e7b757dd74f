"""`querygate frequencies`: what leaves is counted from the file alone, and bad input leaves nothing."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.json_body import from_json, to_json
from querygate.custody.policy import load_policy
from querygate.custody.risk_report.risk_body import RiskReport
from querygate.custody.use_cases.risk_assessment import RiskOptions, assess_source
from querygate_adapters.sources.open_source import open_source
from tests.policies import IDENTIFIER, make_policy
from tests.unit.methods.sequences.genotypes import people, population

POLICY = make_policy("t", {"mrn": IDENTIFIER, "dna": {"role": "sequence"}}, k=3, person="mrn")


def sequences() -> list[str]:
    rng = np.random.default_rng(8)
    return people(120, population(300, rng), rng).texts()


def files(folder: Path, texts: list[str], persons: list[str] | None = None) -> tuple[Path, Path]:
    policy, source = folder / "bio.toml", folder / "bio.csv"
    policy.write_text(POLICY, encoding="utf-8")
    with source.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("mrn", "dna"), *zip(persons or map(str, range(len(texts))), texts, strict=True)])
    return policy, source


def words(folder: Path, texts: list[str], *more: Any, persons: list[str] | None = None) -> tuple[Any, ...]:
    policy, source = files(folder, texts, persons)
    return "frequencies", "--policy", policy, "--source", source, "--out", folder / "out", *more


def test_what_is_written_is_true_and_guarded(run: Any, tmp_path: Path) -> None:
    texts = [*sequences(), "", " "]
    done = run(*words(tmp_path, texts, "--column", "dna", "--sites", "300,1,2,150," + ",".join(map(str, range(3, 99)))))
    assert done.exit_code == 0, done.output
    with (tmp_path / "out" / "frequencies.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 15  # 120 people, 13.2 for a hundred
    assert {"1", "2", "150", "300"} <= {row["site"] for row in rows}
    for row in rows:
        letters = [text[int(row["site"]) - 1] for text in texts if text.strip()]
        copies = sum({"A": 0, "R": 1, "G": 2}[one] for one in letters)
        share = copies / 240 if row["common"] == "A" else 1 - copies / 240
        assert int(row["people"]) == 120
        assert float(row["other"]) == pytest.approx(share, abs=6e-5)
        assert min(share, 1 - share) >= 0.05
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["risk"]["unguarded"]["most"] > 0.4
    assert report["risk"]["guarded"]["most"] <= 0.1
    assert "mistaking 5 % of others" in done.output


def test_the_risk_report_prints_the_power_with_and_without_the_guard(tmp_path: Path) -> None:
    policy, source = files(tmp_path, sequences())
    release = tmp_path / "released.csv"
    release.write_text("dna\n" + "\n".join(sequences()) + "\n")
    found = assess_source(load_policy(policy), open_source(str(source)), RiskOptions(released=release))
    [risk] = found.alleles
    assert risk.unguarded.likelihood_ratio is not None
    assert risk.unguarded.likelihood_ratio > 0.15 > risk.guarded.most
    assert from_json(RiskReport, to_json(found)) == found
    told = " ".join(found.words)
    assert f"recognise {100 * risk.unguarded.most:.1f} %" in told
    assert f"recognise {100 * risk.guarded.most:.1f} %" in told


@pytest.mark.parametrize(
    ("texts", "more", "code", "persons"),
    [
        (["ACGT"] * 9, ("--column", "mrn"), "QG806", None),
        (["ACGT"] * 9, ("--column", "dna"), "QG605", None),
        (["ACGT", "ACG"] * 9, ("--column", "dna"), "QG605", None),
        (["ACGT", "äCG!"] * 9, ("--column", "dna"), "QG605", None),
        ([""] * 9, ("--column", "dna"), "QG605", None),
        (["A", "G"] * 30, ("--column", "dna"), "QG803", ["1", "1", *map(str, range(58))]),
        (["A", "G"] * 30, ("--column", "dna", "--sites", "1,2"), "QG806", None),
        (["A", "G"] * 30, ("--column", "dna", "--sites", "one"), "QG806", None),
        (["A", "G"] * 30, ("--column", "dna", "--power", "0.05"), "QG806", None),
        (["A", "G"] * 30, ("--column", "dna", "--rare", "0.6"), "QG806", None),
    ],
    ids=["no sequences", "alike", "unequal", "not DNA", "empty", "repeated", "no site", "no number", "power", "rare"],
)
def test_bad_input_leaves_nothing(
    texts: list[str], more: tuple[str, ...], code: str, persons: list[str] | None, run: Any, tmp_path: Path
) -> None:
    done = run(*words(tmp_path, texts, *more, persons=persons))
    assert done.exit_code != 0
    assert code in done.output
    assert not (tmp_path / "out").exists()
