"""Copies published versions from a site's folder to where gates read them: a PostgreSQL server, or a folder for
Spark."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from querygate.core.errors import ConfigError
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.catalog_json import catalog_to_json
from querygate_adapters.store.duckdb_store import DuckDBRelease, current_version, is_withdrawn, version_file
from querygate_adapters.store.retired_versions import readable_in, retired_in

NAMES = {"spark": "PySpark", "postgres": "The PostgreSQL driver"}


class Shelf(Protocol):
    """Where versions are copied to."""

    def versions(self, dataset: str) -> dict[int, str]: ...

    def copy(self, file: Path) -> None: ...

    def serve(self, dataset: str, version: int) -> None: ...

    def withdraw(self, dataset: str) -> None: ...

    def remove(self, dataset: str, version: int) -> None: ...


@dataclass(frozen=True, slots=True)
class StoreCopy:
    """What a copy did for one dataset: the versions copied, and the one now served there; none for a dataset that was
    withdrawn.
    """

    dataset: str
    copied: tuple[int, ...]
    served: int | None


def copy_store(
    opened: OpenSite,
    location: str,
    datasets: tuple[str, ...] = (),
    *,
    user: str,
    progress: Callable[[str], None] = lambda text: None,
) -> tuple[StoreCopy, ...]:
    """Copy every version that is missing there, then serve the ones that are served here; all of it is logged."""
    root = opened.site.store
    here = tuple(sorted(path.parent.name for path in root.glob("*/current")))
    unknown = sorted(set(datasets) - set(here))
    if unknown:
        known = ", ".join(here) or "none"
        raise ConfigError("QG804", f"No version of {', '.join(unknown)} is published.", f"Datasets here: {known}.")
    shelf = open_shelf(location)
    done = []
    for dataset in datasets or here:
        copied = _copy_dataset(opened, shelf, dataset, progress)
        done.append(copied)
        body = {"copied": list(copied.copied), "served": copied.served}
        opened.log.note("store.copy", user=user, dataset=dataset, body=body)
    return tuple(done)


def open_shelf(location: str) -> Shelf:
    """The writer for a location; QG804 if something it needs is not installed."""
    kind = "spark" if location.startswith("spark:") else "postgres"
    try:
        if kind == "spark":
            from querygate_adapters.vault.spark.spark_writer import SparkVersionWriter

            return SparkVersionWriter(location)
        from querygate_adapters.vault.postgres_writer import PostgresVersionWriter

        return PostgresVersionWriter(location)
    except ImportError:
        raise ConfigError(
            "QG804",
            f"{NAMES[kind]} is not installed.",
            f"Install it with: pip install 'querygate[{kind}]'.",
        ) from None


def _copy_dataset(opened: OpenSite, shelf: Shelf, dataset: str, progress: Callable[[str], None]) -> StoreCopy:
    folder = opened.site.store / dataset
    there = shelf.versions(dataset)
    if is_withdrawn(folder):
        shelf.withdraw(dataset)
        _remove_retired(shelf, folder, there, progress)
        return StoreCopy(dataset, (), None)
    missing = [version for version in readable_in(folder) if version not in there]
    served = current_version(folder)
    if served is None:
        raise ConfigError("QG804", f"No version of {dataset} is served here.", "Publish it, then copy it.")
    if served in there and catalog_to_json(DuckDBRelease(version_file(folder, served)).catalog) != there[served]:
        raise ConfigError(
            "QG804",
            f"Version {served} of {dataset} there was published from another site.",
            "Copy into another schema (postgresql://user@host/database#schema) or folder (spark:/FOLDER).",
        )
    for version in missing:
        progress(f"{dataset}: copying version {version}")
        shelf.copy(version_file(folder, version))
    shelf.serve(dataset, served)
    _remove_retired(shelf, folder, there, progress)
    return StoreCopy(dataset, tuple(missing), served)


def _remove_retired(shelf: Shelf, folder: Path, there: Collection[int], progress: Callable[[str], None]) -> None:
    for version in sorted(set(there) & set(retired_in(folder))):
        progress(f"{folder.name}: removing version {version}, which was retired")
        shelf.remove(folder.name, version)
