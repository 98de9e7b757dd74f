"""One registry for every seam: statistics, anonymisers, mechanisms and adapters.

>>> colours: Registry[int] = Registry("colour")
>>> _ = colours.register("red", 1)
>>> colours.get("red"), colours.names()
(1, ('red',))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Registry(Generic[T]):
    """Members by name, in order of registration. A name is taken once; nothing is replaced silently."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._members: dict[str, T] = {}

    def register(self, name: str, member: T) -> T:
        """Add `member` under `name` and return it, so that it can be used as a one-line decorator body."""
        if name in self._members:
            raise ValueError(f"{self.kind} {name!r} is already registered")
        self._members[name] = member
        return member

    def get(self, name: str) -> T:
        """The member called `name`; a KeyError that lists what there is otherwise."""
        try:
            return self._members[name]
        except KeyError:
            raise KeyError(f"there is no {self.kind} {name!r}; registered: {', '.join(self._members)}") from None

    def names(self) -> tuple[str, ...]:
        return tuple(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)
