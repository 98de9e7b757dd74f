"""The text of a policy file, made of what matters to a test.

`make_policy("t", {"age": AGE, "sbp": SBP | {"guard": 0}}, k=2, anonymise={"method": "mondrian"})` is the text; and
`.but(k=3, columns={"sbp": None})` of it is the text with another k and without that column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from querygate.custody.policy import Policy, parse_policy
from querygate.custody.policy.policy_writer import write_toml

Column = dict[str, Any]


class PolicyText(str):
    """The text of a policy that knows its tables, so that it can be told again with changes."""

    tables: dict[str, Any]

    def __new__(cls, tables: dict[str, Any]) -> PolicyText:
        text = super().__new__(cls, write_toml(tables))
        text.tables = tables
        return text

    def but(self, **changes: Any) -> PolicyText:
        """Tables and columns are merged with what they have, other keys take its place; None takes away."""
        return PolicyText(_merged(self.tables, changes, depth=2))

    def parsed(self, folder: Path = Path()) -> Policy:
        return parse_policy(self, folder=folder)


def declaring(text: PolicyText, rows: Mapping[str, Sequence[Any]]) -> PolicyText:
    """The policy with all values of its categories declared, where it is no matter that their names become public."""
    columns = {
        name: {"values": sorted({value for value in rows[name] if value is not None})}
        for name, column in text.tables["columns"].items()
        if column.get("type") == "category" and not {"values", "rare", "hierarchy", "groups"} & set(column)
    }
    return text.but(columns={name: column for name, column in columns.items() if column["values"]})


def make_policy(dataset: str, columns: Mapping[str, Column], *, k: int = 5, **more: Any) -> PolicyText:
    return PolicyText({"dataset": dataset, "k": k, "columns": dict(columns), **more})


def make_column(role: str, kind: str, domain: Sequence[Any] | None = None, **more: Any) -> Column:
    return {"role": role, "type": kind} | ({} if domain is None else {"domain": domain}) | more


quasi, sensitive, public = (partial(make_column, role) for role in ("quasi-identifier", "sensitive", "public"))


def code_list(system: str, **more: Any) -> Column:
    return {"role": "codes", "system": system, **more}


def diverse(kind: str, **more: Any) -> Column:
    """What a sensitive column has to keep in every class: `sensitive("category") | diverse("distinct", l=2)`."""
    return {"diversity": {"kind": kind, **more}}


def _merged(old: Mapping[str, Any], new: Mapping[str, Any], depth: int) -> dict[str, Any]:
    made = dict(old)
    for key, value in new.items():
        made[key] = _merged(old.get(key) or {}, value, depth - 1) if depth and isinstance(value, Mapping) else value
    return {key: value for key, value in made.items() if value is not None}


IDENTIFIER: Column = {"role": "identifier"}
WITHHELD: Column = {"role": "withheld"}
AGE = quasi("integer", (0, 120), grid=1)
ROUGH_AGE = quasi("integer", (0, 120))  # with the grid that a policy has unless it says otherwise
SEX = quasi("category")
ZIP = quasi("category", hierarchy="digits")
SBP = sensitive("integer", (40, 300))
ILLNESS = sensitive("category")

# People of a register, each with a number of their own, so that versions can be laid together.
REGISTER = make_policy(
    "t",
    {
        "mrn": IDENTIFIER,
        "age": quasi("integer", (0, 100), grid=1, weight=4),
        "zip": quasi("integer", (0, 1000), grid=10),
        "ward": ILLNESS | diverse("distinct", l=2),
    },
    person="mrn",
    anonymise={"method": "mondrian"},
)
