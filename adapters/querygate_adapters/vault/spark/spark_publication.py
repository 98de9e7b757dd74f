"""A publication whose raw rows stay in Spark: cells are written into the store, rows and classes lie there as Parquet.

No version can be compared with one whose rows are in Spark. So it is published beside no other readable version: the
policy, or whoever publishes, has to want earlier ones retired.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from querygate.core.errors import ConfigError
from querygate.core.publications.carried_classes import CarriedClasses
from querygate.core.publications.version_overlap import ClassHistory, OverlapRule
from querygate.core.types import Ints
from querygate_adapters.store.vault_pointer import pointed_in, pointer_file
from querygate_adapters.vault.publication import DuckDBPublication
from querygate_adapters.vault.spark.parquet_vault import ParquetVault
from querygate_adapters.vault.spark.spark_tables import SparkStagingTables


class SparkPublication(DuckDBPublication):
    """One publication of one dataset, under the dataset's lock. `root` is the folder for the rows of all datasets, and
    `retires` says whether earlier versions are retired."""

    _rows_file = staticmethod(pointer_file)

    def __init__(self, store: Path, vault: Path, memory_mb: int, *, root: Path, retires: bool, **more: Any) -> None:
        super().__init__(store, vault, memory_mb, **more)
        self._root, self._retires = root, retires

    def staging(self) -> SparkStagingTables:  # type: ignore[override]
        """The tables of the new version, in Spark."""
        if self._earlier and not self._retires:
            self._refuse(self._earlier)
        vault = ParquetVault.begun(self._root, self._store.name, self.version, self._staged_vault)
        return SparkStagingTables(vault)

    def carry(self, staging: Any, version: int) -> None:
        """All classes are made anew."""

    def meet(self, staging: Any, keeping: OverlapRule, carried: CarriedClasses | None = None) -> _Unknown | None:  # type: ignore[override]
        return _Unknown(tuple(self._earlier)) if self._earlier else None

    @contextmanager
    def meet_written(
        self, keeping: OverlapRule, without: Collection[int], carried: CarriedClasses | None = None
    ) -> Iterator[None]:
        left = [version for version in self._earlier if version not in without]
        if left:
            self._refuse(left)
        yield None

    def _refuse(self, versions: Collection[int]) -> None:
        dataset, listed = self._store.name, ", ".join(map(str, versions))
        there = set(versions) & set(pointed_in(self._vault))
        raise ConfigError(
            "QG803",
            f"Version {listed} of {dataset} can still be read, and nothing compares it with one whose rows are in "
            "Spark: combined, they might tell people apart.",
            "Retire it with the same command and --on-overlap retire: it is never served again, but those who asked "
            f"still know its answers.{'' if there else ' Or leave out --vault.'}",
        )


@dataclass(frozen=True, slots=True)
class _Unknown:
    """Earlier versions of which nobody knows what they tell together with the new one."""

    versions: tuple[int, ...]
    by_person: bool = False
    several: bool = True
    changed: tuple[int, int] = (0, 0)

    def history(self) -> Ints:
        raise NotImplementedError

    def met(self) -> ClassHistory:
        none = np.zeros(0, dtype=np.int64)
        return ClassHistory(np.zeros((0, len(self.versions)), dtype=np.int64), none, none, none.astype(np.bool_))
