"""The rules about people: who is the same in two rows or versions, and what happens if versions reveal too much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from querygate.custody.policy.column_policy import ColumnPolicy
from querygate.custody.policy.policy_types import RepublishOptions
from querygate.custody.policy.toml_reader import TomlTable, listed


def read_person(top: TomlTable, columns: Sequence[ColumnPolicy]) -> str:
    """The column that identifies persons; empty if the file names none."""
    person = top.text("person")
    known = [column.name for column in columns if column.role == "identifier"]
    if person and person not in known:
        top.fail("person", "is not an identifier", listed(known) or "a column with role identifier (there is none)")
    return person


def read_k_counts(top: TomlTable, person: str) -> Literal["persons", "rows"]:
    counted: Literal["persons", "rows"] = top.word("k_counts", "persons")
    if counted == "rows" and person:
        top.fail("k_counts", "is rows, but the policy names a person, and k counts these", "persons; or no person")
    return counted


def read_republish(top: TomlTable) -> RepublishOptions:
    table = top.table("republish")
    return RepublishOptions(
        on_overlap=table.word("on_overlap", "refuse"),
        few_changes=table.word("few_changes", "refuse"),
    )
