"""Texts in released CSV files: no spreadsheet reads them as formulas.

A cell that begins with =, +, -, @, a tab or a line end is run by spreadsheets, so it gets an apostrophe in front. To be
undone without a doubt, an apostrophe that stands before such a sign already gets one more. Numbers are not texts, and
stay as they are.

>>> [escape(text) for text in ("=1+1", "-5 mg", "'=1", "F", "O'Neill", "'tis")]
["'=1+1", "'-5 mg", "''=1", 'F', "O'Neill", "'tis"]
>>> [unescape(escape(text)) for text in ("=1+1", "-5 mg", "'=1", "'tis")]
['=1+1', '-5 mg', "'=1", "'tis"]
"""

from __future__ import annotations

import re

FORMULA = "^('*[=+\\-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}])"  # noqa: E501
"""The beginning of a text that gets an apostrophe, as regular expressions of Python and of Arrow read it."""

_FORMULA, _ESCAPED = re.compile(FORMULA), re.compile(FORMULA.replace("'*", "'+"))


def escape(text: str) -> str:
    """The text as a cell that no spreadsheet runs."""
    return f"'{text}" if _FORMULA.match(text) else text


def unescape(cell: str) -> str:
    """The text of such a cell."""
    return cell[1:] if _ESCAPED.match(cell) else cell
