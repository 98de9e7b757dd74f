"""Rows as lines of COPY, in PostgreSQL's text and CSV formats.

>>> from querygate.sql.postgres.copy_statement import CopyForm
>>> copy_line(["a,b", None, "", "6' 2"], CopyForm(True, ",", "", False, "'"))
b"'a,b',,'','6'' 2'\\n"
>>> copy_line(["a\\tb", None], CopyForm(False, "\\t", "\\\\N", False, '"'))
b'a\\\\tb\\t\\\\N\\n'
"""

from __future__ import annotations

from collections.abc import Sequence

from querygate.sql.postgres.copy_statement import CopyForm

_ESCAPED = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\"}


def copy_line(cells: Sequence[str | None], form: CopyForm) -> bytes:
    """One row; None is NULL."""
    write = _csv_cell if form.is_csv else _text_cell
    parts = [form.null if cell is None else write(cell, form) for cell in cells]
    return (form.delimiter.join(parts) + "\n").encode(errors="replace")


def _csv_cell(cell: str, form: CopyForm) -> str:
    """In quotes where it would be read as something else; a lone \\. would end the lines."""
    special = cell in ("", form.null, "\\.") or any(sign in cell for sign in (form.delimiter, form.quote, "\n", "\r"))
    return form.quote + cell.replace(form.quote, 2 * form.quote) + form.quote if special else cell


def _text_cell(cell: str, form: CopyForm) -> str:
    escaped = _ESCAPED | {form.delimiter: _ESCAPED.get(form.delimiter, f"\\{form.delimiter}")}
    return "".join(escaped.get(sign, sign) for sign in cell)
