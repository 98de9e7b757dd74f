"""What a learned tagger sees of a note and says of it; the learning itself is a library's, in the custodian's rooms."""

from __future__ import annotations

from querygate.methods.notes.tagger.generated_notes import generated_notes
from querygate.methods.notes.tagger.token_labels import LabelledNote, labels_of, spans_of_labels
from querygate.methods.notes.tagger.token_signs import Token, signs_of, tokens_of

__all__ = ["LabelledNote", "Token", "generated_notes", "labels_of", "signs_of", "spans_of_labels", "tokens_of"]
