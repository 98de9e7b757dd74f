"""A learned tagger beside the rules, on sentences whose templates it has not seen.

HIDE (Gardner & Xiong 2008) labels pathology reports with a conditional random field; those reports are not public. Here
it learns from 2,000 made-up notes, with and without sentences of presidio-research of even templates, which stand for
a custodian's own labelled notes, and is measured on those of odd templates. An identifier counts as removed if none of
its letters and digits is left.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from querygate.custody.note_tagger.tagger_recall import TaggerRecall, measure_recall
from querygate.custody.note_tagger.trained_tagger import TrainedTagger, train
from querygate.methods.notes.tagger import LabelledNote, generated_notes
from tests.bench.literature import figure
from tests.unit.methods.notes.corpora import presidio

NOTES = 2_000
PUBLISHED = "about 97 % (100 pathology reports)"


def rows() -> list[dict[str, Any]]:
    own, apart = labelled(0), labelled(1)
    made = list(generated_notes(NOTES, random.Random(1)))
    found = []
    for name, notes in (("made-up notes", made), ("made-up notes and 750 labelled sentences", [*own, *made])):
        found += _rows(name, measure_recall(apart, trained(notes)))
    return found


def labelled(half: int) -> list[LabelledNote]:
    """Sentences of even or of odd templates. What may go or stay is not marked."""
    return [
        LabelledNote(text, tuple((one.start, one.end, one.kind) for one in marked if one.kind is not None))
        for template, text, marked in presidio()
        if template % 2 == half
    ]


def trained(notes: list[LabelledNote]) -> TrainedTagger:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tagger"
        path.write_bytes(train(notes))
        return TrainedTagger.read(path)


def _rows(name: str, found: TaggerRecall) -> list[dict[str, Any]]:
    lines = []
    everything = [sum(getattr(kind, way) for kind in found.kinds) for way in ("marked", "rules", "learned", "both")]
    for label, marked, rules, learned, both in (
        *((one.kind.lower(), one.marked, one.rules, one.learned, one.both) for one in found.kinds[:2]),
        ("all", *everything),
    ):
        for way, count in (("rules", rules), ("tagger", learned), ("both", both)):
            met = both >= max(rules, learned) if way == "both" else None
            lines.append(figure(f"{label} removed by {way}, {name}", 100 * count / marked, "%", PUBLISHED, met=met))
    lines.append(figure(f"removed though not marked, both, {name}", found.vain_both, "pieces", "-"))
    lines.append(figure("removed though not marked, rules", found.vain_rules, "pieces", "-"))
    return lines
