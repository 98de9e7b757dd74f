"""May they ask this dataset, and how? Asked before the store is: what there is plays no part in a refusal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from querygate.core.rights import MODES, GrantBook, no_dataset, not_allowed, not_granted
from querygate.core.types import Principal

EVERY_MODE = frozenset[str](MODES)
EXTRACT = "extract"


def granted_modes(principal: Principal, dataset: str, grants: GrantBook) -> frozenset[str]:
    """In which modes they may ask, at least one; QG303 for none, in the words used where there is no such dataset."""
    if principal.may("ask_any"):
        return EVERY_MODE
    if not principal.may("ask"):
        raise not_allowed("ask")
    found = grants.modes(principal.name, dataset)
    if not found:
        raise no_dataset()
    return found


def check_granted(principal: Principal, dataset: str, mode: str, grants: GrantBook) -> None:
    """QG303 where nothing was granted, QG313 where it was another mode."""
    if mode not in granted_modes(principal, dataset, grants):
        raise not_granted(mode)


def check_known(principal: Principal, dataset: str, grants: GrantBook) -> None:
    """May they know of it? Those who look after the site may; others where they have any grant."""
    if not principal.may("look"):
        granted_modes(principal, dataset, grants)


def known_datasets(principal: Principal, served: Iterable[str], grants: GrantBook) -> Iterator[str]:
    """Those of the datasets that they may know of."""
    for dataset in served:
        if principal.may("look") or (principal.may("ask") and grants.modes(principal.name, dataset)):
            yield dataset
