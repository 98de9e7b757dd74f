"""The numbers that noise would be added to, as the gate counts them in a vault of a test's own making."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.noise_ports import ExactNumber, RowCodes, RowColumn, RowNumbers, Rows
from querygate.core.ports import Limits
from querygate.core.types import Catalog, Ints, NoiseOptions, Scalar
from querygate.custody.noise.noisy_groups import Figures, figures_of, tally_of
from querygate.custody.noise.row_tally import tally_rows
from querygate.methods.dp import MECHANISMS, share
from querygate.sql.noisy_plan import NoisyPlan, understand_noisy
from querygate_adapters.store.duckdb_native import DuckDBNative
from querygate_adapters.store.duckdb_store import version_file
from querygate_adapters.vault.noise_rows import VaultColumns

NATIVE = DuckDBNative()
OPTIONS = NoiseOptions(1.0, 10.0, 10.0)
TYPES = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "category": "VARCHAR",
    "boolean": "BOOLEAN",
}


@dataclass(frozen=True)
class Priced:
    """A statement, and how each of its numbers is made."""

    plan: NoisyPlan
    figures: tuple[Figures, ...]


def with_noise(catalog: Catalog, **options: Any) -> Catalog:
    return replace(catalog, modes=("laplace",), noise=replace(OPTIONS, **options))


def priced(sql: str, catalog: Catalog, epsilon: float = 1.0) -> Priced:
    plan = understand_noisy(sql, catalog, NATIVE)
    assert catalog.noise is not None
    mechanism, part = MECHANISMS.get(catalog.noise.mechanism), share(epsilon, plan.number)
    figures = tuple(figures_of(one, catalog, plan, part, mechanism, Limits()) for one in plan.releases)
    return Priced(plan, figures)


def write_vault(folder: Path, catalog: Catalog, rows: Sequence[Mapping[str, Any]]) -> VaultColumns:
    """Raw rows as a publication leaves them; the reader of the vault they are in."""
    person = catalog.noise.person if catalog.noise is not None else ""
    types = {column.name: TYPES[column.type] for column in catalog.columns} | ({person: "VARCHAR"} if person else {})
    path = version_file(folder / catalog.dataset, catalog.version)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as database:
        named = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
        database.execute(f"CREATE TABLE rows (row_id BIGINT, {named})")
        if rows:
            columns = {name: [row.get(name) for row in rows] for name in types}
            database.register("given", pa.table({"row_id": range(len(rows)), **columns}))
            database.execute("INSERT INTO rows SELECT * FROM given")
    return VaultColumns(folder, memory_mb=256)


def exact_numbers(
    asked: Priced, catalog: Catalog, vault: VaultColumns, places: Sequence[int] | None = None
) -> dict[tuple[Scalar, ...], list[list[ExactNumber]]]:
    """By the group's keys, for each number of the statement what was counted for it. Of the first grouping set, and of
    the rows at these places, if any are named."""
    assert catalog.noise is not None
    rows = vault.read(catalog, asked.plan.plan.columns, Limits())
    if places is not None:
        chosen = np.array(places, dtype=np.int64)
        rows = Rows(len(places), {name: _at(column, chosen) for name, column in rows.columns.items()})
    tally = tally_of(asked.plan, asked.plan.plan.sets[0], asked.figures, catalog)
    found = tally_rows(tally, rows, catalog.noise.rows_per_person, lambda: None)
    cut = list(itertools.accumulate((len(figure.wanted) for figure in asked.figures), initial=0))
    return {
        group: [list(numbers[begin:end]) for begin, end in itertools.pairwise(cut)] for group, numbers in found.items()
    }


def _at(column: RowColumn, places: Ints) -> RowColumn:
    if isinstance(column, RowCodes):
        return RowCodes(column.values, column.codes[places])
    return RowNumbers(column.numbers[places], column.missing[places])
