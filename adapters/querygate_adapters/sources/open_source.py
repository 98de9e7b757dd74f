"""Opens a source: the part of its specification before the colon, or the file's extension, names the adapter.

    patients.csv   patients.csv.gz   patients.tsv   patients.parquet   duckdb:hospital.duckdb#patients
    postgresql://user@host:5432/hospital#public.patients   spark:#hospital.patients   spark:/data/patients
    fhir:cdm/Patient.parquet

Adapters are found through the entry-point group `querygate.adapters`, so another package can bring its own.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path, PurePath

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import Source

GROUP = "querygate.adapters"
FILES = frozenset({"csv", "parquet", "duckdb", "fhir"})
"""Kinds whose location is the path of a file."""

LAYOUTS = (EntryPoint("fhir", "querygate_adapters.sources.fhir_resources:FhirResource", GROUP),)
"""Kinds that read files of another kind in a layout of their own, so that no ending stands for them."""


def open_source(specification: str, beside: Path = Path()) -> Source:
    """The source a custodian named; ConfigError QG802 if there is no adapter for it or it cannot be opened.

    `beside` is the folder that the path of a file is relative to.
    """
    name, location = _split(specification)
    available = _available()
    if name not in available:
        raise ConfigError(
            "QG802",
            f"Sources of kind {name!r} are not supported.",
            "Accepted: a file ending in .csv, .tsv or .parquet, or KIND:LOCATION with KIND one of "
            + ", ".join(sorted(available)),
        )
    try:
        adapter = available[name].load()
    except ImportError:
        raise ConfigError(
            "QG802",
            f"A source of kind {name!r} needs a driver that is not installed.",
            "Install the driver, for example with: pip install 'querygate[postgres]'.",
        ) from None
    source: Source = adapter(str(beside / location) if name in FILES else location)
    return source


@cache
def _available() -> dict[str, EntryPoint]:
    """The installed adapters. Finding them reads the metadata of every package."""
    return {point.name: point for point in (*LAYOUTS, *entry_points(group=GROUP))}


def _split(specification: str) -> tuple[str, str]:
    kind, colon, location = specification.partition(":")
    if colon and kind.isalpha() and len(kind) > 1:
        return kind.lower(), (specification if location.startswith("//") else location)
    suffixes = [suffix.lower() for suffix in PurePath(specification).suffixes if suffix.lower() not in (".gz", ".zst")]
    ending = suffixes[-1][1:] if suffixes else ""
    return {"tsv": "csv", "txt": "csv", "parq": "parquet"}.get(ending, ending or "unknown"), specification
