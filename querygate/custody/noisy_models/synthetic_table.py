"""A differentially private synthetic table: a tree of noisy marginals of the wanted columns, and records drawn from it.

Columns become public cells: equal bins of a number's domain, a category's declared values, and a cell for missing or
undeclared values, so that the synthetic table has missing values too. The ledger records the tree. Records are drawn
from it by a generator that the tree itself seeds: they cost nothing, reveal nothing more, and are the same each time.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from querygate.core.answer_forms.spreadsheet_cells import escape
from querygate.core.budget_types import Cost
from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec, invalid
from querygate.core.types import Ints, NoiseOptions
from querygate.custody.extract.raw_tables import out_of
from querygate.custody.noisy_models.public_design import PublicColumn, cells_of, drawn_values
from querygate.custody.pages.fill import fill
from querygate.custody.policy import Policy
from querygate.methods.dp import Entropy, MarginalTree, Price, measure, records

TEMPLATE = "noisy_model.html"
USUAL_BINS = 10
MOST_COLUMNS = 30
LARGEST = 2_000_000
"""The most records to draw: noise must not fill a disk."""


@dataclass(frozen=True)
class SyntheticPlan:
    """Which columns, in how many bins, at what price."""

    columns: tuple[PublicColumn, ...]
    bins: int
    price: Price

    method = "tree of noisy marginals (MST)"

    @classmethod
    def of(cls, spec: ExtractSpec, policy: Policy, options: NoiseOptions) -> SyntheticPlan:
        """Made from the request and the policy alone; by default with all declared columns."""
        if unknown := [form for form in spec.formats if form not in ("csv", "parquet")]:
            raise invalid("formats", f"{unknown[0]} is not a format of noisy synthetic tables", "csv", "parquet")
        there = {column.name: column for column in out_of(policy)}
        for name in spec.columns:
            if name not in there:
                raise invalid("columns", f"{name} is not a number or category that an extract may contain", *there)
        columns = tuple(PublicColumn.of(there[name]) for name in spec.columns) or _declared(policy)
        if not 2 <= len(columns) <= MOST_COLUMNS:
            raise invalid(
                "columns", f"a noisy synthetic table has 2 to {MOST_COLUMNS} columns whose values are declared"
            )
        bins = USUAL_BINS if spec.parts is None else spec.parts
        if not 2 <= bins <= 100:
            raise invalid("parts", "must be from 2 to 100 bins of a number")
        return cls(columns, bins, Price.of(float(spec.epsilon or 0.0), options.delta))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def cost(self) -> Cost:
        return self.price.cost

    def draw(self, table: pa.Table, entropy: Entropy) -> dict[str, Any]:
        """The tree, as JSON."""
        codes, labels = self._codes(table)
        tree = measure(codes, [len(one) for one in labels], self.price, entropy)
        return {
            "family": "synthetic table",
            "method": self.method,
            "formula": " + ".join(self.names),
            "epsilon": self.price.epsilon,
            "delta": self.price.delta,
            "rho": self.price.rho,
            **json.loads(json.dumps(asdict(tree))),
            "bounds": [asdict(column) for column in self.columns],
            "notes": list(self._notes()),
        }

    def files(self, answer: Mapping[str, Any], facts: Mapping[str, Any], spec: ExtractSpec) -> dict[str, bytes]:
        """The records, their tree, and the report."""
        table = self.drawn_from(answer)
        lines = [("all columns", "records drawn", table.num_rows)]
        lines += [("pair of the tree", " and ".join(self.names[at] for at in edge), "") for edge in answer["edges"]]
        made = {
            "tree.json": json.dumps({**facts, "tree": dict(answer)}, indent=2, ensure_ascii=False).encode(),
            "report.html": fill(TEMPLATE, facts=facts, model=answer, lines=lines).encode(),
        }
        if "csv" in spec.formats:
            made["synthetic.csv"] = _csv(table)
        if "parquet" in spec.formats:
            stream = io.BytesIO()
            pyarrow.parquet.write_table(table, stream)
            made["synthetic.parquet"] = stream.getvalue()
        return made

    def drawn_from(self, answer: Mapping[str, Any]) -> pa.Table:
        """Records drawn from the tree, with values in the columns' types."""
        tree = MarginalTree(
            tuple(answer["sizes"]),
            tuple(map(tuple, answer["singles"])),
            tuple((a, b) for a, b in answer["edges"]),
            tuple(map(tuple, answer["pairs"])),
        )
        if tree.total > LARGEST:
            raise ExtractRefused(
                "QG605", f"The table would have more than {LARGEST:,} records.", "Select fewer records."
            )
        seed = hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).digest()
        rng = np.random.default_rng(int.from_bytes(seed, "big"))
        drawn = records(tree, rng)
        return pa.table({c.name: drawn_values(c, drawn[:, at], self.bins, rng) for at, c in enumerate(self.columns)})

    def compare(self, rows: Callable[[], pa.Table], answer: Mapping[str, Any]) -> dict[str, Any]:
        """For reviewers only: how far the shares of cells, and of pairs of columns, are from those of the raw rows."""
        (raw, labels), (made, _) = self._codes(rows()), self._codes(self.drawn_from(answer))
        singles = {name: _apart(raw[:, [at]], made[:, [at]]) for at, name in enumerate(self.names)}
        pairs = [_apart(raw[:, [a, b]], made[:, [a, b]]) for a in range(len(labels)) for b in range(a + 1, len(labels))]
        return {
            "distances": singles,
            "pairs": round(float(np.mean(pairs)), 4),
            "words": [
                f"Shares of cells differ from those of the raw rows by at most {max(singles.values()):.1%} for a "
                f"column, and by {np.mean(pairs):.1%} on average for two columns together (total variation)."
            ],
        }

    def _codes(self, table: pa.Table) -> tuple[Ints, list[tuple[str, ...]]]:
        found = [cells_of(table, column, self.bins) for column in self.columns]
        return np.stack([codes for codes, _ in found], axis=1), [labels for _, labels in found]

    def _notes(self) -> list[str]:
        with_delta = f" and delta {self.price.delta:g} (rho {self.price.rho:.4g})" if self.price.delta else ""
        return [
            f"No record is anybody's. Epsilon {self.price.epsilon:g}{with_delta} protects one person; all noise was "
            "drawn exactly, in whole numbers.",
            "Values of each column, and of the pairs in the report, are about as frequent as in the raw rows. Other "
            "relations are preserved only as far as they follow from these.",
            f"Numbers are drawn evenly within {self.bins} bins of their domain. Missing and undeclared values are "
            "missing. The number of records is noisy too.",
        ]


def _declared(policy: Policy) -> tuple[PublicColumn, ...]:
    found = []
    for column in out_of(policy):
        try:
            found.append(PublicColumn.of(column))
        except ExtractRefused:
            continue
    return tuple(found[:MOST_COLUMNS])


def _apart(left: Ints, right: Ints) -> float:
    """Total variation: half the sum of differences of shares."""
    both = np.concatenate([left, right])
    _, cells = np.unique(both, axis=0, return_inverse=True)
    cells = cells.reshape(-1)
    size = int(cells.max(initial=-1)) + 1
    shares = [
        np.bincount(part, minlength=size) / max(part.size, 1) for part in (cells[: len(left)], cells[len(left) :])
    ]
    return round(float(np.abs(shares[0] - shares[1]).sum() / 2), 4)


def _csv(table: pa.Table) -> bytes:
    """CSV that spreadsheets can open without running anything."""
    safe = [
        pa.array([None if text is None else escape(text) for text in column.to_pylist()], pa.string())
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    stream = io.BytesIO()
    pyarrow.csv.write_csv(pa.table(safe, names=[escape(name) for name in table.column_names]), stream)
    return stream.getvalue()
