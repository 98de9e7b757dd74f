"""A survey of some columns finds of them what a survey of all does."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate_adapters.sources.open_source import open_source
from querygate_adapters.sources.source_profile import survey

PATTERNS = {"capitals": "[A-Z]+", "digits": "[0-9]+", "blank": "NA|-"}
TABLE = {
    "code": ["AB", "NA", "NA", None, "-", "-", "Ä 1"],
    "when": ["01/02/2024", "03/04/2024", None, "NA", "05/06/2024", "07/08/2024", "09/10/2024"],
    "size": [1.5, -0.0, None, 1e300, float("nan"), 2.0, 1.5],
    "none": pa.array([None] * 7, pa.string()),
}


def shown(figures: Any) -> list[dict[str, Any]]:
    return [asdict(one) | {"sample": [None if np.isnan(x) else x for x in one.sample]} for one in figures]


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_some_columns_are_surveyed_as_among_all(rows: int, tmp_path: Path) -> None:
    pq.write_table(pa.table(TABLE).slice(0, rows), tmp_path / "t.parquet")
    source = open_source(str(tmp_path / "t.parquet"))
    every = survey(source, PATTERNS)
    assert [one.name for one in every] == list(TABLE)
    for chosen in ([], ["size"], ["none", "code"]):
        assert shown(survey(source, PATTERNS, chosen)) == shown(c for c in every if c.name in chosen)
