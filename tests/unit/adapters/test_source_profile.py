"""What a survey remembers of columns, and that it never remembers too much."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.vault_ports import ReadAs
from querygate_adapters.sources import source_profile
from querygate_adapters.sources.amended_source import amended
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.sources.source_profile import Known, survey

PATTERNS = {"capitals": "[A-Z]+", "digits": "[0-9]+", "blank": "NA|-"}
TABLE = {
    "code": ["AB", "NA", "NA", None, "-", "-", "Ä 1"],  # even numbers of what is left out
    "when": ["01/02/2024", "03/04/2024", None, "NA", "05/06/2024", "07/08/2024", "09/10/2024"],
    "size": [1.5, -0.0, None, 1e300, float("nan"), 2.0, 1.5],
    "none": pa.array([None] * 7, pa.string()),
}


def shown(figures: Any) -> list[dict[str, Any]]:
    return [asdict(one) | {"sample": [None if np.isnan(x) else x for x in one.sample]} for one in figures]


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_what_is_remembered_is_what_would_be_found(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(TABLE).slice(0, rows), path)
    plain = open_source(str(path))
    others = [amended(plain, ReadAs(absent={"code": ("NA", "-")})), plain]
    others.append(amended(plain, ReadAs(written={"when": "day/month/year"})))
    computed, known = [], Known()
    figures = source_profile._Column.figures
    monkeypatch.setattr(
        source_profile._Column, "figures", lambda self, wanted: computed.append(self._name) or figures(self, wanted)
    )
    for source in (plain, *others):
        computed.clear()
        found = survey(source, PATTERNS, known=known)
        again = list(computed)
        assert shown(found) == shown(survey(source, PATTERNS))
        assert source is not plain or not rows or again in ([], list(TABLE))
        assert len(again) in (0, 1, len(TABLE))
    survey(plain, {"digits": "[0-9]+"}, known=known)  # other patterns, other figures
    assert computed[-4:] == list(TABLE)
