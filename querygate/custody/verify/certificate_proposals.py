"""The certificates that a publication proposes for its views, as the verifier reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from querygate.core.types import Ints


class GivenBalance(Protocol):
    @property
    def atom(self) -> int: ...

    @property
    def numbers(self) -> Sequence[int]: ...

    @property
    def denominator(self) -> int: ...


class GivenWorld(Protocol):
    @property
    def exact(self) -> int: ...

    @property
    def totals(self) -> Ints: ...


class GivenSides(Protocol):
    @property
    def sides(self) -> Sequence[int]: ...

    @property
    def exact(self) -> int: ...

    @property
    def totals(self) -> Ints: ...


class UnitProposal(Protocol):
    """Worlds in which to look for witnesses. With `beside`, earlier versions' margins of the unit are among the views,
    before the new ones, and the views of a world are on two sides.
    """

    @property
    def worlds(self) -> Sequence[GivenWorld]: ...

    @property
    def sided(self) -> Sequence[GivenSides]: ...

    @property
    def beside(self) -> bool: ...


class CellProposal(Protocol):
    """What a publisher proposes for a frame cell: balances of each view after the second, units in order, and balances
    of the views of all versions, earlier ones first. Atoms are in the order of classes as they are written.
    """

    @property
    def balances(self) -> Sequence[Sequence[GivenBalance]]: ...

    @property
    def units(self) -> Sequence[UnitProposal]: ...

    @property
    def together(self) -> Sequence[GivenBalance]: ...


Proposals = Mapping[int, CellProposal]
"""By frame cell."""
