"""Which rows belong to one person: k counts people, so a policy has to identify them if they may have several rows.

The column `person` of a policy identifies people. Without it each row counts as a different person, unless an
identifier, or a column that is named like one, has a value in several rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import ValueCount
from querygate.custody.policy import ColumnPolicy, Policy, column_names
from querygate.custody.policy.identifier_signs import KeyName, is_shared, key_name

FEW_ROWS = 10
"""For a key that is not named after people: the most rows per value, on average, for it to identify people; a ward has
more."""

NEARLY_ALL = 0.95
"""For values that several people may share, such as names: the share of distinct values from which they count as one
per row."""

ROW_BY_ROW = "one row per person, for example with a view that groups"


Count = Callable[[Iterable[str]], Mapping[str, ValueCount]]


def count_persons(policy: Policy, rows: int, count: Count) -> int:
    """Counts people by the column that the policy names; ConfigError QG803 if a row belongs to nobody."""
    found = count([policy.person])[policy.person]
    if found.known < rows:
        raise ConfigError(
            "QG803",
            f"person: {policy.person} is missing in {rows - found.known:,} of {rows:,} rows.",
            "Give every row the person it belongs to, or leave out the rows that have none.",
        )
    return found.distinct


def check_unnamed(policy: Policy, others: Iterable[str], count: Count, count_others: Count) -> None:
    """If the policy names no person: check that no identifier, and no other column named like a key, has a value in
    several rows. ConfigError QG803 with the figures.
    """
    if policy.person or policy.k_counts == "rows":
        return
    found = dict(count(c.name for c in policy.named("identifier")))
    found = {name: c for name, c in found.items() if _may_be_a_key(policy.column(name), c)}
    names = {name: named for name in others if (named := key_name(name)) is not None}
    found |= {
        name: counted
        for name, counted in count_others(names).items()
        if names[name] is KeyName.PERSON or counted.known <= FEW_ROWS * counted.distinct
    }
    repeated = {name: counted for name, counted in found.items() if 0 < counted.distinct < counted.known}
    if not repeated:
        return
    figures = "; ".join(f"{name}: {c.distinct:,} different values in {c.known:,} rows" for name, c in repeated.items())
    best = min(repeated, key=lambda name: (key_name(name) is not KeyName.PERSON, repeated[name].distinct))
    raise ConfigError(
        "QG803",
        f"k counts people, and people may have several rows: {figures}.",
        f'Name the column that identifies people: person = "{best}" above the first table, with role identifier in '
        f'[columns.{best}]. If every row is another person, or rows are what you protect: k_counts = "rows".',
    )


def _may_be_a_key(column: ColumnPolicy, counted: ValueCount) -> bool:
    """Days and places do not identify anybody; names and telephone numbers do, if hardly any occur in two rows."""
    if column.kind in ("date", "place") or column.type in ("date", "timestamp"):
        return False
    if column_names.is_birth(column.name) or column_names.says(column_names.POSTCODE, column.name):
        return False
    shared = is_shared(column.name) or column.kind in ("name", "phone", "fax", "email")
    return not shared or counted.distinct < NEARLY_ALL * counted.known


def check_supported(policy: Policy, persons: int, rows: int) -> None:
    """Guarantees that count records cannot be kept for people with several. ConfigError QG803."""
    if persons >= rows:
        return
    lists = [column.name for column in policy.published if column.codes is not None]
    own = [column.name for column in policy.named("sensitive") if column.carry == "univariate"]
    refused = [
        *(f"{name} is a code list, which is protected by counting records" for name in lists[:1]),
        *(f'{name} has carry = "univariate", which counts records' for name in own[:1]),
        *(["class moments of one person's many rows would be theirs"] * (policy.anonymise.class_moments != "none")),
    ]
    if refused:
        raise ConfigError(
            "QG803",
            f"{persons:,} people have {rows:,} rows, and {'; '.join(refused)}.",
            f"Leave it out of the policy, or provide {ROW_BY_ROW}.",
        )
