"""Prepared statements and portals of one session, and how much of them it may keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from querygate.core.errors import NotPermitted
from querygate.wire.statements import Result
from querygate.wire.types import Field, PgType

MOST_KEPT = 1000
MOST_KEPT_BYTES = 16 * 2**20
"""Of texts, values and rows that are still to be given, in one session."""
BYTES_OF_A_TYPE = 16


@dataclass(slots=True)
class Prepared:
    """A statement with places for values. `fields` are None until they were described."""

    text: str
    types: tuple[PgType, ...]
    fields: tuple[Field, ...] | None = None

    @property
    def size(self) -> int:
        return len(self.text) + BYTES_OF_A_TYPE * len(self.types)


@dataclass(slots=True)
class Portal:
    """A statement with its values, ready to be run; once it was, what is left of its rows."""

    prepared: Prepared
    values: tuple[str, ...]
    formats: Sequence[int]
    fields: tuple[Field, ...] | None = None
    result: Result | None = None
    given: int = 0

    bound: int = field(init=False)

    def __post_init__(self) -> None:
        """It keeps its statement when that is closed."""
        self.bound = self.prepared.size + sum(map(len, self.values)) + 8 * len(self.formats)

    @property
    def size(self) -> int:
        return self.bound + (0 if self.result is None else self.result.size)

    def is_binary(self, place: int) -> bool:
        """In which format a column was asked for: one for each, one for all, or none for text."""
        if not self.formats:
            return False
        return bool(self.formats[0] if len(self.formats) == 1 else self.formats[place])


@dataclass(slots=True)
class Kept:
    """What a session keeps, by name; a statement or portal without a name gives way to the next one."""

    statements: dict[str, Prepared] = field(default_factory=dict)
    portals: dict[str, Portal] = field(default_factory=dict)

    def prepare(self, name: str, prepared: Prepared) -> None:
        if name and name in self.statements:
            raise NotPermitted("QG306", "There is a prepared statement with this name already.", "Close it first.")
        if len(self.statements) >= MOST_KEPT:
            raise NotPermitted("QG308", "The session keeps too many prepared statements.", "Close some of them.")
        self._check_size(prepared.size)
        self.statements[name] = prepared

    def bind(self, name: str, portal: Portal) -> None:
        self.portals.pop(name, None)
        if len(self.portals) >= MOST_KEPT:
            raise NotPermitted("QG308", "The session keeps too many portals.", "Close some of them.")
        self._check_size(portal.size)
        self.portals[name] = portal

    def hold(self, portal: Portal, result: Result, most: int) -> None:
        """Keep a result until all of it was given. Of one that is given at once nothing is left."""
        if 0 < most < len(result.rows):
            self._check_size(result.size)
        portal.result = result

    def _check_size(self, more: int) -> None:
        statements = sum(one.size for one in self.statements.values())
        if statements + sum(one.size for one in self.portals.values()) + more > MOST_KEPT_BYTES:
            raise NotPermitted(
                "QG308",
                "The session keeps more statements and rows that were not fetched than this gate allows.",
                "Fetch them to the end, or close some of them.",
            )

    def statement(self, name: str) -> Prepared:
        found = self.statements.get(name)
        if found is None:
            raise NotPermitted("QG306", "There is no prepared statement with this name.", "Prepare it first.")
        return found

    def portal(self, name: str) -> Portal:
        found = self.portals.get(name)
        if found is None:
            raise NotPermitted("QG306", "There is no portal with this name.", "Bind it first.")
        return found

    def close(self, name: str | None) -> None:
        """Forget a statement; all of them for an empty name, as DEALLOCATE ALL does."""
        if name == "":
            self.statements.clear()
            self.portals.clear()
        elif name is not None:
            self.statements.pop(name, None)
