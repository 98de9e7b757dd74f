"""Whether a mark that hides a pattern would tell what it hides: counted on the source's lists and what is published.

A code that a pattern keeps secret is unknown in some records: an item of this code and none. Where most of these
records have the code, the item would say so.
"""

from __future__ import annotations

import numpy as np

from querygate.core.publications.vault_ports import ListedCodes
from querygate.core.types import Bools
from querygate.custody.code_lists.public_codes import CodeSystem
from querygate.custody.code_lists.record_code_lists import listed_rules, read_texts
from querygate.custody.policy import CodesPolicy, ColumnPolicy
from querygate.custody.verify.code_knowledge import PublishedCodeSets
from querygate.custody.verify.diversity_check import GuaranteeCheck

MOST = 0.5


def marks_measure(name: str) -> str:
    """The name of the measure for how often marks are true."""
    return f"largest share of the records with an unknown code of {name} that have it"


def measure_marks(
    column: ColumnPolicy, system: CodeSystem, told: PublishedCodeSets, staging: ListedCodes
) -> list[GuaranteeCheck]:
    """At most half of the records of which a secret code is unknown have it. Nothing for other kinds of protection."""
    if (column.codes or CodesPolicy()).protect.kind != "patterns":
        return []
    held = _held(column, system, staging)
    leaving, numbers = staging.record_classes() >= 0, staging.record_codes(column.name)
    surest = 0.0
    for code in _secret(column, system, held, leaving):
        mark = frozenset({system.codes[code], ""})
        marks = {item for item, codes in told.items.items() if codes == mark}
        marked = leaving & np.isin(numbers, [number for number, items in told.sets.items() if items & marks])
        if marked.any():
            surest = max(surest, float(held[code][marked].mean()))
    promise = f"at most half of the records in which a secret code of {column.name} is unknown have it"
    return [GuaranteeCheck(promise, marks_measure(column.name), surest, surest <= MOST)]


def _held(column: ColumnPolicy, system: CodeSystem, staging: ListedCodes) -> dict[int, Bools]:
    """For each code of a pattern, the records that have it."""
    raw = staging.code_texts(column.name, (column.codes or CodesPolicy()).separator)
    codes, _ = read_texts(column, system, raw, "lists")
    of_entry, rows = codes[raw.text], np.arange(staging.record_classes().size)
    wanted = {code for rule in listed_rules(column, system) for side in rule for code in side}
    return {code: np.isin(rows, raw.record[of_entry == code]) for code in wanted}


def _secret(column: ColumnPolicy, system: CodeSystem, held: dict[int, Bools], leaving: Bools) -> set[int]:
    """The secret codes of patterns of which all codes occur: no others are hidden."""
    occurring = {code for code, having in held.items() if (having & leaving).any()}
    rules = listed_rules(column, system)
    return {code for known, secret in rules if {*known, *secret} <= occurring for code in secret}
