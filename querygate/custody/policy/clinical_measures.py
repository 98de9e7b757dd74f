"""Clinical measures, recognised by the name, the unit and the range of a column, from the list in data/measures.toml.

The list has what is public about a measure: its possible values, and the limits that readers ask about. The unit is the
one in the name, or else the one in which the column's median would be normal.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from querygate.core.column_profile import ColumnFigures
from querygate.custody.policy.identifier_signs import words_of


@dataclass(frozen=True, slots=True)
class Unit:
    """A measure in one unit. `median` is the range in which a population's median lies."""

    unit: str
    median: tuple[float, float]
    domain: tuple[float, float]
    cuts: tuple[float, ...] = ()
    spelled: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """`beside` is another measure that analysts compare it with."""

    name: str
    title: str
    names: str
    source: str
    units: tuple[Unit, ...]
    beside: str = ""


@dataclass(frozen=True, slots=True)
class FoundMeasure:
    """What a column measures, and in which unit. `rank` is its position among the measures that papers use most."""

    measure: Measure
    unit: Unit
    is_spelled: bool
    rank: int


@dataclass(frozen=True, slots=True)
class _List:
    asked: tuple[str, ...]
    measures: Mapping[str, Measure] = field(default_factory=dict)


@cache
def _read() -> _List:
    raw = tomllib.loads(files("querygate.custody.policy").joinpath("data/measures.toml").read_text(encoding="utf-8"))
    asked = tuple(raw.pop("asked"))
    found = {}
    for name, entry in raw.items():
        units = tuple(
            Unit(
                one["unit"], tuple(one["median"]), tuple(one["domain"]), tuple(one.get("cuts", ())),
                one.get("spelled", ""),
            )
            for one in entry["units"]
        )  # fmt: skip
        found[name] = Measure(name, entry["title"], entry["names"], entry["source"], units, entry.get("with", ""))
    return _List(asked, found)


def measures() -> tuple[Measure, ...]:
    """Every measure, in the order of the list."""
    return tuple(_read().measures.values())


def measure_of(column: ColumnFigures) -> FoundMeasure | None:
    """The measure in a column; None if the name suggests none, or the values fit no unit."""
    if column.middle is None or column.low is None or column.high is None:
        return None
    found = measure_named(column.name, column.middle)
    fits = found is not None and found.unit.domain[0] <= column.low <= column.high <= found.unit.domain[1]
    return found if fits else None


def measure_named(name: str, middle: float) -> FoundMeasure | None:
    """The measure that a name suggests, in the unit that the name gives or that fits the median."""
    words = words_of(name)
    plain = re.sub(r"(?<=[a-z])[0-9]+\b", "", words)  # sbp1 and sbp2 are readings
    named = next((one for text in (words, plain) for one in measures() if re.search(one.names, text)), None)
    if named is None:
        return None
    spelled = [unit for unit in named.units if unit.spelled and re.search(unit.spelled, words)]
    by_range = [unit for unit in named.units if unit.median[0] <= middle <= unit.median[1]]
    unit = next(iter(spelled or by_range), None)
    if unit is None:
        return None
    asked = _read().asked
    rank = asked.index(named.name) if named.name in asked else len(asked)
    return FoundMeasure(named, unit, bool(spelled), rank)
