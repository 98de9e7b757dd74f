"""Code systems by name: ICD-9-CM, ICD-10-CM, both as one system, and ICD-10 with their chapters; CCS groups over
ICD-9-CM; and a custodian's own.

All have one form, rows `code;group;...;root`. Where each comes from is told in data/README.md.

>>> tree_of("icd9cm", ["250.01", "250.02"]).ancestors("250.01")
('250.0', '250', '240-279', '*')
>>> tree_of("ccs", ["250.01"]).ancestors("250.01")
('Diabetes mellitus without complication', '*')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from querygate.core.code_systems.icd10 import all_codes, groups_of
from querygate.methods.code_lists.code_tree import OTHER, ROOT, CodeTree
from querygate.methods.code_lists.crosswalk import joint_lines, read_lines

FLAT = "flat"
JOINT = "icd9cm+icd10cm"
LEVELS: dict[str, tuple[str, ...]] = {
    "icd9cm": ("code", "subcategory", "category", "chapter", "all"),
    "icd10cm": ("code", "six", "five", "four", "category", "block", "chapter", "all"),
    "icd10": ("code", "category", "block", "chapter", "all"),
    "ccs": ("code", "group", "all"),
    JOINT: ("code", "seven", "six", "five", "four", "category", "block", "chapter", "all"),
}
"""What the levels of each system are called, from the codes up."""


@cache
def code_tree(system: str) -> CodeTree:
    """The tree of all codes of a system."""
    return tree_of(system, lines_of(system))


def tree_of(system: str, codes: Iterable[str]) -> CodeTree:
    """The tree of the codes that occur. Those that the system does not have are in the group `other`; none is lost.

    >>> tree_of("icd9cm", ["250.01", "N/A"]).parents
    (('250', '240-279'), ('250.0', '250'), ('250.01', '250.0'), ('N/A', 'other'))
    >>> tree_of("flat", ["bread", "milk"]).codes
    ('bread', 'milk')
    """
    if system == FLAT:
        return CodeTree.flat(codes)
    lines, height = lines_of(system), len(LEVELS[system]) - 1
    strange = (OTHER,) * (height - 1)
    rows = [lines[code].split(";") if code in lines else [code, *strange, ROOT] for code in set(codes)]
    return CodeTree.of(rows, height)


@cache
def lines_of(system: str) -> Mapping[str, str]:
    """For each code of a system its row, as text: a hundred thousand codes are read faster than they make a tree."""
    if system not in LEVELS:
        raise ValueError(f"there is no code system with this name; available: {', '.join(LEVELS)} and {FLAT}")
    if system == "icd10":
        return {code: ";".join((*dict.fromkeys((code, code[:3])), *groups_of(code[:3]), ROOT)) for code in all_codes()}
    if system == JOINT:
        return joint_lines()
    return {line[: line.index(";")]: line for line in read_lines(system)}


@cache
def headings_of(system: str) -> frozenset[str]:
    """Codes of a system that are groups of others at the same time: 250 in ICD-9-CM, which has 250.00."""
    lines = lines_of(system)
    return frozenset(name for line in lines.values() for name in line.split(";")[1:]) & lines.keys()
