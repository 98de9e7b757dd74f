"""The report on an extract: figures for programs, a page for people, and its pictures of coefficients, distributions,
correlations and codes, before and after.

Matplotlib is an extra: without it the report has its tables alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.raw_tables import floats_of
from querygate.custody.pages.fill import data_uris, fill
from querygate.custody.publish_report.charts import DARK, GREY, RED, TEAL, can_draw, codes, draw, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEMPLATE = "extract_report.html"
SHOWN_TERMS, SHOWN_COLUMNS, SHOWN_VALUES, ACROSS = 40, 12, 12, 3


def make_report(protected: ProtectedRecords, body: Mapping[str, Any]) -> dict[str, bytes]:
    """report.json, report.html and the pictures as files of their own."""
    pictures = make_pictures(protected, body)
    page = fill(TEMPLATE, report=body, images=data_uris(pictures), can_draw=bool(pictures))
    return {
        "report.json": json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False).encode(),
        "report.html": page.encode(),
        **{f"{name}.png": png for name, png in pictures.items()},
    }


def make_pictures(protected: ProtectedRecords, body: Mapping[str, Any]) -> dict[str, bytes]:
    """PNG files by name; none without matplotlib."""
    if not can_draw():
        return {}
    made = {
        "columns": _columns(protected),
        "correlations": _correlations(body["utility"]["correlations"]),
        "codes": codes(protected.codes),
    }
    for number, model in enumerate(body["utility"]["models"], 1):
        made[f"model_{number}"] = _coefficients(model)
    return {name: draw(figure) for name, figure in made.items() if figure is not None}


def _coefficients(model: Mapping[str, Any]) -> Figure | None:
    """Every coefficient with its 95 % interval, the original's above the extract's."""
    terms = model["terms"][:SHOWN_TERMS]
    if not terms:
        return None
    figure, panels = new_figure(0.9 + 0.32 * len(terms))
    axes = panels[0][0]
    places = np.arange(len(terms))[::-1]
    for side, shift, colour, name in (("before", 0.14, DARK, "records"), ("after", -0.14, TEAL, "extract")):
        known = [i for i, term in enumerate(terms) if term[side] is not None]
        values = np.array(
            [[terms[i][f"{side}{end}"] for end in ("", "_low", "_high")] for i in known], dtype=np.float64
        )
        if not known:
            continue
        width = np.abs(values[:, 1:].T - values[:, 0])
        axes.errorbar(
            values[:, 0], places[known] + shift, xerr=width, fmt="o", ms=3.5, lw=1.2, color=colour, label=name
        )
    axes.axvline(0, color=GREY, lw=0.8)
    axes.set_yticks(places, [term["term"] for term in terms])
    axes.set_xlabel("coefficient, with its 95 % interval", fontsize=8)
    axes.legend(fontsize=8, frameon=False)
    return figure


def _columns(protected: ProtectedRecords) -> Figure | None:
    """The distribution of each column; of numbers as histograms of the same bins."""
    names = protected.usable.column_names[:SHOWN_COLUMNS]
    down = -(-len(names) // ACROSS)
    figure, panels = new_figure(0.6 + 1.7 * down, down, ACROSS)
    for axes, name in zip(chain(*panels), names, strict=False):
        sides = [table[name] for table in (protected.raw, protected.usable)]
        (_categories if pa.types.is_string(sides[0].type) or pa.types.is_boolean(sides[0].type) else _numbers)(
            axes, sides
        )
        axes.set_title(name, fontsize=8)
        axes.set_yticks([])
    for axes in list(chain(*panels))[len(names) :]:
        axes.set_visible(False)
    return figure


def _numbers(axes: Any, sides: list[pa.ChunkedArray]) -> None:
    values = [x[np.isfinite(x)] for x in map(floats_of, sides)]
    if not any(x.size for x in values):
        return
    edges = np.histogram_bin_edges(np.concatenate(values), bins=24)
    for x, colour, style in zip(values, (GREY, TEAL), ("stepfilled", "step"), strict=True):
        axes.hist(x, bins=edges, histtype=style, color=colour, density=x.size > 0, lw=1.4)


def _categories(axes: Any, sides: list[pa.ChunkedArray]) -> None:
    shares: list[dict[str, float]] = []
    for column in sides:
        texts = ["missing" if text is None else str(text) for text in column.cast(pa.string()).to_pylist()]
        found, counts = np.unique(np.array(texts, dtype=object), return_counts=True)
        shares.append(dict(zip(found.tolist(), (counts / len(texts)).tolist(), strict=True)))
    shown = sorted(shares[0], key=lambda text: -shares[0][text])[:SHOWN_VALUES]
    places = np.arange(len(shown))
    for share, shift, colour in zip(shares, (-0.2, 0.2), (GREY, TEAL), strict=True):
        axes.bar(places + shift, [share.get(text, 0.0) for text in shown], width=0.4, color=colour)
    axes.set_xticks(places, [text[:10] for text in shown], rotation=45, ha="right", fontsize=7)


def _correlations(found: Mapping[str, Any]) -> Figure | None:
    """How much each correlation changed."""
    names = found["names"][:SHOWN_TERMS]
    if len(names) < 2:
        return None
    change = (np.array(found["after"]) - np.array(found["before"]))[: len(names), : len(names)]
    figure, panels = new_figure(1.2 + 0.24 * len(names))
    axes = panels[0][0]
    shown = axes.imshow(change, cmap="RdBu_r", vmin=-0.5, vmax=0.5)
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=7)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    bar = figure.colorbar(shown, ax=axes, shrink=0.8)
    bar.set_label("change of the correlation", fontsize=8, color=RED)
    return figure
