"""The figures of an extract as those who decide read them, at the shell and in the console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REPEATED = ("format", "request", "dataset", "kind", "policy_hash", "wish", "correlations")


def make_figures(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a person reads of a summary: `words` where there are some, else plain figures; no tables, and nothing that
    the request says already.

    >>> make_figures({"k": 5, "wish": {}, "tried": [{"k": 5}], "risk": {"words": ["1 in 5."], "n": 3}})
    {'k': 5, 'risk': '1 in 5.'}
    """
    found = {}
    for name, value in body.items():
        if isinstance(value, Mapping):
            value = " ".join(value.get("words", ())) or make_figures(value)
        is_table = isinstance(value, list) and any(isinstance(one, (Mapping, list)) for one in value)
        if name not in REPEATED and not is_table and value not in (None, "", [], {}):
            found[name] = value
    return found
