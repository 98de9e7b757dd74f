"""Recognises the kind of a column by its name, with data/column_kinds.toml.

Names are compared as the words of `words_of`. Some checks need no kind: whether a column is a code, an amount, a
remark.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from querygate.core.types import Role
from querygate.custody.policy.identifier_signs import words_of

POSTCODE = r"\b(zip|zipcode|zip ?code|zip[35]|post ?code|postal|plz)\b"
DIAGNOSIS = r"\b(icd[0-9]*|icd ?(9|10)|diag\w*|dx[0-9]*|dgns|disease|cause)\b"
PROCEDURE = r"\b(prcdr|proc\w*|surg\w*|operation)\b"
CODE = (
    r"\b(cd|code|concept id|type|category|status|class|group|grp|psu|strat(a|um)|year)\b"
    r"|\b(state|county|region|province|district|country|races?|ethnic\w*|gender|sex|marital|education|occupation)\b"
)
AMOUNT = r"\b(number|num|n|count|days?|hours|hrs|times|score|size|siz|rooms|age|mons?|mos|months?|hhsiz)\b"
REMARKS = r"\b(remarks?|comments?|notes?|memo|free ?text|narrative|description|letter|bemerkung(en)?)\b"

SHORT = 4
_PLAIN = str.maketrans({"ł": "l", "ø": "o", "ı": "i", "æ": "ae", "ß": "ss"})


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """One kind of column. Among columns with the same `once`, the first by rank is published; `finer` is an alternative
    for a withheld column."""

    name: str
    role: Role
    names: str
    why: str
    rank: int
    once: str = ""
    finer: Role | str = ""


@cache
def column_kinds() -> tuple[ColumnKind, ...]:
    """Every kind, in the order in which they are looked for."""
    kinds, others = _data("column_kinds"), _data("other_languages")
    return tuple(
        ColumnKind(name, **entry | {"names": entry["names"].replace("\n", "") + _words(others.get(name, []))})
        for name, entry in kinds.items()
    )


def _data(name: str) -> dict[str, Any]:
    return tomllib.loads(files("querygate.custody.policy").joinpath(f"data/{name}.toml").read_text(encoding="utf-8"))


def _words(words: Iterable[str]) -> str:
    """More alternatives for a pattern: a short word may occur anywhere, so it must be the whole name."""
    both = sorted({form for word in words for form in (word, plain_letters(word))})
    short, long = ([re.escape(w) for w in both if (len(w) <= SHORT) == is_short] for is_short in (True, False))
    return "".join((f"|^({'|'.join(short)})$" if short else "", rf"|\b({'|'.join(long)})\b" if long else ""))


def plain_letters(text: str) -> str:
    """The same without accents, as names of columns are often written.

    >>> plain_letters("płeć"), plain_letters("kjønn"), plain_letters("födelseår")
    ('plec', 'kjonn', 'fodelsear')
    """
    apart = unicodedata.normalize("NFD", text.translate(_PLAIN))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def kind_of(name: str) -> ColumnKind | None:
    """The kind that a column's name suggests.

    >>> [kind_of(name).name for name in ("patient_age", "BPSysAve", "death", "BENE_SEX_IDENT_CD", "day_of_birth")]
    ['age', 'measurement', 'outcome', 'sex', 'part_of_birth_date']
    """
    return next((kind for kind in column_kinds() if says(kind.names, name)), None)


def is_birth(name: str) -> bool:
    """Is a column named like a date of birth, or a part of one?"""
    kind = kind_of(name)
    return kind is not None and kind.name in ("birth", "part_of_birth_date")


_SEXES = frozenset(
    {"f", "m", "w", "h", "female", "male", "woman", "man", "women", "men", "girl", "boy"}
    | {"weiblich", "männlich", "divers", "frau", "mann", "homme", "femme", "masculin", "féminin"}
    | {"hombre", "mujer", "masculino", "femenino", "uomo", "donna", "maschio", "femmina", "vrouw"}
    | {"k", "kvinna", "kvinne", "kvinde", "nainen", "mies", "kobieta", "mężczyzna", "žena", "muž", "nő", "férfi"}
    | {"mulher", "homem", "feminino", "femeie", "bărbat", "kadın", "erkek", "perempuan", "laki-laki"}
)


def are_sexes(values: Iterable[str]) -> bool:
    """Are these values sexes, whatever the column is called?

    >>> are_sexes(["F", "M"]), are_sexes(["no", "yes"])
    (True, False)
    """
    return {value.strip().lower() for value in values} <= _SEXES


def says(pattern: str, name: str) -> bool:
    """Does the pattern match the column's name?

    >>> says(AMOUNT, "SleepHrsNight"), says(REMARKS, "age")
    (True, False)
    """
    return re.search(pattern, words_of(name)) is not None
