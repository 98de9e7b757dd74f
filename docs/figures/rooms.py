"""Draw the rooms of the product and the path of a query through them: `python docs/figures/rooms.py`."""

from __future__ import annotations

from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

SERVING, CUSTODY, SHARED = "#dbe9f6", "#f7e3d4", "#eeeeee"
# name, what it holds, left, bottom, width, height, colour
ROOMS = (
    ("cli", "one lazy group of commands over both planes", 0, 8.8, 20, 1.0, SHARED),
    ("web  wire", "HTTP and pages, PostgreSQL's protocol", 0, 7.4, 9.4, 1.0, SERVING),
    ("site", "the folder, settings, the serving root", 0, 6.0, 9.4, 1.0, SERVING),
    ("gate", "one query, top to bottom", 0, 4.6, 9.4, 1.0, SERVING),
    ("sql  bounds  stats  estimates", "text to plan, cells to ranges", 0, 3.2, 5.4, 1.0, SERVING),
    ("control", "users, log, budgets", 5.6, 3.2, 3.8, 1.0, SERVING),
    ("adapters / store", "published cells on DuckDB, PostgreSQL", 0, 1.8, 9.4, 1.0, SERVING),
    ("custody / use cases", "where the custodian's jobs are put together", 10.6, 7.4, 9.4, 1.0, CUSTODY),
    (
        "custody",
        "policy columns code_lists publish verify noise noisy_models\naudit evidence extract policy_search risk_report workload worker",
        10.6,
        5.5,
        9.4,
        1.5,
        CUSTODY,
    ),
    (
        "methods",
        "anonymise views dp risk audit code_lists disassociation synthesis randomise\nmodel_fit policy_search same_disease notes sequences",
        10.6,
        3.6,
        9.4,
        1.5,
        CUSTODY,
    ),
    ("adapters / vault, sources", "raw rows, and where they come from", 10.6, 1.8, 9.4, 1.0, CUSTODY),
    ("core", "words, errors, intervals, plans, ports", 0, 0.4, 20, 1.0, SHARED),
)


def draw() -> Figure:
    figure = Figure(figsize=(11, 6.2), dpi=110)
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
    axes.set_xlim(-0.3, 20.3)
    axes.set_ylim(0, 11)
    axes.axis("off")
    for name, what, left, bottom, width, height, colour in ROOMS:
        box = FancyBboxPatch(
            (left, bottom), width, height, boxstyle="round,pad=0.02,rounding_size=0.15", fc=colour, ec="#555555"
        )
        axes.add_patch(box)
        middle = left + width / 2
        axes.text(middle, bottom + height - 0.33, name, ha="center", va="center", fontsize=11, fontweight="bold")
        axes.text(middle, bottom + (height - 0.45) / 2, what, ha="center", va="center", fontsize=8.5)
    axes.text(4.7, 10.3, "serving: never sees a raw row", ha="center", fontsize=12)
    axes.text(15.3, 10.3, "custody: may see raw rows", ha="center", fontsize=12)
    axes.plot([10, 10], [1.6, 8.7], color="#aa3333", linewidth=3, linestyle=(0, (4, 2)))
    axes.text(10, 9.98, "the wall", ha="center", va="bottom", color="#aa3333", fontsize=9)
    for top, bottom in ((8.75, 8.45), (7.35, 7.05), (5.95, 5.65), (4.55, 4.25), (3.15, 2.85)):
        axes.annotate(
            "", (0.6, bottom), (0.6, top), arrowprops={"arrowstyle": "-|>", "color": "#22558a", "linewidth": 2}
        )
    return figure


if __name__ == "__main__":
    FigureCanvasAgg(draw()).print_png(Path(__file__).with_name("rooms.png"))
