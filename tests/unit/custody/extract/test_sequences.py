"""Sequences in extracts: each is that of k records or more, and no letter misstates what stood there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.errors import ExtractRefused
from querygate.custody.extract import sequence_columns as making
from querygate.custody.extract.sequence_columns import make_sequences
from querygate.custody.policy import ColumnPolicy, SequencePolicy
from tests.policies import Column
from tests.unit.custody.extract.study import extract
from tests.unit.custody.extract.texts_study import POLICY, SITES, people

BASES = {"R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC", "B": "CGT", "D": "AGT", "H": "ACT"}
BASES |= {"V": "ACG", "N": "ACGT", "?": "ACGT-", **{letter: letter for letter in "ACGT-"}}
WISH: dict[str, Any] = {"columns": ["age", "sbp", "dna"], "method": "mondrian"}


def generalised(
    texts: list[str | None], k: int = 2, classes: list[int] | None = None, **options: Any
) -> tuple[list[str | None], making.SequenceReport]:
    column = ColumnPolicy("dna", "sequence", sequence=SequencePolicy(**options))
    groups = np.array(classes or [0] * len(texts))
    raw = pa.chunked_array([texts], type=pa.string())
    _, made, report = make_sequences(column, k, raw, groups, np.random.default_rng(1))
    return made.to_pylist(), report


@pytest.mark.parametrize(
    "more", [{}, {"k": 7}, {"method": "dnala", "lattice": "dnala"}, {"method": "bins", "bins": 6}], ids=str
)
def test_each_sequence_is_that_of_k_records(more: Column, tmp_path: Path) -> None:
    body = extract(tmp_path, table=people(), policy=POLICY.but(columns={"dna": more}), **WISH)
    table = pq.read_table(tmp_path / "out" / "extract.parquet")
    k = more.get("k", 5)
    assert min(Counter(table["dna"].to_pylist()).values()) >= k
    raw = dict(zip(people()["sbp"].to_pylist(), people()["dna"].to_pylist(), strict=True))
    meaning = BASES | ({"N": "ACGT-"} if "lattice" in more else {})
    for sbp, text in zip(table["sbp"].to_pylist(), table["dna"].to_pylist(), strict=True):
        before = raw[sbp]
        assert (text is None) == (before is None)  # eight records have none, enough to say so
        assert all(a in meaning[b] for a, b in zip(before or "", text or "", strict=True))
    [report] = body["sequences"]
    assert report["smallest"] >= report["k"] == k
    assert report["sites"] == SITES
    assert report["steps"] < report["steps_at_random"]
    assert 0 < report["letters_intact"] < 1
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Sequences: dna" in page
    assert "ACGT" not in page.replace("A, C, G, T", "")
    assert "the same in" in (tmp_path / "out" / "dictionary.csv").read_text()


def test_the_k_of_the_request_counts_too(tmp_path: Path) -> None:
    body = extract(tmp_path, table=people(), policy=POLICY, k=15, **WISH)
    assert body["sequences"][0]["k"] == 15
    table = pq.read_table(tmp_path / "out" / "extract.parquet")
    known = Counter(text for text in table["dna"].to_pylist() if text and set(text) != {"?"})
    assert min(known.values()) >= 15


def test_within_classes_both_together_hide_k_records(tmp_path: Path) -> None:
    extract(tmp_path, table=people(), policy=POLICY.but(columns={"dna": {"within": "classes"}}), **WISH)
    table = pq.read_table(tmp_path / "out" / "extract.parquet")
    seen = Counter(zip(*(table[name].to_pylist() for name in ("age_low", "age_high", "dna")), strict=True))
    assert min(seen.values()) >= 5


def test_pairs_by_hand() -> None:
    made, report = generalised(["AAC", "ttt", "GAC", "TTA"], method="dnala")
    assert made == ["RAC", "TTW", "RAC", "TTW"]
    assert (report.steps, report.sites_intact, report.groups) == (4, 1 / 3, 2)


@pytest.mark.parametrize(
    ("texts", "classes", "told"),
    [
        (["AA", "AA", "CC", "CC", None], [0] * 5, None),  # one without is not left alone
        (["AA", "AA", None, "", None], [0] * 5, ["AA", "AA", None, None, None]),
        (["AA", None, "  ", "CC", "CC"], [0] * 5, None),
        (["AC", None, None, "CC", "CC"], [0, 0, 0, 1, 1], ["??"] * 3 + ["CC"] * 2),  # who alone has one
        (["AC", "AG", "CC", "CG", None, None], [0, 0, 1, 1, 2, 2], ["AS", "AS", "CS", "CS", None, None]),
    ],
)
def test_missing_sequences_tell_nothing(
    texts: list[str | None], classes: list[int], told: list[str | None] | None
) -> None:
    made, _ = generalised(texts, classes=classes, within="classes")
    assert told is None or made == told
    assert min(Counter(zip(classes, made, strict=True)).values()) >= 2


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["ACGT", "ACG", "ACGT", "ACGT"], "1 of 4 sequences have another length"),
        (["ACGT", "ACGU", "ACXT", "ACGT"], "2 of 4 sequences contain letters that are not DNA"),
        ([None, "", " "], "no record has a sequence"),
        (["ACGT", "ACGA"], "fewer than k = 3"),
    ],
)
def test_what_cannot_be_generalised_is_refused(texts: list[str | None], told: str) -> None:
    with pytest.raises(ExtractRefused) as refused:
        generalised(texts, k=3)
    assert refused.value.code == "QG605"
    assert told in refused.value.detail
    assert "ACG" not in refused.value.detail


def test_what_was_made_is_counted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "generalised", lambda original, labels: original)
    with pytest.raises(ExtractRefused, match="does not keep its promise: 1 records"):
        generalised(["ACGT", "ACGA", "TCGA", "TCGA"])
    monkeypatch.setattr(making, "generalised", lambda original, labels: making.of_texts(["AAAA"] * 4))
    with pytest.raises(ExtractRefused, match="letters are wrong"):
        generalised(["ACGT", "ACGA", "TCGA", "TCGA"])
