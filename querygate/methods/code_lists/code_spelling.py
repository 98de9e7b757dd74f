"""Codes as they were written, brought to one spelling: the official one, with its dot.

Blanks, case and dots do not matter. Zeros in front that a spreadsheet has eaten are put back where the text has no
other reading: 8.45 is 008.45, since a category has three digits. What no table has is kept as a code of its own and
told; a text is never taken for a code that it might not be.

>>> found = normalise("icd9cm", ["250.02", "25002 ", "v4581", "8.45", "41.3", "413", "no code", ""])
>>> found.codes
('250.02', '250.02', 'V45.81', '008.45', '041.3', '413', 'NO CODE', None)
>>> dict(found.unknown), dict(found.mended), dict(found.ambiguous), found.blank
({'no code': 1}, {'8.45': '008.45', '41.3': '041.3'}, {'413': ('413', '041.3')}, 1)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from querygate.core.code_systems import icd10cm
from querygate.core.code_systems.icd10 import read_icd10
from querygate.methods.code_lists.code_tree import CodeTree
from querygate.methods.code_lists.crosswalk import NINE, TEN, nine
from querygate.methods.code_lists.known_code_systems import FLAT, JOINT, headings_of, lines_of

_ICD9 = re.compile(r"(?P<letter>[VE]?)(?P<head>[0-9]+)(?P<dot>\.?)(?P<rest>[0-9]*)")
_DIGITS = {"": 3, "V": 2, "E": 3}
"""Digits of a category of ICD-9-CM, by the letter before them."""


@dataclass(frozen=True)
class NormalisedCodes:
    """The code of each text, None where it is blank, and all that is to be told about them.

    `unknown` and `headings` count texts: those that the system does not have, and those that name a group of codes
    where one code was to be expected. `mended` tells texts that had lost zeros and what they became; `ambiguous`, those
    that may have lost some, with the code that they were taken for and then those that they may have been.
    """

    codes: tuple[str | None, ...]
    unknown: Mapping[str, int] = field(default_factory=dict)
    headings: Mapping[str, int] = field(default_factory=dict)
    mended: Mapping[str, str] = field(default_factory=dict)
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    blank: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What a custodian should read, in numbers."""
        told = (
            (self.unknown, "are not in the code system: each is kept as its own code, in the group other"),
            (self.headings, "name a group of codes: each is kept as an extra code of that group"),
            (self.mended, "had lost leading zeros, which were restored"),
            (self.ambiguous, "may have lost leading zeros: they were kept as written"),
        )
        return tuple(f"{len(texts):,} distinct texts {what}." for texts, what in told if texts)


class _Reading(NamedTuple):
    """One text: its code, whether the system has that, what zeros in front make of it, or could."""

    code: str
    known: bool
    mended: bool = False
    instead: tuple[str, ...] = ()


def normalise(system: str | CodeTree, texts: Iterable[str | None]) -> NormalisedCodes:
    """The codes of texts in a system: icd9cm, icd10cm, icd10, ccs (which are codes of ICD-9-CM), flat, or a tree."""
    given = [text.strip() if text is not None else "" for text in texts]
    counts = Counter(given)
    blank = counts.pop("", 0)
    readings = _read_all(system, counts)
    headings = _headings(system)
    return NormalisedCodes(
        tuple(readings[text].code if text else None for text in given),
        {text: counts[text] for text, reading in readings.items() if not reading.known},
        {text: counts[text] for text, reading in readings.items() if reading.known and reading.code in headings},
        {text: reading.code for text, reading in readings.items() if reading.mended},
        {text: (reading.code, *reading.instead) for text, reading in readings.items() if reading.instead},
        blank,
    )


def _read_all(system: str | CodeTree, texts: Collection[str]) -> dict[str, _Reading]:
    if system == FLAT:
        return {text: _Reading(text, True) for text in texts}
    if isinstance(system, CodeTree):
        spellings = _spellings(system)
        return {text: _read_own(text, system, spellings) for text in texts}
    if system == "icd10cm":
        known = lines_of(system)
        return {text: _read_icd10(text, known) for text in texts}
    if system == JOINT:
        return _read_joint(texts)
    if system == "icd10":
        return {text: _Reading(read_icd10(text) or _plain(text), read_icd10(text) is not None) for text in texts}
    known = lines_of("icd9cm")  # CCS groups these codes
    lines_of(system)
    has_zeros = any(re.fullmatch(r"0[0-9]{2}.*", text) for text in texts)
    return {text: _read_icd9(text, known, has_zeros) for text in texts}


