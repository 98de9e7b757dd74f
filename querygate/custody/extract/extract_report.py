"""The report released with an extract: figures for programs, a page for people, and charts of coefficients,
distributions, correlations and codes. It only uses figures that may be released, and the released records.

Matplotlib is an extra: without it the report has only tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from querygate.custody.extract.raw_tables import floats_of
from querygate.custody.extract.recipient_figures import RecipientFigures
from querygate.custody.pages.fill import data_uris, fill
from querygate.custody.publish_report.charts import GREY, TEAL, can_draw, codes, draw, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEMPLATE = "extract_report.html"
SHOWN_TERMS, SHOWN_COLUMNS, SHOWN_VALUES, ACROSS = 40, 12, 12, 3


def make_report(told: RecipientFigures) -> dict[str, bytes]:
    """report.json, report.html and the charts as separate files."""
    pictures = make_pictures(told)
    page = fill(TEMPLATE, report=told.body, images=data_uris(pictures), can_draw=bool(pictures))
    return {
        "report.json": json.dumps(told.body, indent=2, ensure_ascii=False, allow_nan=False).encode(),
        "report.html": page.encode(),
        **{f"{name}.png": png for name, png in pictures.items()},
    }


def make_pictures(told: RecipientFigures) -> dict[str, bytes]:
    """PNG files by name; none without matplotlib."""
    if not can_draw():
        return {}
    utility = told.body["utility"]
    made = {
        "columns": _columns(told.usable),
        "correlations": _correlations(utility["correlations"]),
        "codes": codes(told.codes),
    }
    for number, model in enumerate(utility["models"], 1):
        made[f"model_{number}"] = _coefficients(model)
    return {name: draw(figure) for name, figure in made.items() if figure is not None}


def _coefficients(model: Mapping[str, Any]) -> Figure | None:
    """Every coefficient of the extract with its 95 % interval."""
    terms = model["terms"][:SHOWN_TERMS]
    if not terms:
        return None
    figure, panels = new_figure(0.9 + 0.32 * len(terms))
    axes = panels[0][0]
    places = np.arange(len(terms))[::-1]
    known = [i for i, term in enumerate(terms) if None not in term.values()]
    if known:
        values = np.array([[terms[i][f"after{end}"] for end in ("", "_low", "_high")] for i in known])
        width = np.abs(values[:, 1:].T - values[:, 0])
        axes.errorbar(values[:, 0], places[known], xerr=width, fmt="o", ms=3.5, lw=1.2, color=TEAL)
    axes.axvline(0, color=GREY, lw=0.8)
    axes.set_yticks(places, [term["term"] for term in terms])
    axes.set_xlabel("coefficient, with its 95 % interval", fontsize=8)
    return figure


def _columns(usable: pa.Table) -> Figure | None:
    """The distribution of each column."""
    names = usable.column_names[:SHOWN_COLUMNS]
    if not names:
        return None
    down = -(-len(names) // ACROSS)
    figure, panels = new_figure(0.6 + 1.7 * down, down, ACROSS)
    for axes, name in zip(chain(*panels), names, strict=False):
        kind = usable[name].type
        (_categories if pa.types.is_string(kind) or pa.types.is_boolean(kind) else _numbers)(axes, usable[name])
        axes.set_title(name, fontsize=8)
        axes.set_yticks([])
    for axes in list(chain(*panels))[len(names) :]:
        axes.set_visible(False)
    return figure


def _numbers(axes: Any, column: pa.ChunkedArray) -> None:
    values = floats_of(column)
    axes.hist(values[np.isfinite(values)], bins=24, histtype="stepfilled", color=TEAL)


def _categories(axes: Any, column: pa.ChunkedArray) -> None:
    texts = ["missing" if text is None else str(text) for text in column.cast(pa.string()).to_pylist()]
    found, counts = np.unique(np.array(texts, dtype=object), return_counts=True)
    shown = np.argsort(-counts, kind="stable")[:SHOWN_VALUES]
    axes.bar(np.arange(shown.size), counts[shown], width=0.6, color=TEAL)
    axes.set_xticks(range(shown.size), [text[:10] for text in found[shown]], rotation=45, ha="right", fontsize=7)


def _correlations(found: Mapping[str, Any]) -> Figure | None:
    """The correlations of the extract."""
    names = found["names"][:SHOWN_TERMS]
    if len(names) < 2:
        return None
    figure, panels = new_figure(1.2 + 0.24 * len(names))
    axes = panels[0][0]
    shown = axes.imshow(np.array(found["after"])[: len(names), : len(names)], cmap="RdBu_r", vmin=-1, vmax=1)
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=7)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    figure.colorbar(shown, ax=axes, shrink=0.8).set_label("correlation", fontsize=8)
    return figure
