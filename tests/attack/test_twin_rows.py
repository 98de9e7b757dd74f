"""Dummy rows are functions of the published store: two tables that publish alike have the same, to the byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from querygate.core.types import Principal
from querygate.gate.twin import TWIN_FORMATS, TwinWish, write_twin
from querygate.site.open_gate import OpenSite
from tests.attack.test_estimates import cells, published, twins

ANN = Principal("ann", "researcher")


def files(opened: OpenSite, seed: int) -> list[bytes]:
    made = write_twin(TwinWish("t", 400, seed), ANN, opened.gate)
    return [write(made) for _, write in TWIN_FORMATS.values()]


def check_alike(first: OpenSite, second: OpenSite) -> None:
    assert cells(first) == cells(second)
    for seed in (0, 7):
        assert files(first, seed) == files(second, seed)
    assert files(first, 0) != files(first, 7)


def test_dummy_rows_of_classes(tmp_path: Path) -> None:
    one, other = twins()
    assert one != other
    check_alike(published(one, tmp_path / "a"), published(other, tmp_path / "b"))


def test_dummy_rows_of_views(tmp_path: Path) -> None:
    one, other = ({name: column for name, column in rows.items() if name != "sbp"} for rows in twins())
    more: dict[str, Any] = {"views": {}, "columns": {"sbp": None}}
    check_alike(published(one, tmp_path / "a", **more), published(other, tmp_path / "b", **more))
