"""Where people can go in the console: what their rights open, and nothing else. One table for menu and first page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from querygate.core.rights import Right
from querygate.core.types import Principal
from querygate.web.routes import EXTRACTS

DATASETS = "/datasets"


@dataclass(frozen=True, slots=True)
class Destination:
    """An entry of the menu, for whoever has one of these rights."""

    text: str
    address: str
    rights: tuple[Right, ...]

    def is_open_to(self, principal: Principal) -> bool:
        return any(map(principal.may, self.rights))


MENU: Final = (
    Destination("Today", "/today", ("oversee",)),
    Destination("Datasets", DATASETS, ("ask", "look")),
    Destination("Saved", "/saved", ("ask",)),
    Destination("Notebooks", "/notebooks", ("ask",)),
    Destination("History", "/history", ("ask",)),
    Destination("Extracts", "/requests", EXTRACTS),
    Destination("Audits", "/audits", ("oversee",)),
    Destination("Log", "/log", ("oversee",)),
    Destination("Publish", "/publish", ("publish",)),
    Destination("Access", "/access", ("grant", "accounts")),
    Destination("Site", "/site", ("operate", "accounts")),
)


def destinations(principal: Principal) -> list[Destination]:
    """The menu of somebody."""
    return [one for one in MENU if one.is_open_to(principal)]


def first_page(principal: Principal) -> str:
    """Where somebody begins: those who ask at the datasets, those who look after others at what waits for them.

    >>> first_page(Principal("ann", "researcher")), first_page(Principal("rita", "reviewer"))
    ('/datasets', '/requests')
    """
    if principal.may("oversee"):
        return "/today"
    if principal.may("review"):
        return "/requests"
    addresses = [one.address for one in destinations(principal)]
    return addresses[0] if addresses else DATASETS
