"""Sequences aligned to a reference: where bases come to stand, what is never invented, and bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.core.errors import ConfigError
from querygate.custody.align import reference_alignment
from querygate.custody.align.reference_alignment import align_to_reference
from querygate.methods.sequences import of_texts

REFERENCE = "ACGTTGCAAGGCTTACGATCCGATTAGC"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (REFERENCE, REFERENCE),
        (REFERENCE.lower(), REFERENCE),
        (REFERENCE.replace("T", "U"), REFERENCE),
        (REFERENCE[:10] + REFERENCE[12:], REFERENCE[:10] + "--" + REFERENCE[12:]),
        (REFERENCE[:12] + "TTT" + REFERENCE[12:], REFERENCE),  # no site for three
        (REFERENCE[5:20], "?" * 5 + REFERENCE[5:20] + "?" * 8),
        (REFERENCE[:9] + "N" + REFERENCE[10:], REFERENCE[:9] + "N" + REFERENCE[10:]),
        ("-" + REFERENCE[:14] + " \n" + REFERENCE[14:], REFERENCE),
    ],
)
def test_by_hand(text: str, made: str) -> None:
    found = align_to_reference("dna", [None, text], REFERENCE)
    assert found.texts == (None, made)
    assert found.sites == len(REFERENCE)


def test_random_mutants_come_back_and_nothing_is_invented() -> None:
    rng = np.random.default_rng(5)
    reference = "".join(rng.choice(list("ACGT"), 300))
    texts = []
    for _ in range(60):
        letters = list(reference)
        for _ in range(int(rng.integers(0, 4))):
            at = int(rng.integers(0, len(letters)))
            letters[at : at + int(rng.integers(0, 4))] = rng.choice(list("ACGT"), int(rng.integers(0, 4))).tolist()
        texts.append("".join(letters[int(rng.integers(0, 20)) :]))
    found = align_to_reference("dna", texts, reference)
    made = [text for text in found.texts if text is not None]
    assert of_texts(made).sites == 300  # what the methods for sequences take
    alike = [np.mean([a == b for a, b in zip(one, reference, strict=True)]) for one in made]
    assert min(alike) > 0.88
    bases = sum(len(text) for text in texts)
    assert bases - found.left_out == sum(len(text.replace("-", "").replace("?", "")) for text in made)


def test_an_alignment_that_misstates_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("A" * 28, REFERENCE[:-1]):
        monkeypatch.setattr(reference_alignment, "_projected", lambda alignment, target, text, wrong=wrong: wrong)
        with pytest.raises(ConfigError, match="misstates"):
            align_to_reference("dna", [REFERENCE], REFERENCE)


@pytest.mark.parametrize(
    ("texts", "reference", "words"),
    [
        (["ACGT", "ACXT", "hello"], "ACGT", "2 of 3 sequences"),
        ([None, ""], "ACGT", "no record"),
        (["ACGT"], "", "reference is not"),
        (["ACGT"], "ACG1", "reference is not"),
        (["ACGT" * 6000], "ACGT" * 6000, "too long"),
    ],
)
def test_bad_input(texts: list[str | None], reference: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as refused:
        align_to_reference("dna", texts, reference)
    assert refused.value.code == "QG806"


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, [str(one) for one in arguments])
    return done.exit_code, done.output


def test_from_the_command_line(tmp_path: Path) -> None:
    source, fasta = tmp_path / "bio.csv", tmp_path / "ref.fasta"
    source.write_text(f"id,dna\n007,{REFERENCE[:10] + REFERENCE[12:]}\n008,\n009,{REFERENCE}GG\n")
    fasta.write_text(f">a reference\n{REFERENCE[:14]}\n{REFERENCE[14:]}\n")
    common = ("sequences", "align", "--source", source, "--reference", fasta)
    out = tmp_path / "aligned.parquet"
    code, told = run(*common, "--column", "dna", "--out", out)
    assert code == 0
    assert told.endswith(f"Aligned 2 sequences to 28 sites; 2 bases left out. Wrote {out}.\n")
    assert pq.read_table(out)["dna"].to_pylist()[0] == REFERENCE[:10] + "--" + REFERENCE[12:]
    assert pq.read_table(out)["dna"].to_pylist()[2] == REFERENCE
    assert run(*common, "--column", "dna", "--out", tmp_path / "a.csv")[0] == 0
    assert pc.read_csv(tmp_path / "a.csv").num_rows == 3
    for wrong in (("--column", "none", "--out", tmp_path / "n.csv"), ("--column", "dna", "--out", tmp_path / "n.txt"),
                  ("--column", "dna", "--out", out), ("--column", "id", "--out", tmp_path / "n.csv")):  # fmt: skip
        assert run(*common, *wrong)[0] != 0
    fasta.write_text(">a\nACGT\n>b\nACGT\n")
    assert "several sequences" in run(*common, "--column", "dna", "--out", tmp_path / "n.csv")[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "aligned.parquet", "bio.csv", "ref.fasta"]
