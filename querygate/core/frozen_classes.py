"""Dataclasses that are frozen where types are checked, and cost no more than plain ones where they are made.

A frozen dataclass sets each field by a call that goes around its own lock, which takes ten times as long as setting it.
A question makes some 300 of them, and was slower by as much as one of its steps takes. Nobody changes one: mypy finds
whoever tries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(made: type[T]) -> type[T]:
    """A dataclass with slots that is equal by its fields, for what is made often.

    >>> @frozen
    ... class Ends:
    ...     low: float
    ...     high: float
    >>> Ends(1.0, 2.0) == Ends(1.0, 2.0), len({Ends(1.0, 2.0), Ends(1.0, 2.0)})
    (True, 1)
    """
    return dataclass(slots=True, unsafe_hash=True)(made)
