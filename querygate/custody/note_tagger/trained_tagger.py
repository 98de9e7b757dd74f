"""A conditional random field that labels the tokens of notes (CRFsuite): trained, written, read, and used as a finder.

The file begins with a line of ours and the hash of what follows: CRFsuite reads a broken model without a word and fails
in C. Learned taggers for notes: HIDE (Gardner, Xiong 2008) and others used conditional random fields.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from querygate.core.errors import ConfigError
from querygate.core.progress import Progress, no_progress
from querygate.methods.notes.spans import TextSpan
from querygate.methods.notes.tagger import LabelledNote, labels_of, signs_of, spans_of_labels, tokens_of

HEAD = b"QueryGate tagger 1\n"
ROUNDS = 80
_SETTINGS = {"c1": 0.05, "c2": 0.02, "max_iterations": ROUNDS, "feature.minfreq": 2}
_NOT_ONE = "Write one with `querygate notes train`."


class TrainedTagger:
    """Finds identifiers as it has learned to: one more finder beside the rules."""

    def __init__(self, model: bytes) -> None:
        self._model = model  # CRFsuite reads it where it lies
        self._tagger: Any = _library().Tagger()
        self._tagger.open_inmemory(model)

    def __call__(self, text: str) -> Iterator[TextSpan]:
        for tokens in tokens_of(text):
            yield from spans_of_labels(tokens, self._tagger.tag(signs_of(tokens)))

    @classmethod
    def read(cls, path: Path) -> TrainedTagger:
        """From a file; QG806 where it is none, or was changed."""
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ConfigError("QG806", f"The tagger {path} cannot be read: {error.strerror}.", _NOT_ONE) from None
        digest, _, model = content.removeprefix(HEAD).partition(b"\n")
        if not content.startswith(HEAD) or digest != hashlib.sha256(model).hexdigest().encode():
            raise ConfigError("QG806", f"{path} is not a tagger, or was changed.", _NOT_ONE)
        return cls(model)


def train(notes: Iterable[LabelledNote], progress: Progress = no_progress) -> bytes:
    """The content of a tagger's file, learned from these notes; the same for the same notes."""
    trainer = _library().Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(_SETTINGS)
    marked = 0
    for note in notes:
        marked += len(note.marked)
        for tokens in tokens_of(note.text):
            trainer.append(signs_of(tokens), labels_of(tokens, note))
    if not marked:
        raise ConfigError("QG806", "No identifier is marked in the notes: nothing can be learned.", "Mark some.")
    progress("learning")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        trainer.train(str(path))
        model = path.read_bytes()
    return HEAD + hashlib.sha256(model).hexdigest().encode() + b"\n" + model


def _library() -> ModuleType:
    try:
        import pycrfsuite
    except ImportError:
        raise ConfigError(
            "QG804",
            "The library for learned taggers is not installed.",
            "Install it with: pip install 'querygate[tagger]'.",
        ) from None
    return pycrfsuite  # type: ignore[no-any-return]
