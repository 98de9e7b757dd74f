"""An answer as a table of a notebook. Texts of the data are escaped: a value may look like markup."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from querygate.core.answer_forms.plain_text import readable

if TYPE_CHECKING:
    from querygate.client.answer import Answer


def html_table(answer: Answer) -> str:
    """Headings, rows, notes, and which answer it is."""
    headings, rows = readable(answer.body)  # type: ignore[arg-type]
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    notes = "".join(f"<li>{escape(note)}</li>" for note in answer.notes)
    listed = f"<ul>{notes}</ul>" if notes else ""
    limit = answer.body.get("limit")
    before = f"<p>{escape(limit['note'])}</p>" if limit else ""
    about = f"{answer.dataset}, version {answer.version}; {answer.id}"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f"<div>{before}{table}{listed}<p><small>{escape(about)}</small></p></div>"
