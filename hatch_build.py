"""What a wheel has beside the code: the pages that the gate serves under /docs, laid out as they are here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INSIDE = "querygate/web/manual/pages"
PAGES = ("docs/**/*.md", "docs/**/*.png", "docs/**/*.svg", "docs/**/*.webp", "deploy/*.md")
SINGLE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def find_pages(root: Path) -> dict[str, str]:
    """Files of the repository, and where each is in the wheel."""
    files = [path for pattern in PAGES for path in sorted(root.glob(pattern))] + [root / name for name in SINGLE]
    return {str(path): f"{INSIDE}/{path.relative_to(root).as_posix()}" for path in files if path.is_file()}


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """An editable install reads the pages where they are."""
        if version != "editable":
            build_data["force_include"].update(find_pages(Path(self.root)))
