"""Named terms made more general, until enough texts could have been the original: t-plausibility.

After Jiang, Murugesan, Clifton and Si, "t-Plausibility: semantic preserving text sanitization" (2009). Each sensitive
term is replaced by one of its ancestors in a hierarchy, or left. A reader then knows only that each term is one of the
leaves under what is written, so the product of those numbers of leaves is the number of plausible texts, which must be
t or more. Of all choices that reach t, that one is taken which spends the least information, log2 of leaves after over
leaves before, summed over terms. Choosing is hard in general (the paper shows it, and uses heuristics); with numbers of
plausible texts below t as states it is an exact dynamic programme, since all at or above t are as good as t.

>>> tree = TermHierarchy([("flu", "infection"), ("measles", "infection"), ("asthma", "lung disease"),
...                   ("COPD", "lung disease"), ("pleurisy", "lung disease"),
...                   ("infection", "disease"), ("lung disease", "disease")])
>>> made = generalise_terms("Had flu, then Asthma.", tree, t=6)
>>> made.text, made.texts
('Had infection, then lung disease.', 6)
>>> generalise_terms("Had flu, then asthma.", tree, t=2).text
'Had infection, then asthma.'
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from querygate.core.count_text import counted
from querygate.methods.notes.note_text import TextAtoms, letters_and_digits


class Unreachable(ValueError):
    """Even with every term as general as can be, too few texts are plausible. Says how many, and names no term."""

    def __init__(self, most: int, t: int) -> None:
        super().__init__(f"at most {most:,} texts would be plausible, fewer than {t:,}")
        self.most = most
        self.t = t


class TermHierarchy:
    """Terms and their parents, one row each, as a custodian writes them: `term, parent`."""

    def __init__(self, rows: Iterable[tuple[str, str]]) -> None:
        self._parent: dict[str, str] = {}
        self._spelt: dict[str, str] = {}
        inner: set[str] = set()
        for number, (term, parent) in enumerate(rows, 1):
            child, above = letters_and_digits(term), letters_and_digits(parent)
            if not child or not above or child == above:
                raise ValueError(f"row {number} of the hierarchy does not name a term and another term above it")
            if self._parent.setdefault(child, above) != above:
                raise ValueError(f"row {number} of the hierarchy gives a term a second parent")
            self._spelt.setdefault(child, term.strip())
            self._spelt.setdefault(above, parent.strip())
            inner.add(above)
        self._leaves = dict.fromkeys(self._spelt, 0)
        for term in self._spelt:
            if term not in inner:
                for ancestor in self._upwards(term):
                    self._leaves[ancestor] += 1
        if not all(self._leaves.values()):
            raise ValueError("the hierarchy contains a cycle")
        self.lengths = tuple(sorted({len(term) for term in self._spelt}, reverse=True))

    def __contains__(self, term: str) -> bool:
        return term in self._spelt

    def choices(self, term: str) -> list[tuple[str, int]]:
        """The term and its ancestors, as folded terms with the leaves under each; steps that add no leaf left out."""
        found: list[tuple[str, int]] = []
        for ancestor in self._upwards(term):
            leaves = self._leaves[ancestor]
            if not found or leaves > found[-1][1]:
                found.append((ancestor, leaves))
        return found

    def spelt(self, term: str) -> str:
        return self._spelt[term]

    def _upwards(self, term: str) -> list[str]:
        path = [term]
        while path[-1] in self._parent:
            path.append(self._parent[path[-1]])
            if len(path) > len(self._spelt):
                raise ValueError("the hierarchy contains a cycle")
        return path


@dataclass(frozen=True, slots=True)
class Plausible:
    """A text with terms made general: how many texts are plausible now, and what was spent, in bits."""

    text: str
    texts: int
    bits: float
    replaced: int


def generalise_terms(text: str, hierarchy: TermHierarchy, t: int) -> Plausible:
    """The text with the least change after which t or more are plausible. Raises Unreachable.

    A term that stands several times is replaced alike everywhere and counts once.
    """
    if t < 1:
        raise ValueError("t is 1 or more")
    places = _terms(text, hierarchy)
    terms = sorted({term for _, _, term in places})
    chosen, texts, bits = _cheapest([hierarchy.choices(term) for term in terms], t)
    new = dict(zip(terms, chosen, strict=True))
    pieces: list[str] = []
    at = 0
    for start, end, term in places:
        kept = new[term] == term
        pieces += (text[at:start], text[start:end] if kept else hierarchy.spelt(new[term]))
        at = end
    replaced = sum(new[term] != term for _, _, term in places)
    return Plausible("".join((*pieces, text[at:])), texts, bits, replaced)


_Way = tuple[float, float, int, tuple[int, ...]]  # bits, squares of bits, plausible texts, choice for each term


def _cheapest(choices: Sequence[list[tuple[str, int]]], t: int) -> tuple[list[str], int, float]:
    """For each term an ancestor, so that the product of leaves is at least t and the bits spent are least.

    States are the products below t; each keeps its cheapest way. Products from t on are one state, which remembers the
    cheapest of them. Over n terms with h ancestors that is n h min(t, h^n) steps. Of equally cheap ways the evener is
    taken (smaller sum of squares), as the paper's uniform t-plausibility wants: no term bears all.
    """
    most = math.prod(options[-1][1] for options in choices)
    if most < t:
        raise Unreachable(most, t)
    states: dict[int, _Way] = {1: (0.0, 0.0, 1, ())}
    for options in choices:
        following: dict[int, _Way] = {}
        for bits, squares, product, picks in states.values():
            for pick, (_, leaves) in enumerate(options):
                spent = math.log2(leaves / options[0][1])
                new = (round(bits + spent, 9), squares + spent**2, product * leaves, (*picks, pick))
                key = min(product * leaves, t)
                if key not in following or new < following[key]:
                    following[key] = new
        states = following
    bits, _, texts, picks = states[t]
    return [options[pick][0] for options, pick in zip(choices, picks, strict=True)], texts, bits


def _terms(text: str, hierarchy: TermHierarchy) -> list[tuple[int, int, str]]:
    """Where terms of the hierarchy stand, the longest first, not overlapping."""
    note = TextAtoms(text)
    found: list[tuple[int, int, str]] = []
    past = 0
    for at, _, start, _ in note.atoms:
        if at < past:
            continue
        for length in hierarchy.lengths:
            term = note.stream[at : at + length]
            if at + length in note.ends and term in hierarchy:
                past = at + length
                found.append((start, note.ends[past], term))
                break
    return found


@dataclass(frozen=True, slots=True)
class PlausibleColumn:
    """Notes with terms made general. A note for which t cannot be reached is withheld: it becomes None."""

    notes: tuple[str | None, ...]
    t: int
    changed: int
    withheld: int
    bits: float


def generalise_column(notes: Sequence[str | None], hierarchy: TermHierarchy, t: int) -> PlausibleColumn:
    """Each note on its own. One that names no term of the hierarchy has nothing to hide and stays."""
    made: list[str | None] = []
    changed = withheld = 0
    bits = 0.0
    for note in notes:
        if note is None or not _terms(note, hierarchy):
            made.append(note)
            continue
        try:
            done = generalise_terms(note, hierarchy, t)
        except Unreachable:
            withheld += 1
            made.append(None)
            continue
        changed += done.replaced > 0
        bits += done.bits
        made.append(done.text)
    return PlausibleColumn(tuple(made), t, changed, withheld, bits)


def explain_plausible(column: PlausibleColumn) -> str:
    """One sentence for those who decide."""
    return (
        f"Each of {counted(len(column.notes) - column.withheld, 'note')} could have been at least {column.t:,} "
        f"different texts; terms were generalised in {column.changed:,}, and "
        f"{counted(column.withheld, 'note was', 'notes were')} withheld because no generalisation hides enough."
    )
