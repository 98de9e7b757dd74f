"""Notebooks as files: Jupyter's format, Markdown, and a page that needs nothing else. Each answer says where it is
from: dataset, version, policy, date and the id under which the log has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from flask import render_template
from markupsafe import Markup

from querygate.control.saved.notebooks import Cell, Notebook
from querygate.core.json_body import JsonValue
from querygate.web.console.charts.chart import Chart
from querygate.web.console.notebook_text import make_fence, make_inert
from querygate.web.console.snippets import make_python


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """The answer to a query of a notebook, as people read it, and where it is from."""

    query_id: str
    asked: str
    version: int
    policy: str | None
    headings: list[str]
    rows: list[list[str]]
    charts: tuple[Chart, ...]
    notes: list[str]

    def provenance(self, dataset: str) -> str:
        policy = f", policy {self.policy[:12]}" if self.policy else ""
        return f"{dataset}, version {self.version}{policy} · asked {_minute(self.asked)} UTC · {self.query_id}"


@dataclass(frozen=True, slots=True)
class ShownCell:
    cell: Cell
    html: Markup
    answer: ShownAnswer | None


def write_html(found: Notebook, cells: Sequence[ShownCell], origin: str) -> bytes:
    return render_template("files/notebook.html", found=found, cells=cells, origin=origin).encode()


def write_markdown(found: Notebook, cells: Sequence[ShownCell], origin: str) -> bytes:
    parts = [f"# {make_inert(found.name)}", _about(found, origin)]
    for shown in cells:
        if shown.cell.kind == "text":
            parts.append(make_inert(shown.cell.text))
            continue
        parts.append(make_fence(shown.cell.text, "sql"))
        if shown.answer:
            parts += [_table(shown.answer), f"*{shown.answer.provenance(found.dataset)}*"]
        elif shown.cell.refused:
            parts.append(make_inert(shown.cell.refused))
    return ("\n\n".join(parts) + "\n").encode()


def write_ipynb(found: Notebook, cells: Sequence[ShownCell], origin: str) -> bytes:
    """Format 4.5. A query is Python that asks it again; its answer is what the cell has printed."""
    first = _markdown_cell("about", f"# {make_inert(found.name)}\n\n{_about(found, origin)}")
    made: list[JsonValue] = [first]
    for shown in cells:
        if shown.cell.kind == "text":
            made.append(_markdown_cell(shown.cell.id, make_inert(shown.cell.text)))
        else:
            made.append(_code_cell(shown, found.dataset, origin))
    document: JsonValue = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
            "querygate": {"notebook": found.id, "dataset": found.dataset, "gate": origin},
        },
        "cells": made,
    }
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


Writer = Callable[[Notebook, Sequence[ShownCell], str], bytes]
FILES: Final[dict[str, tuple[str, Writer]]] = {
    "ipynb": ("application/x-ipynb+json", write_ipynb),
    "html": ("text/html; charset=utf-8", write_html),
    "md": ("text/markdown; charset=utf-8", write_markdown),
}


def _markdown_cell(ident: str, text: str) -> JsonValue:
    return {"cell_type": "markdown", "id": ident, "metadata": {}, "source": text}


def _code_cell(shown: ShownCell, dataset: str, origin: str) -> JsonValue:
    about: dict[str, JsonValue] = {"sql": shown.cell.text, "dataset": dataset}
    outputs: list[JsonValue] = []
    if shown.answer:
        about |= {"query_id": shown.answer.query_id, "version": shown.answer.version, "asked": shown.answer.asked}
        about |= {"policy": shown.answer.policy} if shown.answer.policy else {}
        text = f"{_table(shown.answer)}\n\n{shown.answer.provenance(dataset)}"
        outputs.append(
            {
                "output_type": "display_data",
                "metadata": {},
                "data": {"text/plain": text, "text/markdown": text},
            }
        )
    elif shown.cell.refused:
        outputs.append({"output_type": "stream", "name": "stderr", "text": shown.cell.refused})
    return {
        "cell_type": "code",
        "id": shown.cell.id,
        "metadata": {"querygate": about},
        "execution_count": None,
        "source": make_python(origin, dataset, shown.cell.text),
        "outputs": outputs,
    }


def _about(found: Notebook, origin: str) -> str:
    return (
        f"Dataset `{found.dataset}`, by {make_inert(found.owner)}, changed {_minute(found.changed)} UTC, from {origin}"
        ". Each range contains the true value, ends included; a value after “about” is likely, but not guaranteed."
    )


def _table(answer: ShownAnswer) -> str:
    lines = [answer.headings, ["---"] * len(answer.headings), *answer.rows]
    return "\n".join("| " + " | ".join(map(_cell_text, line)) + " |" for line in lines)


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")


def _cell_text(text: str) -> str:
    one_line = " ".join(text.split())
    return make_inert(one_line.replace("\\", "\\\\").replace("|", "\\|"))
