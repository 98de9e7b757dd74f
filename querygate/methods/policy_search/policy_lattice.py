"""The lattice of release policies: which neighbouring values of which attribute are told apart.

After Benitez, Loukides and Malin ("Beyond Safe Harbor: automatic discovery of health information de-identification
policy alternatives", IHI 2010). An attribute has n values in an order, and so n - 1 boundaries between neighbours. A
policy says for each boundary whether it is kept (1) or whether the neighbours are merged (0); the bits of all
attributes stand one after the other. Policies are ordered: one that keeps all another keeps is its *specialisation*,
and the other its *generalisation*. All ones publishes values as they are, all zeros nothing.

Categories are an ordered list too, as published: only neighbours can be merged, so White/Other together and Black apart
is no policy when Black stands between them. Put those next to each other that belong together.

>>> lattice = PolicyLattice((whole_numbers("age", 50, 54), LatticeAttribute("sex", ("F", "M"))))
>>> policy = lattice.policy("1101" + "1")
>>> policy.labels("age")
('50', '51', '52-53', '54')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from querygate.core.types import Array, Bools, Floats, Ints

Kind = Literal["number", "cells", "category", "zip"]
Value: TypeAlias = int | str | tuple[float, float]


@dataclass(frozen=True, slots=True)
class LatticeAttribute:
    """Values in an order: whole numbers, cells between public edges, categories, or ZIP codes (see `zip_codes`).

    With `open_top` the last number or cell stands for all above it too. A cell holds its lower edge and not its upper
    one; the last cell holds both.
    """

    name: str
    values: tuple[Value, ...]
    kind: Kind = "category"
    open_top: bool = False
    areas: tuple[str, ...] = ()  # of ZIP codes: what Safe Harbor tells of each

    def __post_init__(self) -> None:
        if not self.values or len(set(self.values)) < len(self.values):
            raise ValueError(f"the values of {self.name} must be different, and at least one")
        if self.kind == "number" and any(not isinstance(value, int) for value in self.values):
            raise ValueError(f"the values of {self.name} must be whole numbers; use cells between edges")
        if self.kind in ("number", "cells") and list(self.values) != sorted(self.values):
            raise ValueError(f"the values of {self.name} must ascend")
        if self.kind == "zip" and len(self.areas) != len(self.values):
            raise ValueError(f"{self.name} needs an area for each ZIP code")

    def __len__(self) -> int:
        return len(self.values)

    def encode(self, column: Sequence[object] | Array) -> Ints:
        """The place of each value, from 0. A value that the attribute does not have is refused."""
        if self.kind == "category" or self.kind == "zip":
            places: dict[object, int] = {value: place for place, value in enumerate(self.values)}
            try:
                return np.array([places[value] for value in column], dtype=np.int64)
            except KeyError as unknown:
                raise ValueError(f"{self.name} has no value {unknown.args[0]!r}") from None
        numbers = np.asarray(column, dtype=np.float64)
        lows, highs = self.lows, self.highs
        places_of = np.searchsorted(lows, numbers, side="right") - 1
        inside = (places_of >= 0) & np.isfinite(numbers)
        if self.kind == "number":
            top = numbers >= lows[-1] if self.open_top else np.zeros(len(numbers), dtype=np.bool_)
            inside &= top | (lows[places_of] == numbers)
        elif not self.open_top:
            inside &= numbers <= highs[-1]
        if not inside.all():
            raise ValueError(f"{self.name} has no value {numbers[~inside][0]:g}")
        return places_of.astype(np.int64)

    @property
    def lows(self) -> Floats:
        """The least number of each value."""
        return np.array([value[0] if isinstance(value, tuple) else value for value in self.values], dtype=np.float64)

    @property
    def highs(self) -> Floats:
        """Above every number of each value, apart from the end of the last cell."""
        return np.array(
            [value[1] if isinstance(value, tuple) else int(value) + 1 for value in self.values], dtype=np.float64
        )


def whole_numbers(name: str, low: int, high: int, *, open_top: bool = False) -> LatticeAttribute:
    """Single whole numbers from low to high, such as ages; with `open_top` the last one means that and above."""
    return LatticeAttribute(name, tuple(range(low, high + 1)), "number", open_top)


def cells(name: str, edges: Sequence[float], *, open_top: bool = False) -> LatticeAttribute:
    """Cells between public edges.

    >>> cells("bmi", [10, 18.5, 25, 30, 60]).values
    ((10, 18.5), (18.5, 25), (25, 30), (30, 60))
    """
    return LatticeAttribute(name, tuple(pairwise(edges)), "cells", open_top)


@dataclass(frozen=True)
class PolicyLattice:
    """All policies over these attributes."""

    attributes: tuple[LatticeAttribute, ...]

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.attributes]
        if not names or len(set(names)) < len(names):
            raise ValueError("attributes must have different names, and there must be one")

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(attribute) for attribute in self.attributes)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where the bits of each attribute are."""
        ends = np.cumsum([size - 1 for size in self.shape]).tolist()
        return tuple(slice(end - size + 1, end) for end, size in zip(ends, self.shape, strict=True))

    @property
    def length(self) -> int:
        """The number of bits."""
        return sum(self.shape) - len(self.shape)

    @property
    def coarsest(self) -> LatticePolicy:
        return LatticePolicy(self, "0" * self.length)

    @property
    def finest(self) -> LatticePolicy:
        return LatticePolicy(self, "1" * self.length)

    def policy(self, bits: str | Bools) -> LatticePolicy:
        """A policy of a text of 0 and 1, or of an array of what is kept."""
        return LatticePolicy(self, bits if isinstance(bits, str) else "".join("01"[int(bit)] for bit in bits))

    def place(self, name: str) -> int:
        for place, attribute in enumerate(self.attributes):
            if attribute.name == name:
                return place
        raise ValueError(f"there is no attribute {name}")


