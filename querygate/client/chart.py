"""Ranges as bars: as long as they are wide, with a tick where the estimate is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from querygate.client.answer import Noisy, Range

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from querygate.client.answer import Answer, Group


def draw_ranges(answer: Answer, column: str | None, ax: Axes | None) -> Axes:
    """A bar for each row. Rows without two finite ends have none."""
    import matplotlib.pyplot as plt

    shown = column or next(one["name"] for one in answer.body["columns"] if one["kind"] != "key")
    axes = plt.subplots(figsize=(6.4, 0.9 + 0.35 * max(len(answer), 1)))[1] if ax is None else ax
    keys = [one["name"] for one in answer.body["columns"] if one["kind"] == "key"]
    for place, row in enumerate(answer.rows):
        low, high, middle = _ends(row[shown])
        if low is not None:
            axes.plot([low, high], [place, place], linewidth=6, solid_capstyle="butt", color="tab:blue", alpha=0.6)
        if middle is not None:
            axes.plot([middle], [place], marker="|", markersize=12, color="black")
    axes.set_yticks(range(len(answer)), [_label(row, keys) for row in answer.rows])
    axes.invert_yaxis()
    axes.set_xlabel(shown)
    axes.set_title(f"{answer.dataset}, version {answer.version}", fontsize="small")
    figure = axes.get_figure(root=True)
    if figure is not None:
        figure.tight_layout()
    return axes


def _label(row: Group, keys: list[str]) -> str:
    texts = ["(all)" if key in row.rolled_up else "NULL" if row[key] is None else str(row[key]) for key in keys]
    return ", ".join(texts).replace("$", r"\$")  # a value is no formula


def _ends(cell: Any) -> tuple[Any, Any, Any]:
    if isinstance(cell, Noisy):
        return *(cell.interval95 or (None, None)), cell.value
    if not isinstance(cell, Range):
        raise ValueError("This column has the names of groups. Choose one with ranges or noisy numbers.")
    if cell.low is None or isinstance(cell.low, str) or not all(map(_is_finite, (cell.low, cell.high))):
        return None, None, None
    return cell.low, cell.high, cell.estimate


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)
