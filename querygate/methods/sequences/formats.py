"""Files of aligned sequences: FASTA and Clustal. Text in, text out; who opens files is the caller.

>>> read("> one\\nACG\\nT\\n>two\\nacga\\n").texts()
['ACGT', 'ACGA']
>>> print(write_fasta(read(">one\\nACGT\\n>two\\nACGA\\n")), end="")
>1
ACGT
>2
ACGA
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from querygate.methods.sequences.alignment import Alignment, of_texts
from querygate.methods.sequences.bad_sequences import BadSequences
from querygate.methods.sequences.letter_lattice import IUPAC, LetterLattice

WIDTH = 60
_CONSERVED = re.compile(r"[\s*:.]+")
"""The line under a Clustal block that marks sites alike in all; it begins with a space, where sequences do not."""


def read(text: str, lattice: LetterLattice = IUPAC) -> Alignment:
    """FASTA or Clustal, whichever it is."""
    start = text.lstrip("\ufeff \t\r\n")
    if not start:
        raise BadSequences("The file is empty.", "Give aligned sequences as FASTA or Clustal.")
    if start.startswith(">"):
        return read_fasta(text, lattice)
    if start.upper().startswith("CLUSTAL"):
        return read_clustal(text, lattice)
    raise BadSequences("The file is neither FASTA nor Clustal.", "FASTA begins with >, Clustal with the word CLUSTAL.")


def read_fasta(text: str, lattice: LetterLattice = IUPAC) -> Alignment:
    """A line > with a name, then lines of letters. Of the line with the name, the first word is the name."""
    names: list[str] = []
    parts: list[list[str]] = []
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        if line.startswith(">"):
            words = line[1:].split()
            names.append(words[0] if words else "")
            parts.append([])
        elif line.strip() and not line.startswith(";"):
            if not parts:
                raise BadSequences(f"Line {number:,} has letters before any name.", "Begin each sequence with > name.")
            parts[-1].append("".join(line.split()))
    _check_names(names)
    return of_texts(["".join(part) for part in parts], names, lattice)


def read_clustal(text: str, lattice: LetterLattice = IUPAC) -> Alignment:
    """A heading, then blocks: in each a line for every sequence, name, letters, and perhaps how many so far."""
    lines = text.lstrip("\ufeff \t\r\n").splitlines()
    parts: dict[str, list[str]] = {}
    block: set[str] = set()
    blocks = 0
    for number, line in enumerate(lines[1:], 2):
        if _CONSERVED.fullmatch(line) or not line:
            block = set()
            continue
        words = line.split()
        if line[0].isspace() or not (len(words) == 2 or (len(words) == 3 and words[2].isdigit())):
            raise BadSequences(f"Line {number:,} is not a name followed by letters.", "Use the Clustal format.")
        name, letters = words[0], words[1]
        if name in block:
            raise BadSequences(f"Line {number:,} repeats the name of a sequence.", "Give each sequence its own name.")
        blocks += not block
        block.add(name)
        if name not in parts and blocks > 1:
            raise BadSequences(
                f"Line {number:,} names a sequence that is not in the first block.", "Include it in every block."
            )
        parts.setdefault(name, []).append(letters)
    short = [place for place, part in enumerate(parts.values(), 1) if len(part) != blocks]
    if short:
        raise BadSequences(f"Sequence {short[0]:,} is not in every block.", "Include each sequence in every block.")
    return of_texts(["".join(part) for part in parts.values()], list(parts), lattice)


def _check_names(names: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name:
            raise BadSequences(f"Sequence {place:,} has no name.", "Write a name after the >.")
        if name in seen:
            raise BadSequences(
                f"Sequences {seen[name]:,} and {place:,} have the same name.", "Give each sequence its own name."
            )
        seen[name] = place


def write_fasta(alignment: Alignment, names: Iterable[str] | None = None) -> str:
    """As FASTA. Names of the source identify people, so unless others are given the sequences are numbered."""
    lines = []
    for name, text in zip(_names(alignment, names), alignment.texts(), strict=True):
        lines.append(f">{name}")
        lines.extend(text[start : start + WIDTH] for start in range(0, len(text), WIDTH))
    return "\n".join(lines) + "\n"


def write_clustal(alignment: Alignment, names: Iterable[str] | None = None) -> str:
    """As Clustal, without the lines of asterisks; numbered unless names are given."""
    named = _names(alignment, names)
    wide = max(map(len, named)) + 4
    lines = ["CLUSTAL multiple sequence alignment", ""]
    texts = alignment.texts()
    for start in range(0, alignment.sites, WIDTH):
        block = zip(named, texts, strict=True)
        lines += ["", *(f"{name:<{wide}}{text[start : start + WIDTH]}" for name, text in block)]
    return "\n".join(lines) + "\n"


def _names(alignment: Alignment, names: Iterable[str] | None) -> list[str]:
    named = [str(one) for one in range(1, alignment.sequences + 1)] if names is None else list(names)
    if any(not name or name.split() != [name] or name.startswith(">") for name in named):
        raise ValueError("a name is one word")
    _check_names(named)
    return named
