"""Other names for names: of the same sex where the first name tells it, with the same initials for the same initials.

Every letter has another letter in the notes of one person, so that `J. Doe`, `Jane` and `Doe, Jane` become one person's
name again without any list of who was met. No name keeps its initial, so none becomes itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from querygate.methods.notes.identifier_values import one_slip
from querygate.methods.notes.lexicon import first_names_of, is_first_name, last_names, sex_of
from querygate.methods.notes.natural.keyed_choice import KeyedChoice
from querygate.methods.notes.note_text import fold, letters_and_digits
from querygate.methods.notes.spans import IdentifierKind
from querygate.methods.notes.written_forms import TITLES, distinctive

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
SALTS = 100
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_INITIALS = "abcdefghijklmnprstvw"  # with at least ten names of either sex and ten last names each
_LONG = 5  # letters from which on one slip is a misspelling


@cache
def _starting(names: Callable[[], frozenset[str]], letter: str) -> tuple[str, ...]:
    return tuple(sorted(name for name in names() if name[0] == letter))


def _women() -> frozenset[str]:
    return first_names_of("women")


def _men() -> frozenset[str]:
    return first_names_of("men")


def _anybody() -> frozenset[str]:
    return _women() | _men()


class NaturalNames:
    """The names in one person's notes. `own` are the parts of that person's name, first names first; `taken` says of a
    whole name, its letters alone, whether somebody in the file has it."""

    def __init__(self, choice: KeyedChoice, own: Sequence[str], taken: Callable[[str], bool]) -> None:
        self._choice = choice
        self._letters = _other_letters(choice)
        self._own = dict(zip(own, _roles(own), strict=True))
        self._salt = next((salt for salt in range(SALTS) if not self._is_taken(salt, taken)), 0)

    def of(self, found: str, titled: bool, attempt: int) -> str:
        """`found` with other names. Titles, degrees and particles stay."""
        words = [word for word in WORD.finditer(found) if not self._stays(letters_and_digits(word.group()))]
        made, at = [], 0
        for word, first in zip(words, _first_names(found, words, titled), strict=True):
            made += [
                found[at : word.start()],
                like(word.group(), self.word(letters_and_digits(word.group()), first, attempt)),
            ]
            at = word.end()
        return "".join((*made, found[at:]))

    def word(self, folded: str, first: bool, attempt: int = 0) -> str:
        """The name for one name, in small letters."""
        if len(folded) == 1:
            return self._letters.get(folded, "m")
        known = self._known(folded)
        if known:
            return self._named(known, self._own[known], self._salt + attempt)
        return self._named(folded, first, attempt)

    def _named(self, folded: str, first: bool, salt: int) -> str:
        letter = self._letters.get(folded[0], "m")
        pool = _starting(_pool(folded), letter) if first else _starting(last_names, letter)
        options = [name for name in pool if name not in self._own] or list(pool)
        return self._choice.pick(options, "first name" if first else "last name", folded, salt)

    def _known(self, folded: str) -> str:
        """The part of the person's own name that this is, misspelt or not."""
        if folded in self._own:
            return folded
        return next((part for part in self._own if len(part) >= _LONG and one_slip(folded, part)), "")

    def _stays(self, folded: str) -> bool:
        return folded in TITLES and len(folded) > 1 and folded not in self._own

    def _is_taken(self, salt: int, taken: Callable[[str], bool]) -> bool:
        whole = " ".join(self._named(part, first, salt) for part, first in self._own.items())
        return any(map(taken, distinctive(IdentifierKind.NAME, whole)))


def _first_names(found: str, words: Sequence[re.Match[str]], titled: bool) -> list[bool]:
    """Which of them are first names: the last is none, before a comma the first; parts joined by a dash are alike."""
    if len(words) == 1:
        return [not titled and is_first_name(letters_and_digits(words[0].group()))]
    family = 0 if "," in found else len(words) - 1
    made = [place != family for place in range(len(words))]
    for place in range(len(words) - 2, -1, -1):
        if found[words[place].end() : words[place + 1].start()] == "-":
            made[place] = made[place + 1] = made[place] and made[place + 1]
    return made


def _pool(folded: str) -> Callable[[], frozenset[str]]:
    sex = sex_of(folded)
    return _anybody if not sex else _women if sex == "women" else _men


def _roles(own: Sequence[str]) -> list[bool]:
    """Which parts are first names: all but the last, unless the dictionary says that the order is the other one."""
    if len(own) < 2:
        return [is_first_name(part) for part in own]
    turned = is_first_name(own[-1]) and not is_first_name(own[0])
    family = 0 if turned else len(own) - 1
    return [place != family for place in range(len(own))]


def _other_letters(choice: KeyedChoice) -> dict[str, str]:
    """For each letter the next one, in an order of the person's own, that enough names begin with."""
    order = sorted(_ALPHABET, key=lambda letter: choice.number("letter", letter))
    twice = order + order
    return {
        letter: next(other for other in twice[at + 1 :] if other in _INITIALS and other != letter)
        for at, letter in enumerate(order)
    }


def like(written: str, name: str) -> str:
    """The name as the other one is written: in capitals, in small letters, or with a capital.

    >>> like("DOE", "chen"), like("Doe", "chen"), like("doe", "chen"), like("J", "m")
    ('CHEN', 'Chen', 'chen', 'M')
    """
    if written.islower():
        return name
    return name.upper() if written.isupper() and len(written) > 1 else name.title()


def is_latin(text: str) -> bool:
    """Are all its letters Latin ones, with or without accents? Names of other scripts have no list here."""
    return all(letter.isascii() or not letter.isalpha() for letter in fold(text))
