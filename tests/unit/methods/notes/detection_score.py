"""How well identifiers are found, on annotated notes: precision, recall and F1 by kind.

Three ways to count. *Overlap*: an annotated span is found if a found one touches it. *Exact*: both have the same ends.
*Token*: words and numbers are counted one by one. Recall is of removal: what is found as another kind is gone all the
same; `same_kind` says how much was also called by its kind. Precision counts a found span as right if it touches an
annotated one of any kind. What may go but need not (`kind` is None: employers, a bare year) counts neither way.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from querygate.methods.notes.spans import IdentifierKind, TextSpan

_TOKEN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Annotation:
    """What a person marked: characters `start` to `end`, and what they are; no kind if they may stay or go."""

    start: int
    end: int
    kind: IdentifierKind | None


@dataclass(slots=True)
class _Tally:
    annotated: int = 0
    touched: int = 0
    exact: int = 0
    same_kind: int = 0
    tokens: int = 0
    tokens_gone: int = 0
    found: int = 0
    right: int = 0
    right_exact: int = 0
    found_tokens: int = 0
    right_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Score:
    """One kind, or all of them."""

    annotated: int
    found: int
    recall: float
    precision: float
    f1: float
    exact_recall: float
    exact_precision: float
    exact_f1: float
    token_recall: float
    token_precision: float
    token_f1: float
    same_kind: float


def score(notes: Iterable[tuple[str, Sequence[Annotation], Sequence[TextSpan]]]) -> dict[IdentifierKind | None, Score]:
    """Scores by kind, and under None over all, of notes with what was marked and what was found.

    >>> marked = [Annotation(0, 8, IdentifierKind.NAME), Annotation(14, 18, IdentifierKind.DATE)]
    >>> scores = score([("Jane Doe, born 1980", marked, [TextSpan(0, 4, IdentifierKind.NAME, "name in dictionary")])])
    >>> name = scores[IdentifierKind.NAME]
    >>> name.recall, name.exact_recall, name.token_recall, scores[None].recall
    (1.0, 0.0, 0.5, 0.5)
    """
    tallies: dict[IdentifierKind | None, _Tally] = defaultdict(_Tally)
    for text, marked, found in notes:
        tokens = [match.span() for match in _TOKEN.finditer(text)]
        for annotation in marked:
            if annotation.kind is not None:
                for key in (annotation.kind, None):
                    _count_annotation(tallies[key], annotation, found, tokens)
        for span in found:
            touching = [a for a in marked if a.start < span.end and span.start < a.end]
            if touching and all(a.kind is None for a in touching):
                continue
            for key in (span.kind, None):
                _count_found(tallies[key], span, touching, tokens)
    return {kind: _score(tally) for kind, tally in sorted(tallies.items(), key=lambda item: str(item[0] or "~"))}


def _count_annotation(
    tally: _Tally, marked: Annotation, found: Sequence[TextSpan], tokens: list[tuple[int, int]]
) -> None:
    touching = [s for s in found if s.start < marked.end and marked.start < s.end]
    inside = list(_within(tokens, marked.start, marked.end))
    tally.annotated += 1
    tally.touched += bool(touching)
    tally.exact += any((s.start, s.end) == (marked.start, marked.end) for s in touching)
    tally.same_kind += any(s.kind is marked.kind for s in touching)
    tally.tokens += len(inside)
    tally.tokens_gone += sum(any(s.start < b and a < s.end for s in touching) for a, b in inside)


def _count_found(tally: _Tally, span: TextSpan, touching: Sequence[Annotation], tokens: list[tuple[int, int]]) -> None:
    inside = list(_within(tokens, span.start, span.end))
    tally.found += 1
    tally.right += bool(touching)
    tally.right_exact += any((a.start, a.end) == (span.start, span.end) for a in touching)
    tally.found_tokens += len(inside)
    tally.right_tokens += sum(any(m.start < b and a < m.end for m in touching) for a, b in inside)


def _within(tokens: list[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    return ((a, b) for a, b in tokens if a < end and start < b)


def _score(tally: _Tally) -> Score:
    recall, precision = _ratio(tally.touched, tally.annotated), _ratio(tally.right, tally.found)
    exact_recall, exact_precision = _ratio(tally.exact, tally.annotated), _ratio(tally.right_exact, tally.found)
    token_recall = _ratio(tally.tokens_gone, tally.tokens)
    token_precision = _ratio(tally.right_tokens, tally.found_tokens)
    return Score(
        annotated=tally.annotated,
        found=tally.found,
        recall=recall,
        precision=precision,
        f1=_f1(recall, precision),
        exact_recall=exact_recall,
        exact_precision=exact_precision,
        exact_f1=_f1(exact_recall, exact_precision),
        token_recall=token_recall,
        token_precision=token_precision,
        token_f1=_f1(token_recall, token_precision),
        same_kind=_ratio(tally.same_kind, tally.annotated),
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _f1(recall: float, precision: float) -> float:
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0
