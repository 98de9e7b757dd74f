"""The tables that FROM and its joins offer, and whose column a name means: as DuckDB decides it, or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import folded
from querygate.sql.parse import span_of

Names = dict[str, exp.Expr]
"""What each name stands for, by folded name."""

UNLISTED = "unlisted"
"""Marks what can be called by its name, and is no part of `*`."""


@dataclass
class Tables:
    """Names by table. USING makes one of the names of two tables: `merged` says what it means and whose it was."""

    names: dict[str, Names]
    merged: dict[str, tuple[exp.Expr, frozenset[str]]] = field(default_factory=dict)

    def __contains__(self, table: str) -> bool:
        return table in self.names

    def find(self, node: exp.Column) -> exp.Expr | None:
        """What a column stands for, None where no table has it; a name that two of them have is a refusal."""
        name, table = folded(node.name), folded(node.table)
        if table:
            return self.names.get(table, {}).get(name)
        value, owners = self.merged.get(name, (None, frozenset()))
        held = [names[name] for alias, names in self.names.items() if name in names and alias not in owners]
        held += [value] if value is not None else []
        if len(held) > 1:
            owned = [alias for alias, names in self.names.items() if name in names]
            raise UnsupportedSQL(
                "QG203",
                f"More than one table has a column {node.name}.",
                f"Write which one: {', '.join(f'{alias}.{node.name}' for alias in owned)}.",
                span=span_of(node),
            )
        return held[0] if held else None

    def add(self, table: str, names: Names) -> None:
        self.names[table] = names

    def merge(self, name: str, value: exp.Expr, other: str) -> None:
        """Make the name of this table and of those before it one."""
        owners = frozenset(alias for alias, names in self.names.items() if name in names)
        self.merged[name] = (value, owners | {other})

    def columns(self, table: str = "") -> list[exp.Column]:
        """What `*`, or `table.*`, stands for: every column, a merged one where it comes first."""
        chosen = {table: self.names.get(table, {})} if table else self.names
        listed: dict[str, exp.Column] = {}
        for alias, names in chosen.items():
            for name in (name for name, value in names.items() if not value.meta.get(UNLISTED)):
                once = name in self.merged and alias in self.merged[name][1] and not table
                listed.setdefault(name if once else f"{alias} {name}", quoted_column(name, "" if once else alias))
        return list(listed.values())

    def every_name(self) -> list[str]:
        every = dict.fromkeys(name for names in self.names.values() for name in names)
        return [name for name in every if not is_nameless(name)]


def nameless(place: int) -> str:
    """Under which an item of a select list that nobody can call is known all the same, so that `*` does not lose it."""
    return f"\0{place}"  # no statement has this character


def is_nameless(name: str) -> bool:
    return name.startswith("\0")


def quoted_column(name: str, table: str = "") -> exp.Column:
    """A column by its exact name. Built by hand, as this happens for every column of every statement."""
    owner = exp.Identifier(this=table, quoted=True) if table else None
    return exp.Column(this=exp.Identifier(this=name, quoted=True), table=owner)
