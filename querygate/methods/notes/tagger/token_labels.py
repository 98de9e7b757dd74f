"""Identifiers as labels of tokens and back: B-NAME begins one, I-NAME goes on, O is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from querygate.methods.notes.spans import IdentifierKind, TextSpan
from querygate.methods.notes.tagger.token_signs import Token

NONE = "O"
RULE = "learned"


@dataclass(frozen=True, slots=True)
class LabelledNote:
    """A text, and where its identifiers are: from, to, kind."""

    text: str
    marked: tuple[tuple[int, int, IdentifierKind], ...]

    def __repr__(self) -> str:  # it may end in a log; its text never does
        return f"LabelledNote({len(self.text)} characters, {len(self.marked)} marked)"


def labels_of(tokens: Sequence[Token], note: LabelledNote) -> list[str]:
    """
    >>> from querygate.methods.notes.tagger.token_signs import tokens_of
    >>> note = LabelledNote("Saw Jane Doe.", ((4, 12, IdentifierKind.NAME),))
    >>> labels_of(next(tokens_of(note.text)), note)
    ['O', 'B-NAME', 'I-NAME', 'O']
    """
    labels, before = [], None
    for token in tokens:
        mark = next((one for one in note.marked if one[0] < token.end and token.start < one[1]), None)
        labels.append(NONE if mark is None else f"{'I' if mark == before else 'B'}-{mark[2]}")
        before = mark
    return labels


def spans_of_labels(tokens: Sequence[Token], labels: Sequence[str]) -> Iterator[TextSpan]:
    """A span for each run of labels of one kind; signs at its end are left out."""
    run: list[Token] = []
    kind = ""
    for token, label in zip([*tokens, None], [*labels, NONE], strict=True):
        place, _, named = label.partition("-")
        if run and (place != "I" or named != kind):
            while run and not run[-1].text[0].isalnum():
                run.pop()
            if run:
                yield TextSpan(run[0].start, run[-1].end, IdentifierKind(kind), RULE)
            run = []
        if token is not None and label != NONE:
            kind = named
            run.append(token)
