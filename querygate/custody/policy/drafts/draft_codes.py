"""Proposes groups of codes for views, for a column with lists of codes: diseases that enough people have.

Views publish named groups, each as a flag of which nobody's value is certain (decision 0035). So a group is proposed if
enough people are in it and enough are not, and no more groups than the longest list has codes.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from querygate.core.column_profile import ColumnFigures, Surveyor
from querygate.core.publications.vault_ports import Source
from querygate.core.types import folded
from querygate.custody.policy.drafts.column_proposal import SELDOM, Proposal
from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_list, toml_text
from querygate.custody.policy.identifier_signs import JOINT

MOST = 6
"""The most groups of one list."""

LEAST = 5
"""This many times k people must be in a group, and as many not."""


@dataclass(frozen=True, slots=True)
class ProposedGroup:
    """A flag and its codes, with the share of the records that have one of them."""

    name: str
    codes: tuple[str, ...]
    share: float


@cache
def known_groups() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """By name and code system, the categories of a group."""
    text = files("querygate.custody.policy").joinpath("data/code_groups.toml").read_text(encoding="utf-8")
    found = {name: {k: tuple(v) for k, v in systems.items()} for name, systems in tomllib.loads(text).items()}
    return {name: systems | {JOINT: systems["icd9cm"] + systems["icd10cm"]} for name, systems in found.items()}


def propose_groups(
    source: Source, survey: Surveyor, proposals: Sequence[Proposal], k: int
) -> dict[str, tuple[ProposedGroup, ...]]:
    """The groups to name, by column with lists of codes; empty if views could publish none."""
    lists = [p for p in proposals if p.role == "codes"]
    if not lists:
        return {}
    taken = {folded(p.name) for p in proposals}
    found: dict[str, tuple[ProposedGroup, ...]] = {}
    for p in lists:
        system, mark = json.loads(p.keys["system"]), json.loads(p.keys.get("separator", '","'))
        (figures,) = survey(_Part(source, p.name), patterns_of(system, mark))
        found[p.name] = groups_of(figures, system, k, taken)
        taken |= {folded(group.name) for group in found[p.name]}
    return found


def groups_of(figures: ColumnFigures, system: str, k: int, taken: Collection[str]) -> tuple[ProposedGroup, ...]:
    """The most common groups, as many as the longest list has codes."""
    rows = max(figures.rows, 1)
    least = max(LEAST * k / rows, SELDOM)
    longest = max((n for n in range(2, MOST + 1) if figures.contains.get(_several(n), 0) > 0), default=1)
    found = []
    for name, codes in known_groups().items():
        share = figures.contains.get(name, 0.0) * figures.known / rows
        if least <= share <= 1 - least:
            own = name if folded(name) not in taken else f"{name}_coded"
            found.append(ProposedGroup(own, codes[system], share))
    found.sort(key=lambda group: -group.share)
    return tuple(group for group in found[:longest] if folded(group.name) not in taken)


def patterns_of(system: str, mark: str) -> dict[str, str]:
    """Patterns of lists with a code of each group, and of lists with several codes."""
    begins = r"(?:^|[^A-Za-z0-9.])"
    groups = {name: f"{begins}(?:{'|'.join(codes[system])})" for name, codes in known_groups().items()}
    sign = re.escape(mark)
    return groups | {_several(n): f"(?:[^{sign}]+{sign}){{{n - 1}}}[^{sign}]+" for n in range(2, MOST + 1)}


def _several(number: int) -> str:
    return f"{number} codes"


def group_lines(column: str, groups: Sequence[ProposedGroup]) -> tuple[str, tuple[str, ...]]:
    """The table of a list, with its comment."""
    shares = ", ".join(f"{group.name} {group.share:.0%}" for group in groups)
    said = (
        f"Views publish only these groups of codes: name all that researchers will ask about. In the records: {shares}."
    )
    key = toml_text(column)
    lines = (f"{toml_text(group.name)} = {toml_list(map(toml_text, group.codes))}" for group in groups)
    return said, (f"[views.codes.{key}]", *lines)


class _Part:
    """One column of a source."""

    def __init__(self, source: Source, column: str) -> None:
        self._source, self._column = source, column
        self.reading, self.batches = source.reading, source.batches

    def columns(self) -> tuple[str, ...]:
        return (self._column,)
