"""Statements that are dear for one person if a secret is true, and cost nothing for anybody else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from querygate.core.types import Principal, QueryOptions, Request
from querygate.custody.noise.noisy_answer import NoisyState, Way, begin, price, understand
from querygate.custody.use_cases.open_custody import with_vault
from querygate.custody.use_cases.open_noise import open_noise
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.query_state import State
from querygate.gate.steps.find import find
from querygate.site.open_gate import OpenSite, open_gate
from tests.empty_site import empty_site
from tests.policies import make_policy, quasi, sensitive

LOW, HIGH = 120, 280
"""The target's blood pressure, in one table and in the other."""

TARGET = 93
"""An age that only one person has."""

POLICY = make_policy(
    "people",
    {
        "age": quasi("integer", (0, 99)),
        "ward": quasi("category", values=["A", "B"]),
        "sbp": sensitive("integer", (40, 300)),
        "married": sensitive("boolean"),
    },
    k=2,
    answers={"modes": ["laplace"]},
    laplace=dict.fromkeys(("epsilon_per_query", "epsilon_total", "epsilon_per_user"), 100.0),
)


def long_text(letter: str) -> str:
    """Of any pressure a text about as long as texts may be."""
    return f"CONCAT(sbp, '{letter * 900}')"


def dear(letters: str, age: int = TARGET) -> str:
    """It takes the database milliseconds for one person, if the pressure is high; else nothing."""
    long = " AND ".join(f"LEVENSHTEIN({long_text(letter)}, {long_text('z')}) > 0" for letter in letters)
    inner = f"CASE WHEN sbp = {HIGH} THEN {long} ELSE FALSE END"
    return f"SELECT COUNT(*) FROM people WHERE CASE WHEN age = {age} THEN {inner} END"


@dataclass(frozen=True)
class Neighbour:
    """A site, and its way to noisy answers."""

    opened: OpenSite
    way: Way

    def request(self, sql: str) -> Request:
        return Request(Principal("ann", "researcher"), "people", sql, QueryOptions("laplace"))

    def priced(self, sql: str) -> NoisyState:
        state = begin(find(State("q", self.request(sql), self.way.gate.clock_s()), self.way.gate))
        for step in (understand, price):
            state = step(state, self.way)
        return replace(state, began_s=self.way.gate.clock_s())


def make_site(folder: Path, targets: Mapping[int, int], rows: int = 500) -> Neighbour:
    """People below 50, and by their age targets with their pressure."""
    people: list[dict[str, Any]] = [
        {"age": 20 + i % 30, "ward": "AB"[i % 2], "sbp": 100 + i % 80, "married": i % 3 == 0}
        for i in range(rows - len(targets))
    ]
    people += [{"age": age, "ward": "A", "sbp": sbp, "married": True} for age, sbp in targets.items()]
    name = f"{'_'.join(map(str, targets.values()))}_{rows}"
    pyarrow.parquet.write_table(pa.Table.from_pylist(people), folder / f"{name}.parquet")
    opened = with_vault(open_gate(empty_site(folder / name)))
    publish_to(opened, POLICY.parsed(), str(folder / f"{name}.parquet"), user="custodian")
    return Neighbour(opened, Way(opened.gate, open_noise(opened)))
