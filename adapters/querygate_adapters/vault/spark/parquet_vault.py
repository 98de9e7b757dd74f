"""The raw rows of versions as Parquet, in a folder that this machine and Spark's workers see alike.

    /data/querygate/patients/v00003-5f0c2a91/rows         row_id, and every column with its own name
                                             row_class    row_id, class
                                             policy.toml  what they were published under
                                             making       while the version is made

A file in the vault of the site says where they are (`vault_pointer`). It is there, under a name that nobody reads,
before the folder is: so whatever a killed publication has left is found and removed by the next one. Nothing here needs
Spark.
"""

from __future__ import annotations

import re
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from querygate.core.errors import ConfigError
from querygate.core.files.full_disk import is_full_disk
from querygate.core.files.private_files import for_owner
from querygate_adapters.store.retired_versions import STAGED, flush
from querygate_adapters.store.vault_pointer import SUFFIX, folder_of, pointed_in, pointer_file

KIND = "spark:"
_FOLDER = re.compile(r"v\d{5,}-[0-9a-f]{8}")
_PATTERN = frozenset("*?[]{}\\")
"""Characters by which Spark means several folders."""


def vault_folder(location: str) -> Path:
    """The folder of a location such as spark:/data/querygate; ConfigError QG804 if it is none."""
    place = location.removeprefix(KIND)
    if not location.startswith(KIND) or not place.startswith("/") or _PATTERN & set(place):
        raise ConfigError(
            "QG804",
            "A vault in Spark is a folder that this machine and Spark's workers see under the same path.",
            f"Write {KIND}/PATH/OF/THE/FOLDER, without any of {' '.join(sorted(_PATTERN))}",
        )
    return Path(place)


@dataclass(frozen=True, slots=True)
class ParquetVault:
    """The folder of one version."""

    folder: Path

    @property
    def rows(self) -> Path:
        return self.folder / "rows"

    @property
    def classes(self) -> Path:
        return self.folder / "row_class"

    @property
    def policy(self) -> Path:
        return self.folder / "policy.toml"

    @property
    def making(self) -> Path:
        return self.folder / "making"

    @classmethod
    def begun(cls, root: Path, dataset: str, version: int, pointer: Path) -> ParquetVault:
        """An empty folder; `pointer` names it from now on."""
        folder = root / dataset / f"v{version:05d}-{secrets.token_hex(4)}"  # workers of a killed one may still write
        try:
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(pointer, "w", encoding="utf-8", opener=for_owner) as file:
                file.write(str(folder))
            for path in (pointer, pointer.parent):
                flush(path)
            folder.mkdir(mode=0o700)
        except OSError as error:
            if is_full_disk(error):
                raise
            raise ConfigError(
                "QG804",
                "The folder of the vault in Spark cannot be written.",
                "Check that it exists, and who may write there.",
            ) from None
        return cls(folder)

    def settle(self) -> None:
        """The rows and their classes are on disk, and what only the making needed is gone."""
        shutil.rmtree(self.making, ignore_errors=True)
        for place in (self.rows, self.classes, self.folder):
            for path in (*place.iterdir(), place):
                flush(path)


def remove(pointer: Path, *, keep_pointer: bool = False) -> None:
    """Remove the rows that a pointer names, and then the pointer. ConfigError QG804 where they are out of reach."""
    folder = folder_of(pointer)
    if folder.is_dir() and _FOLDER.fullmatch(folder.name):
        shutil.rmtree(folder)
        flush(folder.parent)
    elif not folder.parent.is_dir():  # not mounted, perhaps
        raise ConfigError(
            "QG804",
            f"The raw rows of {pointer.name.removesuffix(SUFFIX)} are in {folder}, which cannot be reached.",
            "Mount the folder, and try again. If it is gone for good, remove the file "
            f"{pointer.parent.name}/{pointer.name} from the vault.",
        )
    if not keep_pointer:
        pointer.unlink()


def sweep(vault: Path, *, is_over: bool) -> None:
    """Remove what a publication that was stopped has left; not the rows of a version that is in place.

    Tasks of Spark may outlive the publication and write once more. So when it `is_over` its pointer stays, and the next
    publication looks again.
    """
    for staged in vault.glob(f"{STAGED}v*{SUFFIX}"):
        if staged.with_name(staged.name.removeprefix(STAGED)).exists():
            staged.unlink()
        else:
            remove(staged, keep_pointer=is_over)


def check_none(dataset: str, vault: Path) -> None:
    """ConfigError QG804 if rows of a version are in Spark: nobody can be looked up or deleted there."""
    if versions := pointed_in(vault):
        folder = folder_of(pointer_file(vault, versions[-1]))
        listed = ", ".join(map(str, versions))
        raise ConfigError(
            "QG804",
            f"The raw rows of version {listed} of {dataset} are in Spark, in {folder}, where no person can be deleted.",
            "Take the person out of the source, publish it again with --on-overlap retire, and erase the retired rows: "
            f"`querygate vault erase {dataset}`.",
        )
