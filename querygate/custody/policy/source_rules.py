"""What a policy says of how its source is read: texts that stand for no value, other spellings, dates, limits of
detection, and ages that are worked out.
"""

from __future__ import annotations

from typing import TypeAlias, cast

from querygate.core.derived_columns import Censored
from querygate.core.publications.vault_ports import ReadAs
from querygate.custody.policy.derived_ages import worked_out_ages
from querygate.custody.policy.policy_types import Policy
from querygate.custody.policy.toml_reader import TomlTable

Spellings: TypeAlias = "tuple[tuple[str, tuple[str, ...]], ...]"
"""Values, and the texts that are read as them."""

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


def read_spelled(table: TomlTable, kind: str | None) -> Spellings:
    """Other spellings of the values of a category; empty where the key is not there."""
    raw = table.raw.get("spelled", {})
    accepted = 'a table of lists, such as { m = ["M", "m "] }, with each text once'
    if "spelled" in table and kind not in (None, "category"):
        table.fail("spelled", f"does not apply to type {kind}", "for type category")
        return ()
    others = [text for texts in raw.values() if isinstance(texts, list) for text in texts] if _is_table(raw) else []
    good = _is_table(raw) and all(isinstance(texts, list) and texts for texts in raw.values())
    good = good and all(isinstance(text, str) and text for text in others)
    if not good or ("spelled" in table and not raw) or len({*others, *raw}) < len(others) + len(raw):
        table.fail("spelled", "does not say which texts are read as which value", accepted)
        return ()
    return tuple(sorted((value, tuple(sorted(texts))) for value, texts in raw.items()))


def _is_table(raw: object) -> bool:
    return isinstance(raw, dict)


def read_censored(table: TomlTable, kind: str | None) -> Censored:
    """What values beyond a limit of detection are read as; empty where the key is not there."""
    if "censored" not in table:
        return ""
    if kind not in (None, "integer", "number"):
        table.fail("censored", f"does not apply to type {kind}", "for type integer or number")
        return ""
    return cast(Censored, table.choice("censored") or "")


def reading_of(policy: Policy) -> ReadAs:
    """How the source of the policy is read."""
    return ReadAs(
        {column.name: column.absent for column in policy.columns if column.absent},
        worked_out_ages(policy),
        {column.name: column.written for column in policy.columns if column.written},
        {column.name: dict(column.spelled) for column in policy.columns if column.spelled},
        {column.name: column.censored for column in policy.columns if column.censored},
        policy.person or "",
    )
