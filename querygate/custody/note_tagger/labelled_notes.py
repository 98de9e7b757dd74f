"""Notes in which somebody has marked the identifiers: lines of JSON, one for each note."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from querygate.core.errors import ConfigError
from querygate.methods.notes import IdentifierKind
from querygate.methods.notes.scrub import LONGEST
from querygate.methods.notes.tagger import LabelledNote

FORM = 'Write {"text": "Saw Jane Doe.", "spans": [{"start": 4, "end": 12, "kind": "name"}]} on each line.'


def read_labelled(path: Path) -> list[LabelledNote]:
    """The notes of a file; QG806 says in which line what is wrong, and never what stands there."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise ConfigError("QG806", f"{path} cannot be read: {reason}.", FORM) from None
    notes = [_note(line, number, path) for number, line in enumerate(lines, 1) if line.strip()]
    if not notes:
        raise ConfigError("QG806", f"{path} has no note.", FORM)
    return notes


def _note(line: str, number: int, path: Path) -> LabelledNote:
    try:
        body = json.loads(line)
        text, spans = body["text"], tuple(_spans(body["spans"]))
        overlap = any(one[1] > other[0] for one, other in pairwise(spans))
        if not isinstance(text, str) or len(text) > LONGEST or overlap or (spans and spans[-1][1] > len(text)):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ConfigError("QG806", f"Line {number} of {path} is not a labelled note.", FORM) from None
    return LabelledNote(text, spans)


def _spans(raw: list[dict[str, Any]]) -> Iterator[tuple[int, int, IdentifierKind]]:
    for start, end, kind in sorted((one["start"], one["end"], str(one["kind"])) for one in raw):
        if not (type(start) is type(end) is int and 0 <= start < end):
            raise ValueError
        yield start, end, IdentifierKind(kind.upper())
