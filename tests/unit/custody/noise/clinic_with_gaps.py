"""A published clinic in which every column has missing values, with the truth beside it.

One group is empty, one holds only missing temperatures, and nobody's lactate was measured.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet

from querygate.core.types import Principal, QueryOptions, Request
from querygate.custody.noise.noisy_answer import NoisyState, Way, begin, count, perturb, price, understand
from querygate.custody.noise.noisy_groups import make_rows
from querygate.custody.use_cases.open_custody import with_vault
from querygate.custody.use_cases.open_noise import open_noise
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.query_state import State
from querygate.gate.steps.find import find
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from tests.engine import scratch
from tests.policies import make_policy, quasi, sensitive

POLICY = make_policy(
    "clinic",
    {
        "age": quasi("integer", (0, 99)),
        "ward": quasi("category", values=["A", "B", "C", "empty", "unmeasured"]),
        "temperature": sensitive("number", (30, 45)),
        "systolic": sensitive("integer", (40, 300)),
        "lactate": sensitive("number", (0, 30), guard=0),
        "smoker": sensitive("boolean"),
    },
    k=2,
    answers={"modes": ["laplace"]},
    laplace=dict.fromkeys(("epsilon_per_query", "epsilon_total", "epsilon_per_user"), 1.0),
)


@dataclass(frozen=True)
class Clinic:
    way: Way
    truth: duckdb.DuckDBPyConnection

    def counted(self, sql: str, epsilon: float = 1.0) -> NoisyState:
        """A statement on its way, up to the exact numbers."""
        request = Request(Principal("ann", "researcher"), "clinic", sql, QueryOptions("laplace", epsilon))
        state = begin(find(State("q", request, self.way.gate.clock_s()), self.way.gate))
        for step in (understand, price, count):
            state = step(state, self.way)
        return state

    def released(self, state: NoisyState, entropy: random.Random) -> list[list[dict[str, Any]]]:
        """One release of the numbers, as no gate would make a second one."""
        way = replace(self.way, noise=replace(self.way.noise, entropy=entropy))
        state = perturb(replace(state, began_s=way.gate.clock_s()), way)
        assert state.told is not None
        return [[cell for cell in row.values() if isinstance(cell, dict)] for row in make_rows(state.plan, state.told)]


def make_clinic(folder: Path, rows: int = 600, missing: float = 0.1, seed: int = 7) -> Clinic:
    rng = random.Random(seed)

    def perhaps(value: Any) -> Any:
        return None if rng.random() < missing else value

    def person() -> dict[str, Any]:
        ward = perhaps(rng.choice(["A", "B", "B", "C", "C", "C", "unmeasured"]))
        temperature = None if ward == "unmeasured" else perhaps(round(rng.gauss(37.2, 0.6), 1))
        return {
            "age": perhaps(rng.randint(0, 99)),
            "ward": ward,
            "temperature": temperature,
            "systolic": perhaps(min(max(round(rng.gauss(130, 20)), 60), 250)),
            "lactate": None,
            "smoker": perhaps(rng.random() < 0.3),
        }

    table = pa.Table.from_pylist(
        [person() for _ in range(rows)],
        schema=pa.schema(
            {
                "age": pa.int64(),
                "ward": pa.string(),
                "temperature": pa.float64(),
                "systolic": pa.int64(),
                "lactate": pa.float64(),
                "smoker": pa.bool_(),
            }
        ),
    )
    source = folder / "clinic.parquet"
    pyarrow.parquet.write_table(table, source)
    opened = with_vault(open_gate(init_site(folder / "site")))
    publish_to(opened, POLICY.parsed(), str(source), user="custodian")
    truth = scratch()
    truth.execute(f"CREATE TABLE clinic AS SELECT * FROM '{source}'")
    return Clinic(Way(opened.gate, open_noise(opened)), truth)
