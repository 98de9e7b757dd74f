"""Finding words in the pages: a section is found if all words begin somewhere in it or above it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from querygate.web.manual.library import Document
from querygate.web.manual.markup import Anchors, strip_marks

MOST_FOUND: Final = 30
MOST_WORDS: Final = 8
_HEADING: Final = re.compile(r"#{1,6}\s+(.+?)\s*$")
_WORD: Final = re.compile(r"[\w.]+")
_LEFT, _RIGHT = 60, 140

# How much a word counts for where it stands; decisions and proofs are for few, and come after pages for all.
_IN_TITLE, _IN_HEADING, _IN_TEXT = 8, 5, 1
_LATE: Final = ("decisions/", "explanation/proofs/", "reference/map", "changelog")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page below one heading."""

    page: str
    title: str
    anchor: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    section: Section
    before: str
    word: str
    after: str


def make_sections(document: Document) -> Iterator[Section]:
    """A page, cut at its headings."""
    anchors = Anchors()
    for heading, lines in _cut(document.text):
        text = strip_marks(" ".join(lines))
        yield Section(document.name, document.title, anchors.spell(heading), strip_marks(heading), text)


def _cut(text: str) -> list[tuple[str, list[str]]]:
    """Each heading with the lines below it; what stands above the first belongs to none."""
    parts: list[tuple[str, list[str]]] = []
    is_code = False
    for line in text.splitlines():
        is_code = is_code != line.startswith("```")
        heading = None if is_code else _HEADING.match(line)
        if heading:
            parts.append((heading[1], []))
        elif parts:
            parts[-1][1].append(line)
    return parts


def split_words(asked: str) -> list[str]:
    """The words to look for.

    >>> split_words("  GROUP by, QG204? ")
    ['group', 'by', 'qg204']
    """
    return [word.strip(".") for word in _WORD.findall(asked.lower()) if word.strip(".")][:MOST_WORDS]


def find(sections: Iterable[Section], asked: str) -> list[Found]:
    """Sections with all of the words, best first."""
    words = split_words(asked)
    if not words:
        return []
    starts = [re.compile(rf"\b{re.escape(word)}", re.IGNORECASE) for word in words]
    rated = [(_rate(section, starts), section) for section in sections]
    best = sorted((pair for pair in rated if pair[0] > 0), key=lambda pair: -pair[0])[:MOST_FOUND]
    return [_show(section, starts) for _, section in best]


def _rate(section: Section, starts: list[re.Pattern[str]]) -> float:
    total = 0.0
    for start in starts:
        in_text = len(start.findall(section.text))
        points = (
            _IN_TITLE * bool(start.search(section.title))
            + _IN_HEADING * bool(start.search(section.heading))
            + _IN_TEXT * in_text / (1 + in_text)
        )
        if not points:
            return 0
        total += points
    if section.heading == section.title and any(start.search(section.title) for start in starts):
        total += _IN_HEADING  # a page about it comes before its parts
    return total / 4 if section.page.startswith(_LATE) else total


def _show(section: Section, starts: list[re.Pattern[str]]) -> Found:
    """The first place in the text with one of the words, and what stands around it."""
    places = [place for start in starts if (place := start.search(section.text))]
    if not places:
        return Found(section, "", "", section.text[: _LEFT + _RIGHT])
    first = min(places, key=lambda place: place.start())
    left = section.text[max(0, first.start() - _LEFT) : first.start()]
    before = left if first.start() <= _LEFT else "… " + left.partition(" ")[2]
    return Found(section, before, first[0], section.text[first.end() : first.end() + _RIGHT])
