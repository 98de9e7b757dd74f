"""What a custodian sees of a publication that goes on: the steps in order, and a share that rises."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.custody.publish.publish import publish
from querygate.custody.publish.step_state import TIMES, Step
from querygate_adapters.sources.open_source import open_source
from tests.policies import AGE, make_policy
from tests.unit.custody.publish.publications import new_site, shelf_of, write_parquet

pytestmark = pytest.mark.usefixtures("compared_methods")


@pytest.mark.parametrize(
    "how", [{"anonymise": {"method": "auto"}}, {"anonymise": {"method": "mondrian"}}, {"views": {}}]
)
def test_steps_and_shares(tmp_path: Path, how: dict[str, Any]) -> None:
    told: list[tuple[str, float | None]] = []
    people = {"age": np.random.default_rng(0).integers(0, 100, 3_000)}
    publish(
        make_policy("t", {"age": AGE}, **how).parsed(),
        open_source(str(write_parquet(tmp_path / "s.parquet", people))),
        shelf_of(new_site(tmp_path)),
        now=lambda: "2026-01-01T00:00:00Z",
        clock_s=time.perf_counter,
        progress=lambda step, share=None, /: told.append((step, share)),
    )

    assert len({step for step, _ in told}) == sum(a[0] != b[0] for a, b in pairwise(told)) + 1  # none comes back
    steps = list(dict.fromkeys(step.partition(":")[0] for step, _ in told))
    assert steps[:3] == ["reading the source", "coding", "making views" if "views" in how else "making classes"]
    assert steps[-3:] == ["generalising", "writing", "verifying"]
    shares = [share for _, share in told if share is not None]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == Step.VERIFY.reached(0.0)
    inside = [s for s in shares if Step.DIVIDE.reached(0) < s < Step.GENERALISE.reached(0)]
    assert inside or how.get("anonymise") == {"method": "mondrian"}  # so few combinations are divided in one go


def test_the_steps_make_up_the_whole() -> None:
    assert len(TIMES) == len(Step)
    assert Step.LOAD.reached(0.0) == 0.0
    assert Step.VERIFY.reached(1.0) == 1.0
