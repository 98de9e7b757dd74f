"""Draws docs/figures/sixty.png: sixty blood pressures in classes of at least k, and what these say for certain.

The data, the classes and the ranges are those of docs/tutorial/interval-statistics.md: its examples are run here.
Run: python docs/figures/sixty.py
"""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from querygate import stats

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "tutorial" / "interval-statistics.md"
BLUE, RED, GREY = "#2b6cb0", "#c53030", "#a0aec0"


def tutorial() -> dict[str, Any]:
    """The names that the examples of the tutorial define."""
    test = doctest.DocTestParser().get_doctest(PAGE.read_text(encoding="utf-8"), {}, PAGE.name, str(PAGE), 0)
    runner = doctest.DocTestRunner(verbose=False)
    if runner.run(test, clear_globs=False).failed:
        raise AssertionError("the examples of the tutorial do not hold")
    return test.globs


def draw(names: dict[str, Any]) -> plt.Figure:
    """Left the classes for each k with the people as dots, right both ranges with the truth as a dot."""
    published = names["published"]
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(7.2, 3.0), dpi=150, width_ratios=[2, 1, 1])
    for place, (_, (low, high, _)) in enumerate(reversed(published.items())):
        left.hlines([place] * len(low), low, high, color=BLUE, linewidth=9, alpha=0.45)
        left.plot(names["pressures"], [place] * 60, "|", color=RED, markersize=5, alpha=0.6)
    for axes, function, truth in ((middle, stats.mean, names["mean"]), (right, stats.var, names["variance"])):
        for place, columns in enumerate(reversed(published.values())):
            found = function(*columns, integer=True)
            axes.hlines(place, found.low, found.high, color=BLUE, linewidth=9, alpha=0.45)
            axes.plot(truth, place, "o", color=RED, markersize=5)
    titles = ("published classes, mmHg", "mean", "variance")
    for axes, title in zip((left, middle, right), titles, strict=True):
        axes.set_xlabel(title, fontsize=9)
        axes.set_ylim(-0.5, len(published) - 0.5)
        axes.set_yticks([])
        axes.tick_params(axis="x", labelsize=8)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    left.set_yticks(range(len(published)), [f"k = {k}" for k in reversed(published)], fontsize=8)
    figure.suptitle("What is published (bars) and what only the clinic knows (red)", fontsize=10, x=0.02, ha="left")
    figure.tight_layout()
    return figure


def main() -> None:
    draw(tutorial()).savefig(HERE / "sixty.png")


if __name__ == "__main__":
    main()