@dataclass(frozen=True)
class LatticePolicy:
    """Which boundaries are kept."""

    lattice: PolicyLattice = field(repr=False)
    bits: str

    def __post_init__(self) -> None:
        if len(self.bits) != self.lattice.length or set(self.bits) - {"0", "1"}:
            raise ValueError(f"a policy over this lattice has {self.lattice.length} bits, each 0 or 1")

    @cached_property
    def kept(self) -> Bools:
        kept: Bools = np.frombuffer(self.bits.encode("ascii"), dtype=np.uint8) == ord("1")
        return kept

    def groups(self, name: str) -> tuple[tuple[Value, ...], ...]:
        """The values of an attribute, those together that the policy merges."""
        values = self.lattice.attributes[self.lattice.place(name)].values
        return tuple(values[start:end] for start, end in self.spans(name))

    def spans(self, name: str) -> tuple[tuple[int, int], ...]:
        """Where each group of an attribute begins and ends, by the places of its values."""
        place = self.lattice.place(name)
        cuts = np.flatnonzero(self.kept[self.lattice.places[place]]) + 1
        return tuple(pairwise((0, *cuts.tolist(), self.lattice.shape[place])))

    def labels(self, name: str) -> tuple[str, ...]:
        """What is published for each group of an attribute."""
        attribute = self.lattice.attributes[self.lattice.place(name)]
        return tuple(label(attribute, start, end) for start, end in self.spans(name))


def label(attribute: LatticeAttribute, start: int, end: int) -> str:
    """What is published for the values from `start` to before `end`.

    >>> ages = whole_numbers("age", 0, 100, open_top=True)
    >>> label(ages, 52, 54), label(ages, 90, 101), label(ages, 7, 8)
    ('52-53', '90+', '7')
    >>> label(cells("bmi", [10, 18.5, 25, 30, 60]), 1, 3)
    '18.5 to 30'
    >>> label(LatticeAttribute("race", ("White", "Black", "Asian")), 0, 2)
    'White/Black'
    """
    values = attribute.values[start:end]
    if attribute.kind in ("number", "cells") and attribute.open_top and end == len(attribute):
        return f"{attribute.lows[start]:g}+"
    if attribute.kind == "number":
        return f"{values[0]}" if len(values) == 1 else f"{values[0]}-{values[-1]}"
    if attribute.kind == "cells":
        return f"{attribute.lows[start]:g} to {attribute.highs[end - 1]:g}"
    if attribute.kind == "zip":
        return _zip_label(attribute, start, end)
    return "/".join(map(str, values))


def _zip_label(attribute: LatticeAttribute, start: int, end: int) -> str:
    """A whole area by its three digits (000 where those are too few people), else its ZIP codes as ranges."""
    areas = attribute.areas
    parts, at = [], start
    while at < end:
        stop = at + 1
        while stop < end and areas[stop] == areas[at]:
            stop += 1
        first, last = attribute.values[at], attribute.values[stop - 1]
        whole = stop - at == areas.count(areas[at])
        parts.append(areas[at] if whole else f"{first}" if first == last else f"{first}-{last}")
        at = stop
    return "/".join(parts)
