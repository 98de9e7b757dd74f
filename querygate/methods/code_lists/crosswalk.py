"""ICD-9-CM and ICD-10-CM as one system: the tree of ICD-10-CM, with every code of ICD-9-CM where the general
equivalence map puts it.

A code of ICD-9-CM stays a code of its own: it is put into the narrowest code or group of ICD-10-CM that holds all that
the map gives for it. Whoever asks for what is under E11 asks for 250.00 too, since E11.9 is in E11. Nothing is taken
for what it may not be: a code that the map gives several codes for, one of them at a time or in combination, is in what
these have in common, perhaps in no group at all.

Both systems have codes that begin with E and V. Those of ICD-9-CM are called 9:V10.3 here.

>>> "250.00" in joint_lines(), joint_lines()["9:V10.3"]
(True, '9:V10.3;Z85.3;Z85;Z77-Z99;Z00-Z99;*')
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, cast

NINE, TEN = "9:", "10:"
"""What stands before a text of either system that might be one of the other."""

MapKind = Literal["exact", "approximate", "combination", "group", "none"]


class Equivalent(NamedTuple):
    """The code or group of ICD-10-CM that holds all that a code of ICD-9-CM is mapped to.

    `exact`: one code that means the same; `approximate`: one of some; `combination`: some of them together; `group`: it
    is a group itself, or not in the map, and is where its codes are; `none`: there is none.
    """

    node: str
    kind: MapKind


@cache
def equivalents() -> Mapping[str, Equivalent]:
    """By code of ICD-9-CM.

    >>> equivalents()["001.0"], equivalents()["250.22"]
    (Equivalent(node='A00.0', kind='exact'), Equivalent(node='E11', kind='combination'))
    """
    rows = (line.split(";") for line in read_lines("icd9_in_icd10cm"))
    return {code: Equivalent(node, cast(MapKind, kind)) for code, node, kind in rows}


@cache
def joint_lines() -> Mapping[str, str]:
    """For each code of both systems its row, as text."""
    lines = {line[: line.index(";")]: line for line in read_lines("icd10cm")}
    way = _ways(lines)
    return lines | {nine(code): f"{nine(code)};{way[found.node]}" for code, found in equivalents().items()}


def nine(code: str) -> str:
    """What a code of ICD-9-CM is called among those of both systems."""
    return code if code[0].isdigit() else NINE + code


def _ways(lines: Mapping[str, str]) -> Mapping[str, str]:
    """By code or group of ICD-10-CM what stands in a row from there up to the root."""
    found: dict[str, str] = {}
    for line in lines.values():
        name, _, above = line.partition(";")
        while name not in found:
            found[name], line = line, above
            name, _, above = line.partition(";")
    return found


def read_lines(name: str) -> list[str]:
    """The lines of a file that comes with the package."""
    packed = files("querygate.methods.code_lists").joinpath("data", f"{name}.csv.gz").read_bytes()
    return gzip.decompress(packed).decode().splitlines()
