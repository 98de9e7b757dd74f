"""Certificates of views, from the publisher to the verifier, which trusts none and checks each."""

from __future__ import annotations

from dataclasses import dataclass

from querygate.methods.views.balance import Balance
from querygate.methods.views.two_sides import SidedWorld
from querygate.methods.views.worlds import World


@dataclass(frozen=True)
class UnitCertificate:
    """Why nobody's value of a unit is certain in a frame cell; no views: it is withheld there. With `beside`, atoms are
    distinguished by classes of earlier versions too, which come before the new ones.
    """

    views: tuple[int, ...]
    worlds: tuple[World, ...]
    sided: tuple[SidedWorld, ...] = ()
    beside: bool = False


@dataclass(frozen=True)
class CellCertificates:
    """The certificates of one frame cell. Atoms are numbered in the order of the written classes. `together` are
    balances of all views of all versions, earlier ones first.
    """

    balances: tuple[tuple[Balance, ...], ...]
    units: tuple[UnitCertificate, ...]
    together: tuple[Balance, ...] = ()
