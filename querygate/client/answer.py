"""An answer with typed cells: ranges with two guaranteed ends, noisy numbers, and the names of groups."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from querygate.core.answer_forms.plain_text import noisy_text, range_text, readable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes

Value: TypeAlias = bool | int | float | str | dt.date | dt.datetime | None
Cell: TypeAlias = "Range | Noisy | Value"


@dataclass(frozen=True, slots=True)
class Range:
    """Both ends are guaranteed: the value on the raw rows is one of those between them, or NULL where that may be. The
    estimate is inside and likely, and not guaranteed. Where it is `sharp`, no narrower range would be.

    >>> found = Range(127.4, 131.9, 129.6, sharp=True)
    >>> str(found), 130 in found, 132 in found, found.is_exact
    ('127.4 .. 131.9 (about 129.6)', True, False, False)
    """

    low: Value
    high: Value
    estimate: Value = None
    sharp: bool = False
    may_be_null: bool = False
    body: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_exact(self) -> bool:
        """Whether there is one possible value."""
        return self.low == self.high and not (self.may_be_null and self.low is not None)

    @property
    def width(self) -> Any:
        """How far the ends are apart: a number, or a time between dates. None of texts, and where all is NULL."""
        if self.low is None or isinstance(self.low, str):
            return None
        return self.high - self.low  # type: ignore[operator]

    def __contains__(self, value: Value) -> bool:
        if value is None:
            return self.may_be_null
        return self.low is not None and self.low <= value <= self.high  # type: ignore[operator]

    def __str__(self) -> str:
        known = {"low": self.low, "high": self.high, "estimate": self.estimate, "may_be_null": self.may_be_null}
        return range_text(self.body or known)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Noisy:
    """A number with noise. 95 of 100 such answers have the value that was counted within `interval95`."""

    value: int | float
    interval95: tuple[float, float] | None
    epsilon: float
    noise: str
    scale: float | None
    body: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return noisy_text(self.body)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Group(Mapping[str, Cell]):
    """One row: its cells by name. `certain` says whether there is such a group at all, `count` how many records it may
    have; neither is told of noisy answers."""

    cells: Mapping[str, Cell]
    certain: bool | None
    count: Range | None
    rolled_up: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Cell:
        return self.cells[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)


@dataclass(frozen=True, repr=False)
class Answer:
    """What a gate has answered. `body` is the answer as it was sent and as the gate's log has it; `policy_hash` is of
    the policy that the version was published under."""

    body: Mapping[str, Any]
    policy_hash: str | None = None

    # -- what it is --------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The id under which the gate's log has it."""
        return str(self.body["query_id"])

    @property
    def dataset(self) -> str:
        return str(self.body["dataset"])

    @property
    def version(self) -> int:
        return int(self.body["version"])

    @property
    def mode(self) -> str:
        return str(self.body["mode"])

    @property
    def notes(self) -> list[str]:
        return list(self.body["notes"])

    @property
    def columns(self) -> list[str]:
        return [column["name"] for column in self.body["columns"]]

    @property
    def model(self) -> Mapping[str, Any] | None:
        """Of a model: how its formula was read, the level that each factor is compared with, and its statement."""
        found: Mapping[str, Any] | None = self.body.get("model")
        return found

    # -- cells -------------------------------------------------------------------------------------------

    @property
    def rows(self) -> list[Group]:
        return [self._group(row) for row in self.body["rows"]]

    def __iter__(self) -> Iterator[Group]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.body["rows"])

    def __getitem__(self, column: str) -> list[Cell]:
        """The cells of one column."""
        return [row[column] for row in self.rows]

    def one(self) -> Cell:
        """The only statistic of the only row."""
        named = [column["name"] for column in self.body["columns"] if column["kind"] != "key"]
        if len(self) != 1 or len(named) != 1:
            raise ValueError(f"The answer has {len(self)} rows and {len(named)} statistics, not one of each.")
        return self.rows[0][named[0]]

    def _group(self, row: Mapping[str, Any]) -> Group:
        cells = {column["name"]: _cell(row[column["name"]], column) for column in self.body["columns"]}
        state = row.get("_group", {})
        count = Range(state["count"]["low"], state["count"]["high"], sharp=True) if "count" in state else None
        return Group(cells, state.get("certain"), count, tuple(state.get("rolled_up", ())))

    # -- tables and pictures -----------------------------------------------------------------------------

    def to_arrow(self) -> pa.Table:
        """A flat table: `name_low`, `name_high`, `name_estimate`, `name_may_be_null` and `name_sharp` for each range.
        The metadata of its schema says what the answer is."""
        from querygate.core.answer_forms.arrow_table import arrow_table

        return arrow_table(self._told)  # type: ignore[arg-type]

    def to_pandas(self) -> pd.DataFrame:
        """The same for pandas, with what the answer is in `attrs`."""
        frame = self.to_arrow().to_pandas()
        frame.attrs["querygate"] = {key: value for key, value in self._told.items() if key != "rows"}
        return frame

    @property
    def _told(self) -> dict[str, Any]:
        return {**self.body} if self.policy_hash is None else {**self.body, "policy_hash": self.policy_hash}

    def to_polars(self) -> pl.DataFrame:
        """The same for polars."""
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)  # noqa: S101 - a table is never a series
        return frame

    def plot(self, column: str | None = None, ax: Axes | None = None) -> Axes:
        """A bar for each range of a column, and a tick for its estimate; by default of the first."""
        from querygate.client.chart import draw_ranges

        return draw_ranges(self, column, ax)

    def __repr__(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self)} rows"
        return f"<Answer {self.id}: {rows} from {self.dataset}, version {self.version}; print shows it>"

    def __str__(self) -> str:
        headings, rows = readable(self.body)  # type: ignore[arg-type]
        widths = [max(map(len, cells)) for cells in zip(headings, *rows, strict=True)]
        lines = [headings, ["-" * width for width in widths], *rows]
        told = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        about = f"{self.dataset}, version {self.version}; {self.id}"
        return "\n".join([*(line.rstrip() for line in told), *self.notes, about])

    def _repr_html_(self) -> str:
        from querygate.client.notebook_table import html_table

        return html_table(self)


def _cell(value: Any, column: Mapping[str, str]) -> Cell:
    read = _READERS.get(column["type"], _plain)
    if column["kind"] == "range":
        low, high, estimate = (read(value.get(name)) for name in ("low", "high", "estimate"))
        return Range(low, high, estimate, value["sharp"], value["may_be_null"], value)
    if column["kind"] == "noisy":
        told = value["interval95"]
        interval = None if told is None else (float(told[0]), float(told[1]))
        return Noisy(value["value"], interval, value["epsilon"], value["noise"], value["scale"], value)
    return read(value)


def _plain(value: Any) -> Value:
    return value  # type: ignore[no-any-return]


def _number(value: Any) -> Value:
    return float(value) if isinstance(value, str) else _plain(value)  # "inf": JSON has no infinity


def _moment(read: Callable[[str], Value]) -> Callable[[Any], Value]:
    def read_or_keep(value: Any) -> Value:
        try:
            return None if value is None else read(value)
        except ValueError:  # a year that Python does not know
            return _plain(value)

    return read_or_keep


_READERS: dict[str, Callable[[Any], Value]] = {
    "integer": _number,
    "number": _number,
    "date": _moment(dt.date.fromisoformat),
    "timestamp": _moment(dt.datetime.fromisoformat),
}
