"""Other places for places: streets stay streets, hospitals hospitals, and states what they are."""

from __future__ import annotations

import re
from collections.abc import Callable

from querygate.methods.notes.lexicon import is_state_or_country, last_names, plain_cities
from querygate.methods.notes.natural.keyed_choice import KeyedChoice
from querygate.methods.notes.natural.names import NaturalNames, like
from querygate.methods.notes.natural.shapes import shaped
from querygate.methods.notes.note_text import letters_and_digits, listed
from querygate.methods.notes.written_forms import STREET_WORDS

_FACILITY_WORDS = frozenset(
    listed(
        "hospital hospitals clinic clinics infirmary medical center centre group hospice nursing home care health "
        "system healthcare cancer rehab rehabilitation surgery university college school high middle elementary "
        "academy church pharmacy prison jail county parish township country club airport shelter general regional "
        "memorial community city town village borough of the and for at in zip code"
    )
)
_STREETS = STREET_WORDS - frozenset(listed("n s e w nw ne sw se"))
_SAINTS = frozenset(listed("st saint san santa"))
_STATES = frozenset(
    listed(
        "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK "
        "OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC PR"
    )
)
_TOKEN = re.compile(r"(?P<number>\d+)|(?P<word>[^\W\d_]+)(?P<genitive>['’]s\b)?")


class NaturalPlaces:
    """The places in one person's notes. `is_own` says what is a value of the person's own columns, and may not stay."""

    def __init__(self, choice: KeyedChoice, names: NaturalNames, is_own: Callable[[str], bool]) -> None:
        self._choice, self._names, self._is_own = choice, names, is_own

    def of(self, found: str, saint: bool, attempt: int) -> str:
        """`found` with other names. `saint`: is it called after one, as the word before it says?"""
        tokens = list(_TOKEN.finditer(found))
        made, at, place = [], 0, 0
        while place < len(tokens):
            upto = self._run(found, tokens, place)
            first, last = tokens[place], tokens[max(place, upto - 1)]
            made.append(found[at : first.start()])
            if first["number"]:
                made.append(shaped(first.group(), self._choice, "place", attempt))
            elif upto == place:
                made.append(first.group())  # a street word, a state
            else:
                made.append(self._other(tokens, place, upto, saint, attempt))
            at, place = last.end(), max(upto, place + 1)
        text = "".join((*made, found[at:]))
        return text if text != found else self._instead(found, attempt)

    def _run(self, found: str, tokens: list[re.Match[str]], place: int) -> int:
        """Where the words end that are one name from here: they stand beside each other, and none stays."""
        upto = place
        while upto < len(tokens) and not tokens[upto]["number"] and not self._stays(tokens[upto]["word"]):
            if upto > place and found[tokens[upto - 1].end() : tokens[upto].start()] not in (" ", "-"):
                break
            upto += 1
        return upto

    def _other(self, tokens: list[re.Match[str]], place: int, upto: int, saint: bool, attempt: int) -> str:
        words = [token["word"] for token in tokens[place:upto]]
        folded = letters_and_digits(" ".join(words))
        before = tokens[place - 1].group().lower() if place else ""
        after = tokens[upto].group().lower() if upto < len(tokens) else ""
        if (before in _SAINTS or (saint and not place)) and after not in _STREETS:
            name = self._names.word(letters_and_digits(words[0]), first=True, attempt=attempt)
        elif after in _STREETS or before in ("rue", "via", "calle", "rua"):
            name = self._choice.pick(_family_names(), "street", folded, attempt)
        else:
            name = self._choice.pick(plain_cities(), "city", folded, attempt)
        return like(words[0], name) + (tokens[upto - 1]["genitive"] or "")

    def _stays(self, word: str) -> bool:
        folded = letters_and_digits(word)
        common = folded in _STREETS or folded in _FACILITY_WORDS or word in _STATES or is_state_or_country(folded)
        return common and not self._is_own(folded)

    def _instead(self, found: str, attempt: int) -> str:
        """For a place of common words alone."""
        kind = next((word for word in ("Hospital", "Clinic", "School", "Church") if word.lower() in found.lower()), "")
        name = self._choice.pick(plain_cities(), "city", letters_and_digits(found), attempt).title()
        return f"{name} {kind}".strip()


def words_that_stay(folded: str) -> bool:
    """Words of a place that name none: they may stand in its replacement too."""
    return folded in _STREETS or folded in _FACILITY_WORDS or folded in STREET_WORDS or is_state_or_country(folded)


def _family_names() -> tuple[str, ...]:
    return tuple(sorted(last_names()))
