"""A note as the finders read it: letters folded, words and atoms with their places in the original.

Folding is for comparing: case, accents, full-width forms, ligatures and invisible characters do not count. Every folded
character remembers the original one it came from.

An *atom* is a run of letters or a run of digits; each ideograph and each kana is an atom of its own, since those
scripts have no spaces between words. A value is found where a run of atoms, written together, equals it: then dots,
dashes, spaces and line breaks in between do not matter.

>>> note = TextAtoms("Tel. (555) 867.5309, MRN00112233")
>>> note.stream, [note.stream[a:b] for a, b, _, _ in note.atoms]
('tel5558675309mrn00112233', ['tel', '555', '867', '5309', 'mrn', '00112233'])
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import lru_cache
from itertools import accumulate

_SINGLE = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_ATOM = re.compile(rf"[{_SINGLE}]|\d+|[^\W\d_{_SINGLE}]+")
_ASCII_ATOM = re.compile(r"[0-9]+|[a-z]+")
_LIGATURES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)

# One character for one, so that places stay: full-width forms, spaces and dashes of every width, curly quotes.
_WIDTHS = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SPACES = dict.fromkeys([0x3000, 0xA0, 0x2007, 0x2009, 0x202F], " ")
_DASHES = dict.fromkeys([0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212], "-")
_QUOTES = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'}
_PLAIN: dict[int, int | str] = {**_WIDTHS, **_SPACES, **_DASHES, **_QUOTES}


def listed(words: str) -> tuple[str, ...]:
    """A list of words, written as one text.

    >>> listed("dr mr mrs")
    ('dr', 'mr', 'mrs')
    """
    return tuple(words.split())


def plain(text: str) -> str:
    """The text with ordinary widths, spaces, dashes and quotes; of the same length."""
    return text if text.isascii() else text.translate(_PLAIN)


_IDEOGRAPHS = re.compile(f"[{_SINGLE}\u3000-\u303f]")


def without_ideographs(text: str) -> str:
    """The text with `。` for each ideograph or kana, of the same length: words of other scripts then have ends."""
    return text if text.isascii() else _IDEOGRAPHS.sub("。", text)


@lru_cache(maxsize=4096)
def _fold_character(character: str) -> str:
    apart = unicodedata.normalize("NFKD", character).casefold().translate(_LIGATURES)
    return "".join(c for c in apart if not unicodedata.combining(c) and unicodedata.category(c) != "Cf")


def fold(text: str) -> str:
    """The text for comparing.

    >>> fold("Müller-Lüdenscheidt, ＮＯＲＡ")
    'muller-ludenscheidt, nora'
    """
    return text.lower() if text.isascii() else "".join(map(_fold_character, text))


def letters_and_digits(text: str) -> str:
    """The folded value without anything between its atoms.

    >>> letters_and_digits("O'Brien, Mary-Ann"), letters_and_digits("(555) 867-5309")
    ('obrienmaryann', '5558675309')
    """
    return "".join(_ATOM.findall(fold(text)))


def atoms_of(text: str) -> list[str]:
    """The folded atoms of a value."""
    return _ATOM.findall(fold(text))


class TextAtoms:
    """The atoms of a text: `(from, to)` in `stream`, where they are written together, and `(start, "
    "end)` in the text."""

    __slots__ = ("atoms", "ends", "stream")

    def __init__(self, text: str) -> None:
        if text.isascii():
            lower = text.lower()
            found = [m.span() for m in _ASCII_ATOM.finditer(lower)]
            pieces = [lower[a:b] for a, b in found]
        else:
            folded = [_fold_character(c) for c in text]
            origin = [i for i, piece in enumerate(folded) for _ in piece]
            joined = "".join(folded)
            matches = list(_ATOM.finditer(joined))
            found = [(origin[m.start()], origin[m.end() - 1] + 1) for m in matches]
            pieces = [m.group() for m in matches]
        places = [0, *accumulate(map(len, pieces))]
        self.stream = "".join(pieces)
        self.atoms = [(places[i], places[i + 1], a, b) for i, (a, b) in enumerate(found)]
        self.ends = {to: end for _, to, _, end in self.atoms}

    def touching(self, at: int, to: int) -> list[tuple[int, int, int, int]]:
        """The atoms that hold these characters of the stream."""
        first = bisect_right(self.atoms, (at, len(self.stream) + 1, 0, 0)) - 1
        last = bisect_left(self.atoms, (to, 0, 0, 0))
        return self.atoms[first:last]
