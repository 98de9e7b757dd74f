"""Sequences aligned to a reference, so that all have a letter at each of its sites (Biopython's PairwiseAligner, the
algorithm of Needleman and Wunsch with Gotoh's gaps).

A base that the reference has no site for is left out and counted; a site that a sequence lacks is `-`; sites before its
beginning and after its end are `?`, since nobody has read them. Aligning to a reference suits reads of one region of
one species. Distant species need a program for multiple alignment, such as MAFFT.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from querygate.core.errors import ConfigError
from querygate.core.progress import Progress, no_progress

LARGEST = 400_000_000
"""Sites of the reference times letters of a sequence: what the table of one alignment may have."""

MATCH, MISMATCH, OPEN, EXTEND = 2.0, -1.0, -5.0, -1.0
TOLD_EVERY = 100
_LETTERS = re.compile(r"[ACGTRYSWKMBDHVN]+")


@dataclass(frozen=True, slots=True)
class AlignedColumn:
    """The sequences in their order, all as long as the reference, and the bases that had no site."""

    texts: tuple[str | None, ...]
    sites: int
    aligned: int
    left_out: int


def align_to_reference(
    name: str, texts: Sequence[str | None], reference: str, progress: Progress = no_progress
) -> AlignedColumn:
    """`name` is that of the column. QG806 where a sequence is no DNA or too long: how many, never which."""
    plain = [None if text is None else re.sub(r"[\s-]", "", text).upper().replace("U", "T") or None for text in texts]
    target = re.sub(r"\s", "", reference).upper()
    _check(name, [text for text in plain if text is not None], target)
    aligner = _aligner()
    made: list[str | None] = []
    known: dict[str, str] = {}  # many people share a sequence
    for at, text in enumerate(plain):
        if at % TOLD_EVERY == 0:
            progress(f"aligning {name}", at / len(plain))
        if text is not None and text not in known:
            known[text] = _projected(aligner.align(target, text)[0], target, text)
        made.append(None if text is None else known[text])
    some = [
        (before, after) for before, after in zip(plain, made, strict=True) if before is not None and after is not None
    ]
    _check_made(some, len(target))
    left_out = sum(len(before) - _bases(after) for before, after in some)
    return AlignedColumn(tuple(made), len(target), len(some), left_out)


def _projected(alignment: Any, target: str, text: str) -> str:
    """The sequence at the sites of the reference."""
    made = ["?"] * len(target)
    blocks = [(pair[0], pair[1]) for pair in zip(*alignment.aligned, strict=True)]
    for (start, _), _ in blocks[:1]:
        for site in range(start, blocks[-1][0][1]):
            made[site] = "-"
    for (start, end), (first, last) in blocks:
        made[start:end] = text[first:last]
    return "".join(made)


def _check(name: str, texts: Sequence[str], target: str) -> None:
    if not _LETTERS.fullmatch(target):
        raise ConfigError("QG806", "The reference is not a DNA sequence.", "Give one sequence in FASTA, of ACGT.")
    if not texts:
        raise ConfigError("QG806", f"{name}: no record has a sequence.", "Name another column.")
    strange = sum(1 for text in texts if not _LETTERS.fullmatch(text))
    if strange:
        raise ConfigError(
            "QG806",
            f"{name}: {strange:,} of {len(texts):,} sequences contain letters that are not DNA.",
            "Use the IUPAC letters ACGT RYSWKM BDHV N.",
        )
    long = sum(1 for text in texts if len(text) * len(target) > LARGEST)
    if long:
        raise ConfigError(
            "QG806",
            f"{name}: {long:,} of {len(texts):,} sequences are too long to be aligned here.",
            "Use a program for genomes, such as minimap2 or MAFFT.",
        )


def _check_made(pairs: Sequence[tuple[str, str]], sites: int) -> None:
    """Of what was made, whatever made it: as many sites as the reference, and the bases are those of the sequence in
    their order."""
    for before, after in pairs:
        rest = iter(before)
        if len(after) != sites or not all(base in rest for base in after if base not in "-?"):
            raise ConfigError("QG806", "An alignment misstates its sequence.", "Report this fault to the makers.")


def _bases(text: str) -> int:
    return len(text) - text.count("-") - text.count("?")


def _aligner() -> Any:
    aligner = _library().PairwiseAligner(
        mode="global", match_score=MATCH, mismatch_score=MISMATCH, open_gap_score=OPEN, extend_gap_score=EXTEND
    )
    aligner.end_gap_score = 0.0  # a read may begin and end where it wants
    aligner.wildcard = "N"
    return aligner


def _library() -> ModuleType:
    try:
        from Bio import Align
    except ImportError:
        raise ConfigError(
            "QG804",
            "The library that aligns sequences is not installed.",
            "Install it with: pip install 'querygate[align]'.",
        ) from None
    return Align
