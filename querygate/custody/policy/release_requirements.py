"""Requirements for sensitive columns that every class of a release must keep: `t-closeness(dx) <= 0.2`.

Merging classes can only improve each of these, so a search from coarse to fine policies crosses the limit once, like
the threshold of the risk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from querygate.custody.policy.column_policy import ColumnPolicy

MEASURES: Mapping[str, str] = {
    "t-closeness": "<=",
    "alpha": "<=",
    "growth": "<=",
    "l-diversity": ">=",
    "entropy": ">=",
}
"""Measures and the direction of their limits: shares and distances have an upper limit, numbers of values a lower
one."""

FORM = (
    "such as t-closeness(disease) <= 0.2, alpha(disease) <= 0.5, growth(disease) <= 0.1, l-diversity(disease) >= 3 or \
entropy(disease) >= 2, of a sensitive category"
)
_TEXT = re.compile(r"\s*(?P<measure>[a-z-]+)\s*\((?P<column>.+)\)\s*(?P<sign><=|>=)\s*(?P<limit>\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One limit of a measure of a column."""

    measure: str
    column: str
    limit: float

    def __str__(self) -> str:
        return f"{self.measure}({self.column}) {MEASURES[self.measure]} {self.limit:g}"

    def allows(self, figure: float) -> bool:
        """Is a measured figure within the limit, up to rounding?"""
        room = 1e-8
        return figure <= self.limit + room if MEASURES[self.measure] == "<=" else figure >= self.limit - room


def read_requirement(text: str, columns: Iterable[ColumnPolicy]) -> Requirement | None:
    """None if the text is not a requirement, or its column is not a sensitive category of the policy.

    >>> disease = ColumnPolicy("disease", "sensitive", "category")
    >>> str(read_requirement("t-closeness(disease)<=0.20", [disease]))
    't-closeness(disease) <= 0.2'
    >>> read_requirement("t-closeness(disease) >= 0.2", [disease]) is None
    True
    """
    found = _TEXT.fullmatch(text)
    if found is None or MEASURES.get(found["measure"]) != found["sign"]:
        return None
    named = [c for c in columns if c.name == found["column"].strip() and c.role == "sensitive" and not c.is_numeric]
    limit = float(found["limit"])
    if not named or not (0 < limit <= 1 if found["sign"] == "<=" else limit >= 1):
        return None
    return Requirement(found["measure"], named[0].name, limit)
