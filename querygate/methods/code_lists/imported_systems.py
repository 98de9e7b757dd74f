"""Hierarchies of other code systems, in the form that a policy reads: one row per code, `code;group;...;root`.

ATC and OPCS-4 say in the spelling of a code where it belongs. Others come as pairs of a code and what stands above it,
such as the relationships of SNOMED CT. There a concept may stand under several others, and a tree has one place for it:
under the one that is farthest from the top, of several the first by its name. Who asks for another of its groups does
not find it there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from querygate.methods.code_lists.code_tree import ROOT

_ATC = re.compile(r"[A-Z]([0-9]{2}([A-Z]([A-Z]([0-9]{2})?)?)?)?")
_OPCS = re.compile(r"([A-Z])([0-9]{2})(?:\.([0-9]))?")


class BadHierarchy(ValueError):
    """What cannot be made a tree of, in numbers; values stay where they are."""


@dataclass(frozen=True)
class ImportedRows:
    """Rows of equal length, and how many codes had several groups of which one was taken."""

    rows: tuple[tuple[str, ...], ...]
    several: int = 0


def by_spelling(codes: Iterable[str], way: Callable[[str], tuple[str, ...] | None]) -> ImportedRows:
    """Rows of codes that say themselves where they belong.

    >>> by_spelling(["a10ba02", "C07"], atc_way).rows
    (('A10BA02', 'A10BA', 'A10B', 'A10', 'A', '*'), ('C07', 'C07', 'C07', 'C07', 'C', '*'))
    """
    ways = {way(code) for code in codes}
    wrong = sum(1 for code in set(codes) if way(code) is None)
    if wrong or not ways:
        raise BadHierarchy(f"{wrong:,} of its codes are not spelt as in the system" if wrong else "has no codes")
    return ImportedRows(_even(one for one in ways if one is not None))


def atc_way(text: str) -> tuple[str, ...] | None:
    """The groups of a code of the Anatomical Therapeutic Chemical classification: its first 5, 4, 3 and 1 letters."""
    code = text.strip().upper()
    if not _ATC.fullmatch(code):
        return None
    return (code, *(code[:length] for length in (5, 4, 3, 1) if length < len(code)), ROOT)


def opcs_way(text: str) -> tuple[str, ...] | None:
    """The groups of a code of OPCS-4: category and chapter, which is a letter.

    >>> opcs_way("w371"), opcs_way("W37.1"), opcs_way("37")
    (('W37.1', 'W37', 'W', '*'), ('W37.1', 'W37', 'W', '*'), None)
    """
    plain = text.strip().upper().replace(".", "")
    found = _OPCS.fullmatch(plain if len(plain) == 3 else f"{plain[:3]}.{plain[3:]}")
    if found is None:
        return None
    category = found[1] + found[2]
    return (*((f"{category}.{found[3]}",) if found[3] else ()), category, found[1], ROOT)


def by_parents(pairs: Iterable[tuple[str, str]], wanted: Collection[str] = ()) -> ImportedRows:
    """Rows of codes under what stands above each; of those that are wanted, or of all.

    >>> by_parents([("asthma", "lung"), ("lung", "disease"), ("asthma", "allergy")], wanted=["asthma", "allergy"])
    ImportedRows(rows=(('allergy', 'allergy', 'allergy', '*'), ('asthma', 'lung', 'disease', '*')), several=1)
    """
    above: dict[str, set[str]] = {}
    for code, parent in pairs:
        above.setdefault(code, set()).add(parent)
        above.setdefault(parent, set())
    strange = len(set(wanted) - above.keys())
    if strange or not above:
        raise BadHierarchy(f"{strange:,} of the wanted codes are not in it" if strange else "has no codes")
    ways = _ways(above)
    chosen = sorted(wanted or above)
    return ImportedRows(
        _even((*ways[code], ROOT) for code in chosen), sum(1 for code in chosen if len(above[code]) > 1)
    )


def _ways(above: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
    """From each code up; parents are settled before their children."""
    found: dict[str, tuple[str, ...]] = {}
    waiting = sorted(above)
    while waiting:
        later = []
        for code in waiting:
            if all(parent in found for parent in above[code]):
                up = max((found[parent] for parent in sorted(above[code])), key=len, default=())
                found[code] = (code, *up)
            else:
                later.append(code)
        if len(later) == len(waiting):
            raise BadHierarchy(f"{len(later):,} of its codes stand, in the end, above themselves")
        waiting = later
    return found


def _even(ways: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """All as long as the longest: a code stands for itself at the levels that it does not have."""
    rows = sorted(map(tuple, ways))
    longest = max(map(len, rows))
    return tuple((row[0],) * (longest - len(row)) + row for row in rows)
