"""Aligned sequences in an extract: generalised until k records have the same, and measured on what is released.

If fewer than k records have no sequence, theirs becomes unknown at every site, which others share; if k or more have
none, it stays missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from querygate.core.errors import ExtractRefused
from querygate.core.types import Bools, Ints
from querygate.custody.extract.protected_records import Field
from querygate.custody.policy import ColumnPolicy, SequencePolicy
from querygate.methods.sequences import (
    DNALA,
    LATTICES,
    METHODS,
    Alignment,
    BadSequences,
    alike_sites,
    at_random,
    explain_kept,
    generalised,
    loss,
    measure,
    of_texts,
    verify,
)

LETTERS = frozenset("ACGTRYSWKMBDHVN-?")
UNKNOWN = "?"
MEANINGS = {
    "iupac": "aligned DNA, the same in at least {k} records{within}: A, C, G, T unchanged; R, Y, S, W, K, M one of "
    "two bases, B, D, H, V one of three, N any base, - a gap, ? a base or a gap or no sequence at all (IUPAC-IUB)",
    "tree": "aligned DNA, the same in at least {k} records{within}: A, C, G, T unchanged; R purine, Y pyrimidine, "
    "N any base, - a gap, ? a base or a gap or no sequence at all (Lin, Hewett, Altman 2002)",
    "dnala": "aligned DNA, the same in at least {k} records{within}: A, C, G, T unchanged; R, Y, S, W, K, M one of "
    "two bases, B, D, H, V one of three, - a gap, N any base or a gap or no sequence at all",
}


@dataclass(frozen=True)
class SequenceReport:
    """Figures on a column of sequences. Steps are those of the lattice, summed over all letters."""

    column: str
    method: str
    lattice: str
    k: int
    within: str
    sequences: int
    missing: int
    sites: int
    groups: int
    smallest: int  # records with the same sequence, counted on what is released
    steps: int
    steps_at_random: int  # of groups by chance
    letters_intact: float
    sites_intact: float
    bits_before: float  # uncertainty of a site, on average
    bits_after: float
    words: tuple[str, ...]


def make_sequences(
    column: ColumnPolicy, k: int, raw: pa.ChunkedArray, classes: Ints, rng: np.random.Generator
) -> tuple[Field, pa.Array, SequenceReport]:
    """The column of the extract, what it means, and what was done. k: that of the extract."""
    options = column.sequence or SequencePolicy()
    k = max(k, options.k)
    texts = [text.strip() or None if text is not None else None for text in raw.to_pylist()]
    _check_aligned(column.name, texts)
    missing: Bools = np.array([text is None for text in texts])
    sites = next(len(text) for text in texts if text is not None)
    try:
        original = of_texts([text or UNKNOWN * sites for text in texts], None, LATTICES.get(options.lattice))
        labels, chance, apart = _grouped(options, k, original, missing, classes, rng)
    except BadSequences as problem:
        raise ExtractRefused("QG605", f"{column.name}: {problem.reason}", problem.remedy) from None
    made = _alike(column.name, generalised(original, labels), options.alike)
    leaving = [None if gone else text for gone, text in zip(apart.tolist(), made.texts(), strict=True)]
    smallest = _check(column.name, options, k, original, leaving, classes)
    kept = measure(_some(original, ~apart), _some(made, ~apart))
    report = SequenceReport(
        column=column.name,
        method=options.method,
        lattice=options.lattice,
        k=k,
        within=options.within,
        sequences=int((~missing).sum()),
        missing=int(missing.sum()),
        sites=sites,
        groups=kept.classes,
        smallest=smallest,
        steps=loss(original, labels),
        steps_at_random=loss(original, chance),
        letters_intact=kept.symbols_intact,
        sites_intact=kept.sites_intact,
        bits_before=kept.bits_before,
        bits_after=kept.bits_after,
        words=(f"{column.name}: {explain_kept(kept)}", *_words(column.name, options)),
    )
    meaning = MEANINGS[options.lattice].format(k=k, within=" of each class" if options.within == "classes" else "")
    return Field(column.name, column.name, meaning, column.title), pa.array(leaving, type=pa.string()), report


def _alike(name: str, made: Alignment, least: int) -> Alignment:
    if not least:
        return made
    try:
        return alike_sites(made, least)
    except BadSequences as problem:
        raise ExtractRefused("QG605", f"{name}: {problem.reason}", problem.remedy) from None


def _words(name: str, options: SequencePolicy) -> list[str]:
    alike = [f"{name}: every letter of a sequence stands at {options.alike:,} or more of its sites."]
    if options.within == "classes":
        return alike if options.alike else []
    return [
        *(alike if options.alike else []),
        f"{name}: somebody known both by the sequence and by other columns may be found by the two together; "
        'within = "classes" in the policy hides them from that too.',
    ]


def _check_aligned(name: str, texts: Sequence[str | None]) -> None:
    """Messages say how many, never which."""
    known = [text for text in texts if text is not None]
    if not known:
        raise ExtractRefused("QG605", f"{name}: no record has a sequence.", "Leave out the column.")
    lengths = Counter(map(len, known))
    if len(lengths) > 1:
        other = len(known) - max(lengths.values())
        raise ExtractRefused(
            "QG605",
            f"{name}: {other:,} of {len(known):,} sequences differ in length from the rest.",
            "Align the sequences in the source, with - for gaps, or leave out the column.",
        )
    strange = sum(1 for text in known if not LETTERS.issuperset(text.upper()))
    if strange:
        raise ExtractRefused(
            "QG605",
            f"{name}: {strange:,} of {len(known):,} sequences contain letters that are not DNA.",
            "Use the IUPAC letters ACGT RYSWKM BDHV N, - for a gap and ? for unknown; write T for U.",
        )


# -- groups ----------------------------------------------------------------------------------------------------------


def _grouped(
    options: SequencePolicy, k: int, original: Alignment, missing: Bools, classes: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints, Bools]:
    """The group of each record, a random group for comparison, and the records whose sequence stays missing."""
    labels, chance = (np.zeros(missing.size, dtype=np.int64) for _ in range(2))
    apart: Bools = np.zeros(missing.size, dtype=np.bool_)
    groups = random_groups = 0
    for rows, alike in _parts(options, k, missing, classes):
        part = _some(original, rows)
        found = np.zeros(rows.size, dtype=np.int64) if alike else _run(options, k, part)
        by_chance = np.zeros(rows.size, dtype=np.int64) if alike else at_random(part, k, rng)
        apart[rows] = alike
        labels[rows], chance[rows] = found + groups, by_chance + random_groups
        groups, random_groups = int(labels[rows].max()) + 1, int(chance[rows].max()) + 1
    return labels, chance, apart


def _some(alignment: Alignment, rows: Ints | Bools) -> Alignment:
    codes = alignment.codes[rows]
    return Alignment(codes, ("",) * len(codes), alignment.lattice)


def _run(options: SequencePolicy, k: int, part: Alignment) -> Ints:
    way = METHODS.get(options.method)
    return way.run(part, min(options.bins, part.sequences), k) if way.kind == "bins" else way.run(part, k)


def _parts(options: SequencePolicy, k: int, missing: Bools, classes: Ints) -> Iterator[tuple[Ints, bool]]:
    """Sets of records to be grouped separately, and whether they are those without a sequence."""
    wholes = [np.arange(missing.size)]
    if options.within == "classes":
        order = np.argsort(classes, kind="stable")
        wholes = np.split(order, np.flatnonzero(np.diff(classes[order])) + 1)
    for rows in wholes:
        known, gone = rows[~missing[rows]], rows[missing[rows]]
        if gone.size >= k and (known.size >= k or not known.size):
            yield gone, True
            if known.size:
                yield known, False
        else:
            yield rows, False


# -- what leaves -----------------------------------------------------------------------------------------------------


def _check(
    name: str, options: SequencePolicy, k: int, original: Alignment, leaving: Sequence[str | None], classes: Ints
) -> int:
    """Checks what is released: how many records have the same sequence, and that no letter is wrong."""
    seen = Counter(
        zip(classes.tolist(), leaving, strict=True) if options.within == "classes" else [(0, text) for text in leaving]
    )
    smallest = min(seen.values())
    there = [(before, after) for before, after in zip(original.texts(), leaving, strict=True) if after is not None]
    found = verify(
        [before for before, _ in there], [after for _, after in there], 1, n_may_be_gap=original.lattice is DNALA
    )
    rare = sum(1 for _, after in there if min(Counter(after).values()) < options.alike)
    if rare:
        raise ExtractRefused(
            "QG605",
            f"{name}: the extract does not keep its guarantee: {rare:,} sequences have a letter at fewer than "
            f"{options.alike:,} sites.",
            "Nothing was written. Report this fault to the makers of QueryGate.",
        )
    if smallest < k or not found.holds:
        raise ExtractRefused(
            "QG605",
            f"{name}: the extract does not keep its guarantee: only {smallest:,} of {k:,} records have "
            f"the same sequence, and {found.uncovered:,} letters are wrong.",
            "Nothing was written. Use another method, and report this fault to the makers of QueryGate.",
        )
    return smallest
