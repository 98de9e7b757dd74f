"""What a policy says of how its source is read: texts that stand for no value, dates, and ages that are worked out."""

from __future__ import annotations

from querygate.core.vault_ports import ReadAs
from querygate.custody.policy.derived_ages import worked_out_ages
from querygate.custody.policy.policy_types import Policy
from querygate.custody.policy.toml_reader import TomlTable

TEXTS = 'a list of at least one text, such as ["NA", "99"]'


def read_absent(table: TomlTable) -> tuple[str, ...]:
    """The texts of the key `absent`, in any order; empty where it is not there."""
    raw = table.raw.get("absent", [])
    good = isinstance(raw, list) and all(isinstance(text, str) and text.strip() for text in raw)
    if not good or ("absent" in table and not raw):
        table.fail("absent", "is not a list of texts", TEXTS)
        return ()
    return tuple(sorted({text.strip() for text in raw}))


def read_written(table: TomlTable, kind: str | None) -> str:
    """The order of day and month; empty where the key is not there. `kind` is None of what is not published."""
    if "written" not in table:
        return ""
    if kind not in (None, "date", "timestamp"):
        table.fail("written", f"does not apply to type {kind}", "for type date or timestamp")
        return ""
    return table.choice("written") or ""


def reading_of(policy: Policy) -> ReadAs:
    """How the source of the policy is read."""
    return ReadAs(
        {column.name: column.absent for column in policy.columns if column.absent},
        worked_out_ages(policy),
        {column.name: column.written for column in policy.columns if column.written},
    )