def _headings(system: str | CodeTree) -> Collection[str]:
    if isinstance(system, CodeTree):
        return system.headings
    return () if system == FLAT else headings_of("icd9cm" if system == "ccs" else system)


def _plain(text: str) -> str:
    return "".join(text.split()).upper()


# -- ICD-9-CM ----------------------------------------------------------------------------------------------------------


def _read_icd9(text: str, known: Collection[str], has_zeros: bool) -> _Reading:
    """With a dot the category is what stands before it, and one of too few digits has lost zeros. Without a dot the
    text is read as it is written; if that is no code, with as many zeros in front as make one, if one number does.
    """
    found = _ICD9.fullmatch(_plain(text))
    if found is None:
        return _Reading(" ".join(text.split()).upper(), False)
    letter, head, rest = found["letter"], found["head"], found["rest"]
    width = _DIGITS[letter]
    if found["dot"]:
        code = _dotted(letter, head.zfill(width) + rest)
        right = len(head) <= width and code in known
        return _Reading(code if right or len(head) == width else _plain(text), right, right and len(head) < width)
    written = _dotted(letter, head)
    longer = [_dotted(letter, head.rjust(length, "0")) for length in range(max(width, len(head) + 1), width + 3)]
    others = [code for code in longer if code in known]
    if written in known and len(head) >= width:
        return _Reading(written, True, instead=() if has_zeros else tuple(others))
    return _Reading(others[0], True, mended=True) if len(others) == 1 else _Reading(written, False)


def _dotted(letter: str, digits: str) -> str:
    """The official spelling.

    >>> _dotted("", "25002"), _dotted("E", "8490"), _dotted("V", "10")
    ('250.02', 'E849.0', 'V10')
    """
    width = _DIGITS[letter]
    return letter + digits[:width] + ("." + digits[width:] if digits[width:] else "")


# -- ICD-10-CM, and a custodian's own codes ----------------------------------------------------------------------------


def _read_icd10(text: str, known: Collection[str]) -> _Reading:
    found = icd10cm.CODE.fullmatch(_plain(text))
    if found is None:
        return _Reading(" ".join(text.split()).upper(), False)
    code = f"{found[1]}.{found[2]}" if found[2] else found[1]
    return _Reading(code, code in known)


def _read_joint(texts: Collection[str]) -> dict[str, _Reading]:
    """Texts of ICD-9-CM or ICD-10-CM. What both have is that of which it is no heading. E8020, which both have, is
    neither unless a dot, or 9: or 10: in front, says which.
    """
    has_zeros = any(re.fullmatch(r"0[0-9]{2}.*", text) for text in texts)
    return {text: _read_either(text, has_zeros) for text in texts}


def _read_either(text: str, has_zeros: bool) -> _Reading:
    """One text in both systems; nobody's zeros are restored where the text is a code as it stands.

    >>> [_read_either(text, True).code for text in ("25000", "e11.9", "V10.3", "10:E8020", "9:E8020", "V10.3XXA")]
    ['250.00', 'E11.9', '9:V10.3', 'E80.20', '9:E802.0', 'V10.3XXA']
    >>> _read_either("E8020", True).known
    False
    """
    plain = _plain(text)
    readings = []
    if not plain.startswith(TEN):
        read = _read_icd9(plain.removeprefix(NINE), lines_of("icd9cm"), has_zeros)
        readings.append(((read.mended, read.code in headings_of("icd9cm")), read._replace(code=nine(read.code))))
    if not plain.startswith(NINE):
        read = _read_icd10(plain.removeprefix(TEN), lines_of("icd10cm"))
        readings.append(((read.mended, read.code in headings_of("icd10cm")), read))
    known = sorted((one for one in readings if one[1].known), key=lambda one: one[0])
    if not known or (len(known) == 2 and known[0][0] == known[1][0]):
        return _Reading(plain, False)
    return known[0][1]


def _spellings(tree: CodeTree) -> dict[str, str | None]:
    """The code that a text without blanks, case and dots is; None where it may be several."""
    found: dict[str, str | None] = {}
    for code in tree.codes:
        plain = _plain(code).replace(".", "")
        found[plain] = None if plain in found else code
    return found


def _read_own(text: str, tree: CodeTree, spellings: Mapping[str, str | None]) -> _Reading:
    """A code as the tree has it, else the only one that differs from it by blanks, case or dots."""
    if text in tree.place:
        return _Reading(text, True)
    code = spellings.get(_plain(text).replace(".", ""))
    return _Reading(text, False) if code is None else _Reading(code, True)
