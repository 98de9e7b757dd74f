"""A checker that shares no code with the product: is a value still in a text?

It compares without case, accents and anything but letters and digits, by writing the value as a pattern that allows any
other characters between its own. Slow, and obviously right.
"""

from __future__ import annotations

import re
import unicodedata


def bare(text: str) -> str:
    """Without case and accents; one character may become several or none."""
    apart = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in apart if unicodedata.category(c) not in ("Mn", "Cf"))


def still_there(value: str, text: str) -> bool:
    """Does the value stand in the text by itself, however divided? Neither a longer word nor a longer number counts."""
    characters = [re.escape(c) for c in bare(value) if c.isalnum()]
    if len(characters) < 2:
        return False
    pattern = r"[\W_]*".join(characters)
    first, last = next(c for c in bare(value) if c.isalnum()), characters[-1][-1]
    before = r"(?<!\d)" if characters[0].isdigit() else r"(?<![^\W\d_])"
    after = r"(?!\d)" if last.isdigit() else r"(?![^\W\d_])"
    if "\u3040" <= first <= "\u9fff":
        before = after = ""  # no spaces between words
    return re.search(before + pattern + after, bare(text)) is not None


def inside(value: str, text: str) -> bool:
    """Does a value of six or more stand in the text undivided, maybe within a longer word or number?"""
    letters = "".join(c for c in bare(value) if c.isalnum())
    return len(letters) >= 6 and letters in bare(text)
