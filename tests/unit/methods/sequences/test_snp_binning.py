"""SNP binning: every letter of a sequence stands at B sites or more, along the tree, and equal sequences stay equal.

The paper has no worked example at hand; those here are worked by hand along its hierarchy.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from querygate.core.errors import ConfigError, ExtractRefused
from querygate.custody.extract import sequence_columns
from querygate.custody.policy import parse_policy
from querygate.methods.sequences import IUPAC, TREE, BadSequences, alike_sites, generalised, of_texts, refined, verify
from tests.each import each
from tests.seeds import seeds
from tests.unit.custody.extract.study import extract
from tests.unit.custody.extract.texts_study import POLICY, people


def test_the_tree() -> None:
    """Purines and pyrimidines; whatever else two letters have in common is any base."""
    assert [TREE.join(*pair) for pair in ("AG", "CT", "AC", "RY", "RA", "A-", "N-")] == list("RYNNR??")
    assert TREE.distance("A", "G") == 2
    assert TREE.distance("A", "C") == 4
    assert of_texts(["AMSKW"], None, TREE).texts() == ["ANNNN"]  # letters of two bases that have none here


@pytest.mark.parametrize(
    ("text", "least", "made"),
    [
        ("AAGCCC", 2, "RRRCCC"),  # a lone G makes its purines alike
        ("AAGCCC", 3, "RRRCCC"),
        ("AAAACT", 2, "AAAAYY"),  # C and T are two pyrimidines ...
        ("AAAACT", 3, "NNNNNN"),  # ... and not three
        ("AACTTT", 2, "AAYYYY"),
        ("ACGT", 4, "NNNN"),
        ("AAAA-", 2, "?????"),  # a lone gap takes the others along
        ("AACC", 2, "AACC"),
        ("AAGGCCTT", 2, "AAGGCCTT"),
    ],
)
def test_by_hand(text: str, least: int, made: str) -> None:
    found = alike_sites(of_texts([text], None, TREE), least).texts()[0]
    assert found == made


@each("seed", seeds(100))
def test_random_sequences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sites, least = int(rng.integers(2, 30)), 0
    least = int(rng.integers(2, sites + 1))
    letters = list(rng.choice(["ACGT", "AAAAG", "ACGTRYSWKMN-?", "-", "AC-"]))
    texts = ["".join(rng.choice(letters, sites)) for _ in range(int(rng.integers(2, 12)))]
    texts += texts[:1]
    original = of_texts(texts, None, TREE)
    grouped = generalised(original, refined(original, k=2))
    made = alike_sites(grouped, least).texts()
    assert all(min(Counter(text).values()) >= least for text in made)
    assert verify(original.texts(), made, 2).holds
    assert len(set(made)) <= len(set(grouped.texts()))
    untouched = [a == b for a, b in zip(made, grouped.texts(), strict=True)]
    alike = [min(Counter(text).values()) >= least for text in grouped.texts()]
    assert [one for one, fine in zip(untouched, alike, strict=True) if fine] == [True] * sum(alike)


def test_bad_input() -> None:
    with pytest.raises(BadSequences, match="4 sites, and 5"):
        alike_sites(of_texts(["ACGT"], None, TREE), 5)
    with pytest.raises(BadSequences, match="tree"):
        alike_sites(of_texts(["ACGT"], None, IUPAC), 2)
    for wrong in ({"alike": 5}, {"alike": 1, "lattice": "tree"}, {"alike": "x", "lattice": "tree"}):
        with pytest.raises(ConfigError) as refused:
            parse_policy(POLICY.but(columns={"dna": wrong}))
        assert refused.value.code == "QG801"
    assert parse_policy(POLICY).hash != parse_policy(POLICY.but(columns={"dna": {"lattice": "tree"}})).hash


def test_in_an_extract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = POLICY.but(columns={"dna": {"lattice": "tree", "alike": 5, "k": 3}})
    wish = {"columns": ["age", "dna"], "method": "mondrian", "formats": ["csv"]}
    body = extract(tmp_path / "a", table=people(40), policy=policy, **wish)
    assert any("5 or more of its sites" in words for words in body["sequences"][0]["words"])
    lines = (tmp_path / "a" / "out" / "extract.csv").read_text().splitlines()[1:]
    texts = [line.rpartition(",")[2].strip('"') for line in lines]
    assert min(Counter(texts).values()) >= 3
    assert all(min(Counter(text).values()) >= 5 for text in texts if text)
    with pytest.raises(ExtractRefused, match="40 sites, and 41"):
        extract(tmp_path / "b", table=people(40), policy=policy.but(columns={"dna": {"alike": 41}}), **wish)
    monkeypatch.setattr(sequence_columns, "alike_sites", lambda made, least: made)
    table = people(16).set_column(8, "dna", pa.array(["A" * 39 + "G"] * 16))
    with pytest.raises(ExtractRefused, match="16 sequences have a letter at fewer than 5 sites"):
        extract(tmp_path / "c", table=table, policy=policy, **wish)
    assert not list((tmp_path / "c" / "out").iterdir())
