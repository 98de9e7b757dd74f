"""Chooses the code system of a column of diagnoses: the one that lists most of its codes.

Codes of several systems look alike. J45.0 is asthma in most countries, but not a code in the United States. So codes
are compared with the lists themselves, and if none has them all, the draft allows unlisted codes.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from querygate.core.publications.vault_ports import Source
from querygate.custody.policy.drafts.column_proposal import LIST_TITLES, TITLES, Proposal
from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_text
from querygate.custody.policy.identifier_signs import words_of
from querygate.methods.code_lists.code_spelling import normalise

PRESET = "hierarchy"

NATIONAL = r"diagnosen?\b|\bgm\b|\bicd ?10 ?who\b|\bdiagnostic(s|o)?\b|\bdiagn(ó|o)stico|\bdiagnosi\b"
ALIKE = 0.02
"""Names in tables from outside the United States: where the list of ICD-10 has nearly as many of their codes, they are
of a national version, such as ICD-10-GM.
"""


def with_fitting_systems(source: Source, proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """Every column of diagnoses, with the system that has most of its codes."""
    return tuple(_fitted(source, p) if _is_coded(p) else p for p in proposals)


def _is_coded(p: Proposal) -> bool:
    return p.role == "codes" or json.loads(p.keys.get(PRESET, '""')) in TITLES


def _fitted(source: Source, p: Proposal) -> Proposal:
    codes = Counter(_codes(source, p.name, json.loads(p.keys.get("separator", '""'))))
    entries = codes.total()
    if not entries:
        return p
    titles = LIST_TITLES if p.role == "codes" else TITLES
    shares = {name: 1 - _unknown(name, codes) / entries for name in titles}
    system = max(shares, key=lambda name: shares[name])  # of several that have all, the first
    if shares["icd10"] >= shares[system] - ALIKE and re.search(NATIONAL, words_of(p.name)):
        system = "icd10"
    key = PRESET if p.role != "codes" else "system"
    keys, notes = {**p.keys, key: toml_text(system)}, {**p.notes}
    notes[key] = f"{titles[system]} has {_percent(shares[system])} of the codes, " + ", ".join(
        f"{titles[name]} {_percent(share)}" for name, share in shares.items() if name != system
    )
    if p.role == "codes" and shares[system] < 1:
        keys["unknown"] = '"other"'
        notes["unknown"] = "unlisted codes count in the group whose codes begin the same way"
    why = tuple(line.replace(titles[json.loads(p.keys[key])] + ":", titles[system] + ":") for line in p.why)
    return replace(p, keys=keys, notes=notes, why=why)


def _unknown(system: str, codes: Counter[str]) -> int:
    return sum(codes[text] for text in normalise(system, codes).unknown)


def _percent(share: float) -> str:
    """A share in percent that is never rounded to 100 %.

    >>> _percent(0.9999), _percent(1.0), _percent(0.256)
    ('99.9 %', '100 %', '26 %')
    """
    return "99.9 %" if 0.995 <= share < 1 else f"{share:.0%}".replace("%", " %")


def _codes(source: Source, column: str, separator: str) -> Iterator[str]:
    """Every code of every record, as written."""
    with source.reading():
        for batch in source.batches([column]):
            values = batch.column(0)
            if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
                values = values.flatten()
            for text, number in Counter(str(value) for value in values.to_pylist() if value is not None).items():
                for part in text.split(separator) if separator else (text,):
                    if code := part.strip():
                        yield from (code for _ in range(number))
