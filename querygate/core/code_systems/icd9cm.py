"""Codes of ICD-9-CM: how they are written, and their chapters as ranges of categories.

From the tabular list of the U.S. National Center for Health Statistics and the Centers for Medicare & Medicaid Services
(version 32), which is in the public domain.
"""

from __future__ import annotations

import re

from querygate.core.code_systems.code_ranges import OTHER, range_of

_CHAPTERS = """
001-139 140-239 240-279 280-289 290-319 320-389 390-459 460-519 520-579 580-629 630-679 680-709 710-739 740-759 760-779
780-799 800-999 V01-V91 E000-E999
"""

_CODE = re.compile(r"([0-9]{3}|V[0-9]{2}|E[0-9]{3})\.?([0-9]{0,2})")


def icd9_path(text: str) -> tuple[str, ...]:
    """A diagnosis code of ICD-9-CM, with or without its dot: the text, four digits, category, chapter.

    >>> icd9_path("250.02"), icd9_path("V4581")[1:], icd9_path("E8490")[1:]
    (('250.02', '2500', '250', '240-279'), ('V458', 'V45', 'V01-V91'), ('E8490', 'E849', 'E000-E999'))
    """
    found = _CODE.fullmatch(text.strip().upper())
    chapter = range_of(found[1], _CHAPTERS) if found else None
    if found is None or chapter is None:
        return (text, OTHER, OTHER, OTHER)
    return (text, found[1] + found[2][:1], found[1], chapter)
