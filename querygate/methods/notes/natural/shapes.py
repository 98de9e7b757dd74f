"""Other numbers of the same shape, and other addresses of mail and of the web.

A digit stands for a digit and a letter for a letter; what divides them stays. A number with and without its beginning
(leading zeros, an area code) ends alike, since the choices are made from its end.
"""

from __future__ import annotations

import re

from querygate.methods.notes.natural.keyed_choice import KeyedChoice
from querygate.methods.notes.natural.names import WORD, NaturalNames
from querygate.methods.notes.note_text import letters_and_digits
from querygate.methods.notes.spans import IdentifierKind

_LOCAL, _AREA = 7, 10
_DOMAINS = ("example.org", "example.com", "example.net")  # reserved (RFC 2606): nobody's mail, nobody's page
_LETTERS, _HEX = "abcdefghijklmnopqrstuvwxyz", "abcdef"


def shaped(found: str, choice: KeyedChoice, about: str, attempt: int, letters: str = _LETTERS) -> str:
    """Another number of this shape.

    >>> choice = KeyedChoice(b"a secret of the extract", "ann")
    >>> a, b = shaped("0011-2233", choice, "record", 0), shaped("112233", choice, "record", 0)
    >>> a.replace("-", "")[3:] == b[1:], a != "0011-2233", len(a)
    (True, True, 9)
    """
    value = letters_and_digits(found).lstrip("0")
    free, made = iter(choice.digits(len(found), about, value, attempt)), list(found)
    first = next((at for at, one in enumerate(found) if one.isdecimal()), -1)
    for at in range(len(found) - 1, -1, -1):
        one = found[at]
        if one.isdecimal():
            number = next(free)
            made[at] = str(1 + number % 9 if at == first and one != "0" else number % 10)
        elif one.isalpha():
            letter = letters[next(free) % len(letters)]
            made[at] = letter.upper() if one.isupper() else letter
    return "".join(made)


def phone(found: str, choice: KeyedChoice, attempt: int) -> str:
    """Another telephone number: the last seven digits, the area and the country are chosen apart, so that a number is
    the same with and without them. A word such as *ext* stays.

    >>> choice = KeyedChoice(b"a secret of the extract", "ann")
    >>> phone("(615) 555-1234", choice, 0)[-8:] == phone("555-1234", choice, 0)
    True
    """
    digits = re.sub(r"\D", "", found)
    chosen: list[int] = []
    for part in (digits[-_LOCAL:], digits[-_AREA:-_LOCAL], digits[:-_AREA]):
        numbers = choice.digits(len(part), "phone", part, attempt)
        chosen += [number % 10 for number in numbers[:-1]] + [2 + number % 8 for number in numbers[-1:]]
    free = iter(chosen)
    return "".join([str(next(free)) if one.isdecimal() else one for one in reversed(found)][::-1])


def address(found: str, kind: IdentifierKind, choice: KeyedChoice, names: NaturalNames, attempt: int) -> str:
    """Another address of mail, of the web or of a network, where nobody is."""
    key = letters_and_digits(found)
    domain = choice.pick(_DOMAINS, "domain", key)
    if kind is IdentifierKind.IP:
        if re.fullmatch(r"\d+(?:\.\d+){3}", found):
            return "10." + ".".join(str(1 + one % 254) for one in choice.digits(3, "ip", key, attempt))
        return shaped(found, choice, "ip", attempt, _HEX)
    if kind is IdentifierKind.URL:
        scheme = re.match(r"(?:https?://)?(?:www\.)?", found)
        return f"{scheme[0] if scheme else ''}{names.word(key, first=False, attempt=attempt)}.{domain}"
    local, at, _ = found.partition("@")
    if not at:
        return f"{names.word(key, first=False, attempt=attempt)} at {domain.replace('.', ' dot ')}"
    folded = map(letters_and_digits, WORD.findall(local))
    words = ".".join(names.word(word, first=not place, attempt=attempt) for place, word in enumerate(folded))
    number = shaped("".join(re.findall(r"\d+", local)), choice, "mail", attempt)
    return f"{words}{number}@{domain}"
