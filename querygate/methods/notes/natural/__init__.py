"""Replacements that read naturally: another name, town, number or day in the place of each, of the same form."""

from __future__ import annotations

from querygate.methods.notes.natural.made_up_person import Stranger

__all__ = ["Stranger"]
