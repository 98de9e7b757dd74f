"""Records by combination: the statement that counts them, in SQL that all engines understand, and what it tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from querygate.core.publications.vault_ports import Combinations
from querygate.core.types import Array, Ints
from querygate_adapters.store.column_arrays import floats, ints


def figures_sql(by: Sequence[str], rows: str, numbers: Sequence[tuple[str, str]]) -> str:
    """Records grouped by these, and for every sensitive number (its value, its code) the extremes of both."""
    figures = "".join(
        f", MIN({v}) AS lo{i}, MAX({v}) AS hi{i}, MIN({x}) AS lc{i}, MAX({x}) AS hc{i}"
        for i, (v, x) in enumerate(numbers)
    )
    places = ", ".join(str(i + 1) for i in range(len(by)))
    return f"SELECT {', '.join(by)}, COUNT(*) AS n{figures} {rows} GROUP BY {places} ORDER BY {places}"


def combinations_of(found: Mapping[str, Array], codes: Mapping[str, Ints], sensitive: Sequence[str]) -> Combinations:
    """The result of the statement, of these sensitive numbers."""
    named = list(enumerate(sensitive))
    return Combinations(
        codes,
        ints(found["n"]),
        {name: floats(found[f"lo{i}"]) for i, name in named},
        {name: floats(found[f"hi{i}"]) for i, name in named},
        {name: ints(found[f"lc{i}"]) for i, name in named},
        {name: ints(found[f"hc{i}"]) for i, name in named},
    )
