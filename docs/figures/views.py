"""Draws docs/figures/views.png: two views of the same people, and the graph of what they tell together.

Run: python docs/figures/views.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

INK, FIRST, SECOND, BAD = "#222222", "#2f6f9f", "#b0653a", "#b3261e"
SEXES, SCHOOLS = ("men", "women"), ("school", "college")
TOGETHER = ((14, 12), (13, 3))
"""People of each sex by schooling, in one frame cell."""


def divided(axes: Axes, title: str, names: tuple[str, str], sizes: tuple[int, int], colour: str, *, rows: bool) -> None:
    axes.set_title(title, fontsize=9, color=INK)
    first = sizes[0] / sum(sizes)
    boxes = ((0, 1 - first, 1, first), (0, 0, 1, 1 - first)) if rows else ((0, 0, first, 1), (first, 0, 1 - first, 1))
    for name, size, (x, y, width, height) in zip(names, sizes, boxes, strict=True):
        axes.add_patch(plt.Rectangle((x, y), width, height, fill=False, edgecolor=colour, linewidth=1.6))
        axes.text(x + width / 2, y + height / 2, f"{name}\n{size}", ha="center", va="center", fontsize=9, color=INK)
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)
    axes.axis("off")


def graph(axes: Axes) -> None:
    axes.set_title("What both tell together", fontsize=9, color=INK)
    left, right = [(0.0, 0.8), (0.0, 0.2)], [(1.0, 0.8), (1.0, 0.2)]
    for i, (x, y) in enumerate(left):
        for j, (u, v) in enumerate(right):
            people = TOGETHER[i][j]
            axes.plot([x, u], [y, v], color="#999999", linewidth=people / 3, zorder=1)
            share = 0.28
            place = (x + share * (u - x), y + share * (v - y))
            axes.text(*place, people, fontsize=8, color=INK, ha="center", va="center", zorder=2,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})  # fmt: skip
    for (x, y), name, colour in zip([*left, *right], [*SEXES, *SCHOOLS], [FIRST, FIRST, SECOND, SECOND], strict=True):
        axes.scatter([x], [y], s=520, color="white", edgecolor=colour, linewidth=1.6, zorder=3)
        axes.text(x, y - 0.17, name, ha="center", fontsize=8, color=INK)
    axes.plot([0.78, 1.12], [0.42, 0.42], color=BAD, linestyle="--", linewidth=1.2)
    axes.text(0.95, 0.46, "least cut: 15", color=BAD, fontsize=8, ha="center")
    axes.set_xlim(-0.2, 1.25)
    axes.set_ylim(-0.1, 1.05)
    axes.axis("off")


def main() -> None:
    figure, (one, two, three) = plt.subplots(1, 3, figsize=(7.6, 2.5), dpi=150)
    sexes = tuple(map(sum, TOGETHER))
    schools = tuple(map(sum, zip(*TOGETHER, strict=True)))
    divided(one, "One view: by sex", SEXES, sexes, FIRST, rows=True)  # type: ignore[arg-type]
    divided(two, "Another: by schooling", SCHOOLS, schools, SECOND, rows=False)  # type: ignore[arg-type]
    graph(three)
    figure.tight_layout()
    figure.savefig(Path(__file__).parent / "views.png")


if __name__ == "__main__":
    main()
