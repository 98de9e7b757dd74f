"""Every form of statement that noise is added to, on two tables that differ by one person.

The whole path is the gate's own: the statement is understood and priced, the raw rows are counted in a vault, and then
noise is drawn again and again for the same counts, as no gate would do. What an attacker sees of one release is a
number: what the person would change, added up with its sign over all groups and numbers of the answer.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from querygate.core.types import Principal, Request
from querygate.custody.noise.noisy_answer import NoisyState, Way, begin, count, price, understand
from querygate.custody.noise.noisy_groups import Figures, perturbed
from querygate.custody.use_cases.open_custody import with_vault
from querygate.custody.use_cases.open_noise import open_noise
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.query_state import State
from querygate.gate.steps.find import find
from querygate.site.open_gate import open_gate
from tests.empty_site import empty_site
from tests.policies import IDENTIFIER, make_policy, quasi, sensitive
from tests.unit.methods.dp.empirical import Floats, measured_epsilon

EPSILON = 1.0
ROWS_OF_ONE = 3
POLICY = make_policy(
    "visits",
    {
        "patient": IDENTIFIER,
        "age": quasi("integer", (0, 99)),
        "ward": quasi("category", values=["A", "B", "C"]),
        "cost": sensitive("number", (0, 100)),
    },
    k=2,
    answers={"modes": ["laplace"]},
    laplace={
        **dict.fromkeys(("epsilon_per_query", "epsilon_total", "epsilon_per_user"), EPSILON),
        "rows_per_person": ROWS_OF_ONE,
    },
    person="patient",
)
FORMS = {
    "count": "SELECT COUNT(*) FROM visits",
    "count of a column": "SELECT COUNT(cost) FROM visits WHERE age > 10",
    "count of persons": "SELECT COUNT(DISTINCT patient) FROM visits",
    "count of values": "SELECT COUNT(DISTINCT age) FROM visits",
    "count with FILTER": "SELECT COUNT(*) FILTER (WHERE cost > 50) FROM visits",
    "sum": "SELECT SUM(cost) FROM visits",
    "sum of a CASE": "SELECT SUM(CASE WHEN ward = 'A' THEN cost ELSE 0 END) FROM visits",
    "mean": "SELECT AVG(cost) FROM visits",
    "median": "SELECT MEDIAN(age) FROM visits",
    "groups": "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
    "groups of persons": "SELECT ward, COUNT(DISTINCT patient) FROM visits GROUP BY ward",
    "sums of groups": "SELECT ward, SUM(cost) FROM visits GROUP BY ward",
    "several numbers": "SELECT COUNT(*), SUM(cost), AVG(age) FROM visits",
    "groups and total": "SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)",
}
LOUD = ("count", "count with FILTER", "sum", "sum of a CASE")
"""Forms in which one number shows all that a person changes: half the noise is seen there."""


@dataclass(frozen=True)
class Pair:
    """The gates of two neighbouring tables."""

    gates: tuple[Way, Way]

    def epsilon(self, sql: str, releases: int, *, rows: int = ROWS_OF_ONE) -> float:
        """What is measured between the two. With fewer `rows` than a person has, noise is too small."""
        states = [self._counted(gate, sql, rows) for gate in self.gates]
        towards = _numbers(states[1], None) - _numbers(states[0], None)
        samples: list[Floats] = []
        for which, state in enumerate(states):
            entropy = random.Random(f"{sql} {which}")
            samples.append(np.array([float(_numbers(state, entropy) @ np.sign(towards)) for _ in range(releases)]))
        return measured_epsilon(samples[0], samples[1])

    @staticmethod
    def _counted(way: Way, sql: str, rows: int) -> NoisyState:
        state = begin(
            find(State("q", Request(Principal("ann", "researcher"), "visits", sql), way.gate.clock_s()), way.gate)
        )
        for step in (understand, price, count):
            state = step(state, way)
        figures = tuple(replace(figure, rows=min(rows, figure.rows)) for figure in state.figures)
        return replace(state, figures=figures)


def _numbers(state: NoisyState, entropy: random.Random | None) -> Floats:
    """The numbers of one release, in a fixed order; without entropy, those without noise."""
    figures = state.figures if entropy is not None else tuple(map(_quiet, state.figures))
    noise = entropy or random.Random(1)
    told = perturbed(state.plan, figures, state.tallied, state.catalog, noise)
    return np.array([cell["value"] for row in told["rows"] for cell in row["cells"].values()], dtype=np.float64)


def _quiet(figure: Figures) -> Figures:
    return replace(figure, epsilon=90.0)


def make_pair(folder: Path) -> Pair:
    """Sixty visits, of which anything but whose they are may be missing, and three more of somebody with high costs."""
    rng = random.Random(3)

    def perhaps(value: Any) -> Any:
        return None if rng.random() < 0.1 else value

    rows: list[dict[str, Any]] = [
        {
            "patient": f"p{i}",
            "age": perhaps(rng.randint(20, 60)),
            "ward": perhaps(rng.choice("ABC")),
            "cost": perhaps(float(rng.randint(0, 100))),
        }
        for i in range(60)
    ]
    somebody = [{"patient": "x", "age": age, "ward": "A", "cost": 100.0} for age in (91, 92, 93)]
    gates = []
    for number, table in enumerate((rows, [*rows, *somebody])):
        source = folder / f"visits{number}.parquet"
        pyarrow.parquet.write_table(pa.Table.from_pylist(table), source)
        opened = with_vault(open_gate(empty_site(folder / f"site{number}")))
        publish_to(opened, POLICY.parsed(), str(source), user="custodian")
        gates.append(Way(opened.gate, open_noise(opened)))
    return Pair((gates[0], gates[1]))
