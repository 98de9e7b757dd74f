"""Texts that people write for other people to read: names, descriptions, what stands between queries.

What is accepted is shown as it was written. What could make a page show something else than what is stored is refused:
control characters, and signs that turn the direction of the text around them.

>>> check_line("name", "  Salt and  blood pressure ", most=40), check_line("name", "ملح وضغط", most=40)
('Salt and blood pressure', 'ملح وضغط')
"""

from __future__ import annotations

import unicodedata

from querygate.core.errors import ConfigError

LONGEST_NAME = 120
LONGEST_DESCRIPTION = 2_000
LONGEST_STATEMENT = 20_000

_TURNING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
_UNWRITTEN = frozenset({"Cc", "Cs", "Co", "Cn", "Zl", "Zp"})
_WITHIN_TEXT = frozenset("\n\t")


def check_line(field: str, text: str, *, most: int, least: int = 1) -> str:
    """The text as one line, without spaces around it and in one spelling."""
    line = " ".join(unicodedata.normalize("NFC", text).split(" ")).strip()
    line = " ".join(part for part in line.split(" ") if part)
    _check(field, line, most, least)
    if any(sign in _WITHIN_TEXT for sign in line):
        raise ConfigError("QG806", f"The {field} has several lines.", "Write it in one line.")
    return line


def check_text(field: str, text: str, *, most: int, least: int = 0) -> str:
    """The text with its lines as they are."""
    written = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    _check(field, written, most, least)
    return written


def _check(field: str, text: str, most: int, least: int) -> None:
    if not least <= len(text) <= most:
        raise ConfigError(
            "QG806", f"The {field} has {len(text):,} characters.", f"Write {least} to {most:,} characters."
        )
    if any(map(_is_refused, text)):
        raise ConfigError(
            "QG806",
            f"The {field} has a control character, or one that reverses the direction of text.",
            "Remove it, or type the text again.",
        )


def _is_refused(sign: str) -> bool:
    if sign in _WITHIN_TEXT:
        return False
    return unicodedata.category(sign) in _UNWRITTEN or unicodedata.bidirectional(sign) in _TURNING
