"""How much of what is marked in notes is removed by the rules, by a tagger, and by both, which is what protects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from querygate.methods.notes import Scrubber
from querygate.methods.notes.finders import Finder
from querygate.methods.notes.spans import TextSpan
from querygate.methods.notes.tagger import LabelledNote

SECRET = bytes(16)  # nothing that is replaced here is kept


@dataclass(frozen=True)
class KindRecall:
    """Of the identifiers of one kind: how many are marked, and how many of them each removes to the last letter."""

    kind: str
    marked: int
    rules: int
    learned: int
    both: int


@dataclass(frozen=True)
class TaggerRecall:
    """By kind, and how many pieces are removed in vain: they touch nothing that is marked."""

    notes: int
    kinds: tuple[KindRecall, ...]
    vain_rules: int
    vain_both: int


def measure_recall(notes: Iterable[LabelledNote], learned: Finder) -> TaggerRecall:
    """Rules and dictionaries alone, since such notes have no columns beside them."""
    rules, both = Scrubber(SECRET), Scrubber(SECRET, learned=learned)
    ways: tuple[Callable[[str], Sequence[TextSpan]], ...] = (rules.find, lambda text: list(learned(text)), both.find)
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    vain, many = [0, 0, 0], 0
    for note in notes:
        many += 1
        for way, find in enumerate(ways):
            spans = find(note.text)
            gone = {at for span in spans for at in range(span.start, span.end)}
            vain[way] += sum(
                not any(span.start < end and start < span.end for start, end, _ in note.marked) for span in spans
            )
            for start, end, kind in note.marked:
                counts[kind][0] += not way
                counts[kind][way + 1] += all(at in gone or not note.text[at].isalnum() for at in range(start, end))
    kinds = tuple(KindRecall(kind, *counts[kind]) for kind in sorted(counts, key=lambda one: -counts[one][0]))
    return TaggerRecall(many, kinds, vain[0], vain[2])
