"""What is counted for noisy answers is what DuckDB counts: every statement of the corpus that noise can be added to."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.errors import Refusal
from querygate.core.expression import told_key
from querygate.core.noise_ports import ExactNumber
from querygate.core.types import Scalar
from querygate.custody.noise import row_tally
from querygate.custody.noise.noisy_groups import Figures
from querygate.custody.noise.row_tally import first_rows
from querygate.custody.noise.row_values import places
from querygate_adapters.vault.noise_rows import VaultColumns
from tests.sql.study import CATALOG, ROWS, raw, samples
from tests.unit.custody.noise.exact_numbers import exact_numbers, priced, with_noise, write_vault

STUDY = with_noise(CATALOG)
MORE = (
    "SELECT COUNT(*), COUNT(sbp), COUNT(DISTINCT sbp), SUM(sbp), AVG(sbp), MEDIAN(sbp) FROM patients",
    "SELECT city, COUNT(*), COUNT(weight), SUM(weight), COUNT(DISTINCT weight) FROM patients GROUP BY city",
    "SELECT city, AVG(weight), MEDIAN(weight) FROM patients GROUP BY city",
    "SELECT smoker, AVG(sbp), QUANTILE_CONT(weight, 0.25) FROM patients WHERE sbp IS NULL OR sbp > 119 GROUP BY 1",
    "SELECT COUNT(*) FILTER (WHERE weight / 2 + sbp > age) FROM patients",
    "SELECT SUM(CASE WHEN weight < sbp THEN age ELSE sbp END) FROM patients",
    "SELECT COUNT(DISTINCT age + sbp), COUNT(DISTINCT city), COUNT(DISTINCT YEAR(born)) FROM patients WHERE NOT smoker",
    "SELECT YEAR(born), COUNT(*) FROM patients WHERE pulse > -1 AND pulse < 9007199254740993 GROUP BY 1",
    "SELECT CASE WHEN weight > 0.1 THEN 'high' WHEN age > 40 THEN 'old' END AS what, COUNT(*) FROM patients GROUP BY 1",
    "SELECT AVG(COALESCE(sbp, weight, 3)) FROM patients WHERE city <> 'Graz' OR born IS NULL",
)
"""Of what the corpus has little: several numbers at once, with groups and missing values."""


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> VaultColumns:
    return write_vault(tmp_path_factory.mktemp("vault"), STUDY, ROWS)


def told_by(figure: Figures, numbers: Sequence[ExactNumber]) -> float | None:
    """The statistic without any noise."""
    number, grid = numbers[0], figure.grid
    if grid is None:
        return float(number)  # type: ignore[arg-type]
    if isinstance(number, dict):
        steps = np.repeat(list(number), list(number.values()))
        return float(np.quantile(np.sort(steps), figure.release.share)) * grid.step if steps.size else None
    if figure.release.kind == "sum":
        return number * grid.step
    return number * grid.step / numbers[1] if numbers[1] else None  # type: ignore[operator]


def is_near(figure: Figures, found: float | None, truth: Any) -> bool:
    """Values are rounded to steps before they are added; the sum of nothing is told as nothing."""
    if truth is None:
        return found in (None, 0.0)
    off = 0.0 if figure.grid is None else figure.grid.step * (len(ROWS) if figure.release.kind == "sum" else 1)
    return found is not None and math.isclose(found, float(truth), rel_tol=1e-9, abs_tol=off)


def key_of(value: Any) -> Scalar:
    """A key of DuckDB's as the gate tells it; what it calls a timestamp is a text there."""
    return value.isoformat(sep=" ") if isinstance(value, dt.datetime) else told_key(value)


def compared(sql: str, vault: VaultColumns) -> bool:
    """Is a statement counted as DuckDB counts it? False where noise cannot be added to it."""
    try:
        asked = priced(sql, STUDY)
    except Refusal:
        return False
    plan = asked.plan.plan
    if len(plan.sets) > 1 or plan.limit is not None or plan.offset:
        return False
    found = exact_numbers(asked, STUDY, vault)
    keys = [plan.sets[0].index(o.source) if o.kind == "key" else None for o in plan.outputs[: plan.shown]]
    if len({key for key in keys if key is not None}) != len(plan.sets[0]):
        return False  # some key is not shown
    seen = set()
    for row in raw().execute(sql).fetchall():
        group = {place: key_of(value) for place, value in zip(keys, row, strict=True) if place is not None}
        numbers = found[tuple(group[i] for i in range(len(group)))]
        seen.add(tuple(group[i] for i in range(len(group))))
        for item, truth in zip(asked.plan.items, row, strict=True):
            if item is not None:
                figure = asked.figures[item]
                assert is_near(figure, told_by(figure, numbers[item]), truth), (sql, row)
    empty = [number for group, numbers in found.items() if group not in seen for number in numbers]
    assert not any(any(one) for one in empty), sql
    return True


def test_the_corpus_is_counted_as_duckdb_counts_it(vault: VaultColumns) -> None:
    """One statement of eight here; `make soak ONLY=noise` has them all."""
    statements = [sample.sql for sample in samples("accepted")][::8]
    assert sum(compared(sql, vault) for sql in statements) > 30


@pytest.mark.parametrize("sql", MORE)
def test_so_are_statements_about_missing_values(sql: str, vault: VaultColumns) -> None:
    assert compared(sql, vault)


@pytest.mark.parametrize("sql", MORE)
def test_without_rows_there_is_nothing(sql: str, tmp_path: Path) -> None:
    asked = priced(sql, STUDY)
    found = exact_numbers(asked, STUDY, write_vault(tmp_path, STUDY, []))
    assert not any(any(one) for numbers in found.values() for one in numbers)


def test_rows_beyond_one_part_are_counted_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "SELECT COUNT(*), SUM(sbp), COUNT(DISTINCT age), MEDIAN(sbp) FROM patients WHERE sbp > 50"
    asked = priced(sql, STUDY)
    few = [{"age": i % 90, "sbp": 40 + i % 100} for i in range(2_000)]
    once = exact_numbers(asked, STUDY, write_vault(tmp_path / "few", STUDY, few))[()]
    monkeypatch.setattr(row_tally, "AT_ONCE", 300)
    assert exact_numbers(asked, STUDY, write_vault(tmp_path / "parts", STUDY, few))[()] == once


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 1000])
def test_places_are_those_of_a_search(size: int) -> None:
    rng = np.random.default_rng(size)
    starts = np.sort(rng.choice(5 * size + 1, size, replace=False)).astype(np.float64)
    numbers = np.concatenate([rng.uniform(-5, 5 * size + 5, 500), starts, [-np.inf, np.inf]])
    assert (places(starts, numbers) == np.searchsorted(starts, numbers, side="right")).all()
    whole = np.array([-(2**63), 0, 2**63 - 1])
    assert places(whole, whole).tolist() == [1, 2, 3]


def test_persons_keep_their_first_rows_and_nobody_has_none() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        persons = np.sort(rng.integers(-1, 5, rng.integers(0, 30)))
        selected, most = rng.random(len(persons)) < 0.6, int(rng.integers(1, 4))
        kept = first_rows(selected, persons, most)
        for person in range(-1, 5):
            mine = np.flatnonzero((persons == person) & selected)
            assert np.flatnonzero(kept & (persons == person)).tolist() == (mine[:most].tolist() if person >= 0 else [])
