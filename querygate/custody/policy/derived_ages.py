"""A derived age: from the date of birth to another date, in whole years.

[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 120]
from = "birth_date"
at = "admission_date"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from querygate.core.dates import day_text
from querygate.core.publications.vault_ports import AgeAt
from querygate.custody.policy.column_policy import ColumnPolicy
from querygate.custody.policy.policy_types import Policy
from querygate.custody.policy.toml_reader import TomlTable, read_value

COLUMN = "the name of a column of the source that holds dates of birth"
AT = "the name of a column of the source that holds dates, or a date such as 2024-12-31"


def read_age(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    """The column with its two dates, if it is a derived age."""
    if not {"from", "at"} & table.raw.keys():
        return column
    for key in ("from", "at"):
        if key not in table:
            table.fail(key, "is missing: an age is worked out from a date of birth at another date", AT)
            return column
    born = table.text("from", r".+")
    day = read_value("date", table.raw["at"])
    if day is not None:
        text = day_text(int(day))
        return replace(column, age=AgeAt(column.name, born, day=text))
    at = table.text("at", r".+") if isinstance(table.raw["at"], str) else ""
    if not at:
        table.fail("at", "is neither a column nor a date", AT)
    return replace(column, age=AgeAt(column.name, born, at))


def check_ages(top: TomlTable, columns: Sequence[ColumnPolicy]) -> None:
    """Check that the date of birth is not published too, and that no age is derived from another."""
    known = {column.name: column for column in columns}
    for column in columns:
        for key, name in (("from", column.age.born), ("at", column.age.at)) if column.age else ():
            other = known.get(name)
            path = ("columns", column.name, key)
            if other is not None and other.age is not None:
                top.problems.add(path, "names an age that is worked out itself", COLUMN)
            elif key == "from" and other is not None and other.is_published:
                top.problems.add(
                    path,
                    "names a column that is also published: the two together reveal more",
                    f"role withheld for {name}",
                )


def worked_out_ages(policy: Policy) -> tuple[AgeAt, ...]:
    """The ages to derive while the source is read."""
    return tuple(column.age for column in policy.columns if column.age is not None)
