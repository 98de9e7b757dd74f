"""Words, names and places that are known before any note is read (data/README.md says from where)."""

from __future__ import annotations

import gzip
from functools import cache, lru_cache
from importlib import resources
from typing import Literal


@cache
def _load(name: str) -> frozenset[str]:
    packed = resources.files("querygate.methods.notes").joinpath("data", f"{name}.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode("utf-8").split("\n")[:-1])


@lru_cache(maxsize=1 << 16)
def is_word(folded: str) -> bool:
    """Is this ordinary English, or a word of medicine, in some form?

    >>> is_word("walked"), is_word("pneumonia"), is_word("yefremova")
    (True, True, False)
    """
    words = _load("words")
    if folded in words:
        return True
    if folded in _load("first_names") or folded in _load("last_names"):
        return False
    for ending, instead in _ENDINGS:
        stem = folded.removesuffix(ending)
        if stem != folded and len(stem) >= 3 and (stem + instead in words or _doubled(stem) in words):
            return True
    return False


_ENDINGS = (
    *(
        ("s", ""),
        ("es", ""),
        ("ies", "y"),
        ("ed", ""),
        ("ed", "e"),
        ("ing", ""),
        ("ing", "e"),
        ("ly", ""),
        ("ily", "y"),
    ),
    *(
        ("er", ""),
        ("er", "e"),
        ("est", ""),
        ("ness", ""),
        ("less", ""),
        ("ful", ""),
        ("y", ""),
        ("able", ""),
        ("al", ""),
    ),
)


def _doubled(stem: str) -> str:
    """`stopp` of `stopped` is `stop`."""
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem


def is_first_name(folded: str) -> bool:
    return folded in _load("first_names")


def is_last_name(folded: str) -> bool:
    return folded in _load("last_names")


def sex_of(folded: str) -> Literal["women", "men", ""]:
    """Of those who have this first name, are nine in ten women, or men?"""
    if folded in _load("first_names_women"):
        return "women"
    return "men" if folded in _load("first_names_men") else ""


@cache
def first_names_of(sex: Literal["women", "men"]) -> frozenset[str]:
    """First names of women, or of men, that are no words."""
    return frozenset(filter(_is_plain_name, _load(f"first_names_{sex}")))


@cache
def last_names() -> frozenset[str]:
    """Last names that are no words and no first names."""
    return frozenset(name for name in _load("last_names") if _is_plain_name(name) and not is_first_name(name))


@cache
def plain_cities() -> tuple[str, ...]:
    """Cities of one or two words that mean nothing else."""
    cities = (city for city in _load("cities") if city.replace(" ", "").isalpha() and city.count(" ") < 2)
    return tuple(sorted(city for city in cities if len(city) > 4 and not any(map(_means_more, city.split()))))


def _is_plain_name(name: str) -> bool:
    return name.isascii() and name.isalpha() and len(name) > 2 and not is_word(name)


def _means_more(part: str) -> bool:
    return len(part) < 3 or is_word(part) or is_first_name(part) or is_state_or_country(part)


def is_eponym(folded: str) -> bool:
    """Is a disease, a sign or a test called after somebody of this name?"""
    return folded in _load("medical_names")


def is_city(folded: str) -> bool:
    """A city or county of the United States, or a large one elsewhere."""
    return folded in _load("cities") or folded in _load("world_cities")


def is_state_or_country(folded: str) -> bool:
    """Large enough to stay under Safe Harbor: a state of the United States, a country, a nationality."""
    return folded in _load("countries")
