"""The table of contents, as the first page has it: one list of pages, written once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from querygate.web.manual.library import Library
from querygate.web.manual.markup import parse, plain


@dataclass(frozen=True, slots=True)
class Entry:
    title: str
    name: str


@dataclass(frozen=True, slots=True)
class Chapter:
    title: str
    entries: tuple[Entry, ...]


def make_contents(library: Library) -> list[Chapter]:
    """Chapters are the second headings of the first page, entries its links to pages. Where somebody has left the pages
    out there is nothing to list, and a gate serves all the same.
    """
    if _FIRST not in library.documents:
        return []
    chapters: list[Chapter] = []
    for title, entries in _walk(library):
        chapters.append(Chapter(title, tuple(entries)))
    return [chapter for chapter in chapters if chapter.entries]


def _walk(library: Library) -> Iterator[tuple[str, list[Entry]]]:
    first = library.documents[_FIRST]
    title, entries = "", list[Entry]()
    tokens = parse(first.text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            yield title, entries
            title, entries = plain(tokens[place + 1]), []
        elif token.type == "inline" and title:
            for child, following in zip(token.children or (), (token.children or ())[1:], strict=False):
                if child.type == "link_open":
                    name = library.follow(first, str(child.attrs["href"]), str)
                    if name is not None:
                        entries.append(Entry(following.content, name))
    yield title, entries


_FIRST: Final = ""
