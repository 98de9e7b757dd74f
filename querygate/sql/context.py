"""What compiling a piece of SQL needs: the columns there are, and the database to ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from querygate.core.canonical_text import meaning
from querygate.core.expression import Ref
from querygate.core.ports import Native
from querygate.core.predicate import Predicate
from querygate.core.types import Column, folded


@dataclass(frozen=True)
class Context:
    """What compiling a piece of SQL needs: the columns there are, and the database to ask."""

    columns: dict[str, Column]  # by folded name
    native: Native
    condition: Callable[[exp.Expr, Context], Predicate]  # what compiles a condition: one may stand inside a value
    meanings: dict[Predicate, str] = field(default_factory=dict)  # those found so far: few differ in a statement
    notes: dict[str, None] = field(default_factory=dict)  # what a reader should know, each once, in order
    singles: frozenset[str] = frozenset()  # columns of single precision: outputs of an inner query, aggregates
    decimals: frozenset[str] = frozenset()  # columns that may be decimals

    @cached_property
    def named(self) -> dict[str, Column]:
        """The columns by their own names, as conditions call them."""
        return {column.name: column for column in self.columns.values()}

    def meaning(self, p: Predicate) -> str:
        """What a condition on these columns means, as a text."""
        if p not in self.meanings:
            self.meanings[p] = meaning(p, self.named)
        return self.meanings[p]

    def note(self, said: str) -> None:
        self.notes[said] = None

    def name_of(self, column: Column) -> str:
        """What people call a column. Outputs of an inner query have ids of their own beside their names."""
        name = next(name for name, known in self.columns.items() if known is column)
        return column.name if folded(column.name) == name else name

    def column(self, node: exp.Column) -> Column:
        return self.columns[folded(node.name)]

    def known(self, ref: Ref) -> Column:
        """The column that an expression reads. Outputs of an inner query are read by their ids, not by their names."""
        return next(column for column in self.columns.values() if column.name == ref.column)

    def columns_of(self, node: exp.Expr) -> list[Column]:
        """The columns a piece of SQL speaks of, each once."""
        return list({self.column(found).name: self.column(found) for found in node.find_all(exp.Column)}.values())
