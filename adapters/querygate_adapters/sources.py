"""Where data comes from: the part of a source specification before the colon, or a file's ending, names the adapter.

    patients.csv   patients.csv.gz   patients.tsv   patients.parquet   duckdb:hospital.duckdb#patients

Adapters are found through the entry-point group `querygate.adapters`, so another package can bring its own.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import PurePath

from querygate.core.errors import ConfigError
from querygate.core.ports import Source

GROUP = "querygate.adapters"


def open_source(specification: str) -> Source:
    """The source a custodian named; ConfigError QG802 if there is no adapter for it or it cannot be opened."""
    available = {point.name: point for point in entry_points(group=GROUP)}
    name, location = _split(specification)
    if name not in available:
        raise ConfigError(
            "QG802",
            f"There is no adapter for a source of kind {name!r}.",
            "Accepted: a file ending in .csv, .tsv or .parquet, or KIND:LOCATION with KIND one of "
            + ", ".join(sorted(available)),
        )
    source: Source = available[name].load()(location)
    return source


def _split(specification: str) -> tuple[str, str]:
    kind, colon, location = specification.partition(":")
    if colon and kind.isalpha() and len(kind) > 1:
        return kind.lower(), (specification if location.startswith("//") else location)
    suffixes = [suffix.lower() for suffix in PurePath(specification).suffixes if suffix.lower() not in (".gz", ".zst")]
    ending = suffixes[-1][1:] if suffixes else ""
    return {"tsv": "csv", "txt": "csv", "parq": "parquet"}.get(ending, ending or "unknown"), specification
