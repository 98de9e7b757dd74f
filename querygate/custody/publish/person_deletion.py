"""Deletes a person from what is served and from every vault, and records it without a name.

First a version without the person is served and those that counted them are retired, then their rows are taken out of
every vault. Each step is complete in itself and works out what is left to do, so an interrupted deletion is finished by
asking for it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import Source
from querygate.custody.policy import Policy
from querygate.custody.publish.publish import Report, VersionWriter
from querygate.custody.publish.republication_guard import VersionHandling

Person = tuple[str, str]


class Vaults(VersionWriter, Protocol):
    """Where versions are kept, with their raw rows."""

    def served(self, dataset: str) -> int | None: ...

    def unretired(self, dataset: str) -> tuple[int, ...]: ...

    def holding(self, dataset: str, person: Person) -> dict[int, int]: ...

    def without(self, dataset: str, version: int, more: Sequence[str], person: Person) -> Source: ...

    def retire(self, dataset: str, version: int) -> None: ...

    def remove(self, dataset: str, person: Person) -> int: ...


@dataclass(frozen=True, slots=True)
class Deletion:
    """What was done. Nothing here tells who it was."""

    dataset: str
    rows: int  # taken out of vaults
    held: tuple[int, ...]  # versions that counted the person
    retired: tuple[int, ...]
    version: int | None  # published in their place; None if the served version did not count the person


def person_of(policy: Policy, key: str) -> Person:
    """The person to delete; the policy must say which column identifies persons."""
    if not policy.person:
        raise ConfigError(
            "QG801",
            "The policy does not say which column identifies persons.",
            'Name a column with role identifier: person = "..." above the first table.',
        )
    if policy.person in policy.brought:
        raise ConfigError(
            "QG801",
            f"person: {policy.person} comes from a joined table.",
            "Delete the person in both tables, publish with --on-overlap sticky, and retire the earlier versions.",
        )
    return policy.person, key


def delete_person(
    policy: Policy,
    person: Person,
    vaults: Vaults,
    publish: Callable[[Source, VersionHandling], Report],
    *,
    source: Source | None = None,
    keep_versions: bool = False,
    begin: Callable[[tuple[int, ...], int], None] = lambda versions, rows: None,
) -> Deletion:
    """Delete a person. `publish` makes the next version of a source; `source` replaces the rows of the version that is
    served. `begin` is told the versions and the number of rows before anything is changed.
    """
    dataset = policy.dataset
    held = vaults.holding(dataset, person)
    if not held:
        raise ConfigError(
            "QG804",
            f"No version of {dataset} contains rows of that person.",
            f"The key is compared with {person[0]} as text. If you are finishing an earlier deletion, it is complete.",
        )
    begin(tuple(held), sum(held.values()))
    served = vaults.served(dataset)
    counted = tuple(version for version in vaults.unretired(dataset) if version in held)
    retire = () if keep_versions else counted
    version = None
    if served in held:
        few = policy.republish.few_changes == "report"
        given = source or _rows_left(policy, vaults, served, person)
        version = publish(given, VersionHandling("sticky", few, retire)).version
    else:
        for old in retire:
            vaults.retire(dataset, old)
    return Deletion(dataset, vaults.remove(dataset, person), tuple(held), retire, version)


def _rows_left(policy: Policy, vaults: Vaults, served: int, person: Person) -> Source:
    if policy.brought:
        raise ConfigError(
            "QG801",
            "The policy takes columns from other tables, and the vault only has the joined rows.",
            "Name the source with --source. Rows of the person are left out.",
        )
    withheld = [column.name for column in policy.columns if column.of_codes is None]
    return vaults.without(policy.dataset, served, withheld, person)
