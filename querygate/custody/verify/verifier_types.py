"""What the verifier reads and returns, and how it reports a broken promise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from querygate.core.errors import ConfigError
from querygate.core.files.file_digest import FileDigest
from querygate.core.types import Arrays, Catalog, Ints
from querygate.custody.verify.person_check import ClassPeople


class MarginReader(Protocol):
    """The cells of a version of views, margin by margin."""

    def numbers(self) -> frozenset[int]:
        """Margins that have cells; -1 stands for cells without one."""
        ...

    def cells(self, margin: int, columns: Sequence[int]) -> tuple[Arrays, int]:
        """The cells of a margin by class, with these columns; and how many of them tell something of any other."""
        ...


class Written(Protocol):
    """A staged store file, read back."""

    def digest(self) -> FileDigest: ...

    def records(self) -> int:
        """How many records all cells have."""
        ...

    def ranges(self) -> Sequence[range]:
        """Ranges of all classes, one after the other, of each of which memory holds the cells."""
        ...

    def cells(self, quasi: Sequence[int], classes: range | None = None) -> Arrays: ...

    def totals(self, column: int) -> Arrays:
        """Cells of the same interval or set of this column as one, with the records of all of them."""
        ...

    def margins(self) -> AbstractContextManager[MarginReader]: ...

    def sets(self, column: int) -> tuple[Ints, Ints, tuple[str, ...]]: ...

    def code_sets(self, column: int) -> tuple[tuple[str, ...], Ints, Ints, Ints]: ...

    def moments(self, column: int) -> Arrays: ...

    def catalog(self) -> Catalog: ...

    def strays(self) -> Iterator[str]:
        """Broken promises about tables, columns and rows: there is more than the catalog calls for."""
        ...


@dataclass(frozen=True, slots=True)
class ViewsMeasured:
    """What all views keep together."""

    frames: int
    classes: int  # of the counts of all views
    least_cut: int  # the fewest people in any combination of two views
    shown: dict[str, int]  # records of each unit that are proved to possibly have another value
    withheld: dict[str, int]  # records of each unit about which no view publishes anything


@dataclass(frozen=True, slots=True)
class Measurement:
    """What the written version really guarantees."""

    smallest: int  # records of a class
    largest: int
    l: dict[str, int] = field(default_factory=dict)  # noqa: E741 - fewest distinct values of a class, per sensitive column
    t: dict[str, float] = field(default_factory=dict)  # farthest class from the whole, per sensitive column
    hull: dict[str, float] = field(default_factory=dict)  # narrowest raw hull of a class, per guarded number
    width: dict[str, float] = field(default_factory=dict)  # mean width of a cell, per numeric column
    kept: dict[str, float] = field(default_factory=dict)  # the figure of every guarantee of the policy beyond k
    people: ClassPeople | None = None  # of the classes, if people have several records
    views: ViewsMeasured | None = None  # if the version is published as views

    @property
    def k(self) -> int:
        """How many people every class has at least."""
        return self.smallest if self.people is None else self.people.fewest


FALLING = ("largest share", "recursive c", "share ", "equal t", "ordered t", "hierarchy t", "surest", "growth")
"""How the names of figures begin of which the greatest is the worst."""

Figure = TypeVar("Figure", int, float)


def both(one: Measurement, other: Measurement) -> Measurement:
    """What all classes keep, measured of some of them and of the others; widths are those of one."""
    return replace(
        one,
        smallest=min(one.smallest, other.smallest),
        largest=max(one.largest, other.largest),
        l=_worse(one.l, other.l),
        t={name: max(one.t.get(name, 0.0), other.t.get(name, 0.0)) for name in {**other.t, **one.t}},
        hull=_worse(one.hull, other.hull),
        kept=_worse(one.kept, other.kept),
    )


def _worse(one: Mapping[str, Figure], other: Mapping[str, Figure]) -> dict[str, Figure]:
    found = {**other, **one}
    for name in one.keys() & other.keys():
        found[name] = (max if name.startswith(FALLING) else min)(one[name], other[name])
    return found


def require(holds: bool, promise: str) -> None:
    """ConfigError QG803 if a promise is broken."""
    if not holds:
        raise ConfigError(
            "QG803",
            f"The verifier found that the release would break a promise: {promise}.",
            "Nothing was published. This is a fault of the anonymiser; please report it with the policy.",
        )
