"""Diseases as groups of codes. A case is a record with any code of the disease; all others are controls.

>>> codes = ["250.01", "250.02", "493.00", "493.01", "V10"]
>>> diseases = [one for one in gwas_diseases(codes) if one.codes]
>>> [(one.name, one.codes) for one in diseases]
[('Asthma', (2, 3)), ('Diabetes mellitus type 1', (0,)), ('Diabetes mellitus type 2', (1,))]
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True)
class Disease:
    """A disease and the numbers of its codes; none where no code of it occurs."""

    name: str
    codes: tuple[int, ...]


def gwas_diseases(codes: Sequence[str]) -> tuple[Disease, ...]:
    """Eighteen diseases of genome-wide association studies, those of Loukides et al. (PNAS 2010), over codes of
    ICD-9-CM, ICD-10-CM or ICD-10 in their official spelling. Which codes make each is our choice:
    data/gwas_diseases.csv. No code of one of these systems begins like one of another there.
    """
    return _gwas_diseases(tuple(codes))


@lru_cache(maxsize=4)
def _gwas_diseases(codes: tuple[str, ...]) -> tuple[Disease, ...]:
    """A publication asks several times for those of one long list."""
    text = files("querygate.methods.code_lists").joinpath("data", "gwas_diseases.csv").read_text(encoding="utf-8")
    rows = (line.split(";") for line in text.splitlines()[1:])
    return tuple(Disease(name, codes_in(" ".join(wanted).split(), codes)) for name, *wanted in rows)


def codes_in(patterns: Iterable[str], codes: Sequence[str]) -> tuple[int, ...]:
    """The numbers of the codes under some patterns: a code, a group by its first digits, or a range of those. `?` is
    any digit.

    >>> codes_in(["410-414", "250.?1"], ["250.00", "250.01", "250.11", "411", "414.9", "4110", "415"])
    (1, 2, 3, 4)
    """
    order, found = _order(tuple(codes)), set[int]()
    for low, _, high in (pattern.partition("-") for pattern in patterns):
        high = high or low
        first, last = (end.partition("?")[0] for end in (low, high))

        def begun(number: int, length: int = len(first)) -> str:
            return codes[number][:length]

        near = order[bisect_left(order, first, key=begun) : bisect_right(order, last, key=begun)]  # a few of very many
        found.update(number for number in near if _within(codes[number], low, high))
    return tuple(sorted(found))


@lru_cache(maxsize=4)
def _order(codes: tuple[str, ...]) -> list[int]:
    """The numbers of codes, in the order of their texts."""
    return sorted(range(len(codes)), key=codes.__getitem__)


def _within(code: str, low: str, high: str) -> bool:
    """A code begins with one of the texts from low to high, which are of one length; a category ends before its dot."""
    start = code[: len(low)]
    if len(start) < len(low) or ("." not in low and code[len(low) : len(low) + 1] not in ("", ".")):
        return False
    if "?" in low:
        return all(want in ("?", have) for want, have in zip(low, start, strict=True))
    return low <= start <= high
