"""Prepared statements and portals of one session, and how much of them it may keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from querygate.core.errors import NotPermitted
from querygate.wire.statements import Result
from querygate.wire.types import Field, PgType

MOST_KEPT = 1000
MOST_KEPT_CHARS = 4_000_000


@dataclass(slots=True)
class Prepared:
    """A statement with places for values. `fields` are None until they were described."""

    text: str
    types: tuple[PgType, ...]
    fields: tuple[Field, ...] | None = None


@dataclass(slots=True)
class Portal:
    """A statement with its values, ready to be run; once it was, what is left of its rows."""

    prepared: Prepared
    values: tuple[str, ...]
    formats: Sequence[int]
    fields: tuple[Field, ...] | None = None
    result: Result | None = None
    given: int = 0

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
        chars = sum(len(one.text) for one in self.statements.values()) + len(prepared.text)
        if len(self.statements) >= MOST_KEPT or chars > MOST_KEPT_CHARS:
            raise NotPermitted("QG308", "The session keeps too many prepared statements.", "Close some of them.")
        self.statements[name] = prepared

    def bind(self, name: str, portal: Portal) -> None:
        if len(self.portals) >= MOST_KEPT and name not in self.portals:
            raise NotPermitted("QG308", "The session keeps too many portals.", "Close some of them.")
        self.portals[name] = portal

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
