"""Runs of capitalised words, and what the dictionaries say of each: the ground on which names and places are found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from querygate.methods.notes.lexicon import (
    is_city,
    is_eponym,
    is_first_name,
    is_last_name,
    is_state_or_country,
    is_word,
)
from querygate.methods.notes.note_text import fold, listed

_LETTER = r"[^\W\d_\u3000-\u9fff]"  # scripts without capitals have finders of their own
_WORD = re.compile(rf"{_LETTER}{{1,40}}(?:['\-]{_LETTER}{{1,40}}){{0,3}}")
_ASCII_CAPITAL = re.compile(r"(?<![A-Za-z])(?<![A-Za-z]['\-])[A-Z][A-Za-z]{0,39}(?:['\-][A-Za-z]{1,40}){0,3}")
_GAP = re.compile(
    r"\.? {1,2}|\.(?=\w)|,? {1,2}(?:de|da|do|dos|del|della|di|du|van|von|der|den|ter|"
    r"la|le|al|el|bin|ibn|y|e|af|av|zu)(?: (?:la|las|los|der|den|het))? "
)
_SENTENCE = re.compile(r"(?:^|[.。!?:;\n\"(\[*•>]|- )[\s\"'(]*$")
_CALENDAR = frozenset(
    listed(
        "january february march april may june july august september october november december monday tuesday "
        "wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed "
        "thu fri sat sun"
    )
)
_ABBREVIATED = frozenset(
    listed("Dr Mr Mrs Ms Prof St Rev Sgt Capt Lt Col Jr Sr Ph")
)  # their full stop ends no sentence
_CONTRACTED = frozenset(listed("i'm i'd i'll i've c'mon o'clock y'all ma'am"))
_SHORT_CAPITALS = 6  # letters of an abbreviation at most
_PLACEHOLDERS = frozenset(listed("doe roe bloggs"))  # last names of whoever shall not be named
_GLUED_PARTS = re.compile(r"[A-Z][a-z]{2,39}")


@dataclass(frozen=True, slots=True)
class Word:
    """A capitalised word of a text."""

    start: int
    end: int
    text: str
    kind: str  # see kind_of


@lru_cache(maxsize=1 << 16)
def kind_of(text: str) -> str:
    """What a capitalised word may be: `maybe` is a name that is a word too, `large` a state or country.

    >>> [kind_of(word) for word in ("Elizabeth", "Will", "Yefremova", "Patient", "Estonia", "J", "XQZ", "Monday")]
    ['name', 'maybe', 'unknown', 'word', 'large', 'initial', 'acronym', 'calendar']
    >>> kind_of("JohnSmith"), kind_of("CarePlan"), kind_of("DUDLEY")
    ('name', 'unknown', 'unknown')
    """
    folded = fold(text).removesuffix("'s")
    if len(folded) == 1:
        return "word" if folded in "ai" else "initial"
    if text.lower() in _CALENDAR:
        return "calendar"
    named = is_eponym(folded) or any(
        is_first_name(part) or is_last_name(part) for part in (folded, folded.replace("'", ""), *folded.split("-"))
    )
    named = named or folded in _PLACEHOLDERS
    english = is_word(folded) and text.isascii()  # words with accents are rarely English
    if english or is_eponym(folded) or (named and len(folded) == 2 and text.isupper()):
        return "maybe" if named else "word"
    if is_state_or_country(folded):
        return "large"
    if named:
        return "name"
    if _is_glued_name(text):
        return "name"
    parts = folded.split("-")
    if text.isupper() and len(text) <= _SHORT_CAPITALS and not (len(text) > 4 and is_city(folded)):
        return "acronym"
    if len(parts) > 1 and all(is_word(p) or len(p) < 3 for p in parts):
        return "word"
    if "'" in folded and (is_word(folded.partition("'")[0]) or folded in _CONTRACTED):
        return "word"
    return "unknown"


def _is_glued_name(text: str) -> bool:
    """`JohnSmith`, `SmithDischarge`: capitalised words that have lost what stood between them, one of them a name."""
    parts = _GLUED_PARTS.findall(text)
    if len(parts) < 2 or "".join(parts) != text:
        return False
    kinds = [kind_of(part) for part in parts]
    return "name" in kinds or kinds.count("maybe") > 1


def runs(text: str) -> Iterator[list[Word]]:
    """Capitalised words that stand side by side, small particles of names between them allowed."""
    run: list[Word] = []
    for match in (_ASCII_CAPITAL if text.isascii() else _WORD).finditer(text):
        if not match.group()[0].isupper():
            continue
        if run and not _joined(text, run[-1], match.start()):
            yield run
            run = []
        found = match.group()
        end = match.end()
        if found.endswith(("'s", "'S")):
            found, end = found[:-2], end - 2
        run.append(Word(match.start(), end, found, kind_of(found)))
    if run:
        yield run


def _joined(text: str, last: Word, start: int) -> bool:
    gap = text[last.end : start]
    if len(gap) > 12 or not _GAP.fullmatch(gap):
        return False
    return "." not in gap or len(last.text) == 1 or last.text in _ABBREVIATED


def begins_sentence(text: str, start: int) -> bool:
    return _SENTENCE.search(text[max(0, start - 12) : start]) is not None


def is_shouted(text: str, run: list[Word]) -> bool:
    """Are the run and its line all in capitals, so that they tell nothing?"""
    if not all(word.text.isupper() for word in run):
        return False
    start, end = run[0].start, run[-1].end
    lead, rest = text[max(0, start - 300) : start], text[start : end + 40]
    line = lead.rpartition("\n")[2] + rest.partition("\n")[0]
    letters = [c for c in line if c.isalpha()]
    return len(letters) > 12 and sum(map(str.isupper, letters)) > 0.7 * len(letters)


def city_at(words: list[Word], at: int) -> int:
    """How many words from here on are the name of a city, or 0. Of more than one word it is taken as one."""
    for many in (3, 2, 1):
        if at + many <= len(words) and is_city(" ".join(fold(word.text) for word in words[at : at + many])):
            return many
    return 0
