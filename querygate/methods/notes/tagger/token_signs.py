"""The tokens of a note and what is known of each: a model learns which of these signs go with which identifier.

A word is told as it is only if it is ordinary English or medicine; of all others the shape, what the dictionaries say,
and the ending. So a model holds no name, whatever notes it was trained on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from querygate.methods.notes.lexicon import (
    is_city,
    is_eponym,
    is_first_name,
    is_last_name,
    is_state_or_country,
    is_word,
    sex_of,
)
from querygate.methods.notes.note_text import fold, plain
from querygate.methods.notes.written_forms import STREET_WORDS, TITLES

LONGEST_SENTENCE = 120
"""Tokens that are read together: longer lines are read in parts."""

_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|[^\w\s]|_")
_ENDING_OF = 5  # letters from which on a word tells its ending: an ending is no name
_AROUND = 2


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a sign, and where it stands."""

    text: str
    start: int
    end: int


def tokens_of(text: str) -> Iterator[list[Token]]:
    """The tokens of each line, in parts that are not too long."""
    read = plain(text)
    line: list[Token] = []
    for match in _TOKEN.finditer(read):
        token = Token(match.group(), match.start(), match.end())
        apart = line and "\n" in read[line[-1].end : token.start]
        if apart or len(line) == LONGEST_SENTENCE:
            yield line
            line = []
        line.append(token)
    if line:
        yield line


def signs_of(tokens: Sequence[Token]) -> list[list[str]]:
    """Of each token: its own signs, and those of its neighbours with how far away they stand.

    >>> [one for one in signs_of(list(tokens_of("Dr. Yefremova"))[0])[2] if one.startswith("0:")]
    ['0:shape=Xx', '0:long', '0:last', '0:end=ova', '0:end=va']
    """
    alone = [_signs(token.text) for token in tokens]
    made = []
    for at in range(len(tokens)):
        signs = ["bias"]
        for step in range(-_AROUND, _AROUND + 1):
            if 0 <= at + step < len(tokens):
                signs += [f"{step}:{sign}" for sign in alone[at + step]]
            else:
                signs.append(f"{step}:edge")
        made.append(signs)
    return made


@lru_cache(maxsize=1 << 15)
def _signs(text: str) -> tuple[str, ...]:
    if text.isdigit():
        return (f"digits={min(len(text), 9)}", *([f"number={text}"] if len(text) < 3 else []))
    folded = fold(text)
    if not text[0].isalpha():
        return (f"sign={text}",)
    signs = [f"shape={_shape(text)}", "long" if len(text) > 3 else f"letters={len(text)}"]
    if is_word(folded) or folded in TITLES or folded in STREET_WORDS:
        signs.append(f"word={folded}")
    known = {
        sex_of(folded) or "first": is_first_name(folded),
        "last": is_last_name(folded),
        "city": is_city(folded),
        "state": is_state_or_country(folded),
        "eponym": is_eponym(folded),
    }
    signs += [name for name, applies in known.items() if applies]
    if len(folded) >= _ENDING_OF:
        signs += [f"end={folded[-3:]}", f"end={folded[-2:]}"]
    return tuple(signs)


def _shape(word: str) -> str:
    """X, XX, Xx, x or mixed."""
    if word.isupper():
        return "X" if len(word) == 1 else "XX"
    if word.islower():
        return "x"
    return "Xx" if word[0].isupper() and word[1:].islower() else "mixed"
