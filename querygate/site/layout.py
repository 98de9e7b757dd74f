"""The folders of a site."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from querygate.control.database import Database
from querygate.control.log.signature import has_library, load_key
from querygate.core.errors import ConfigError
from querygate.core.files.private_files import for_owner
from querygate.site.settings import FILE, SETTINGS, Settings, load_settings


@dataclass(frozen=True, slots=True)
class Site:
    """A site on disk. `vault` is a path only; nothing here opens it."""

    folder: Path
    settings: Settings

    @property
    def control(self) -> Path:
        return self.folder / "control.db"

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    @property
    def dropped(self) -> Path:
        """Tables that custodians uploaded, for a worker to read: whoever serves only puts them down."""
        return self.folder / "dropped"

    @property
    def extracts(self) -> Path:
        """What was released, to be fetched."""
        return self.folder / "extracts"


def init_site(folder: Path) -> Site:
    """Make an empty site: settings with every default written as a comment, and the folders, closed to others."""
    if (folder / FILE).exists():
        raise ConfigError("QG804", f"{folder} is already a site.", "Choose another folder, or use this one.")
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder, folder / "store", folder / "vault"):
        path.mkdir(mode=0o700, exist_ok=True)
        path.chmod(0o700)
    lines = ["# QueryGate settings. How a dataset is protected is in its policy, not here.", ""]
    for setting in SETTINGS:
        value = f'"{setting.default}"' if isinstance(setting.default, str) else str(setting.default).lower()
        lines += [f"# {setting.help}", f"# {setting.name} = {value}", ""]
    if has_library():
        load_key(folder)  # makes the key with which the log is signed
    Database(folder / "control.db").close()
    with open(folder / FILE, "w", encoding="utf-8", opener=for_owner) as stream:  # a location may have a password
        stream.write("\n".join(lines))
    return open_site(folder)


def open_site(folder: Path) -> Site:
    """A site that exists."""
    if not (folder / FILE).is_file():
        raise ConfigError(
            "QG804", f"{folder} is not a site.", "Create one with `querygate init`, or name one with --site."
        )
    return Site(folder, load_settings(folder))
