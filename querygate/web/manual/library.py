"""Which pages there are, where each is, and how to get from one to another. Every address is in a table made from what
is on disk, so that no address can name another file."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

from querygate.web.manual.markup import Markup, first_heading, render

PACKAGED: Final = Path(__file__).parent / "pages"
REPOSITORY: Final = Path(__file__).resolve().parents[3]

# Beside those of docs/ itself: pages at the root of the repository and about its deployment files.
ELSEWHERE: Final = {
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "deploy/README.md": "deploy",
    "deploy/backup.md": "deploy/backup",
}
PICTURES: Final = (".png", ".svg", ".webp")

AddressOf: TypeAlias = Callable[[str], str]
"""Writes the address of a page or picture, given its name."""


@dataclass(frozen=True, slots=True)
class Document:
    """One page: its name is its address below /docs, its source the file, as the repository names it."""

    name: str
    source: str
    file: Path
    title: str

    @property
    def text(self) -> str:
        return self.file.read_text(encoding="utf-8")


class Library:
    """The pages below a folder that is laid out as the repository is."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or (PACKAGED if PACKAGED.is_dir() else REPOSITORY)
        self._drawn: dict[str, tuple[int, Markup]] = {}

    @cached_property
    def documents(self) -> dict[str, Document]:
        """Every page, by name; that of the first is empty."""
        files = {source: self.root / source for source in ELSEWHERE}
        files |= {path.relative_to(self.root).as_posix(): path for path in sorted((self.root / "docs").rglob("*.md"))}
        present = {name_of(source): (source, path) for source, path in files.items() if path.is_file()}
        return {
            name: Document(name, source, path, first_heading(path.read_text(encoding="utf-8")) or name)
            for name, (source, path) in present.items()
        }

    @cached_property
    def pictures(self) -> dict[str, Path]:
        found = (path for path in (self.root / "docs").rglob("*") if path.suffix in PICTURES)
        return {path.relative_to(self.root / "docs").as_posix(): path for path in found}

    @cached_property
    def folders(self) -> dict[str, list[Document]]:
        """What is in each folder that has no page of its own."""
        found: dict[str, list[Document]] = {}
        for document in self.documents.values():
            folder = posixpath.dirname(document.name)
            if folder and folder not in self.documents:
                found.setdefault(folder, []).append(document)
        return found

    def draw(self, document: Document, address_of: AddressOf) -> Markup:
        """The page as HTML; drawn again when its file has changed."""
        changed = document.file.stat().st_mtime_ns
        kept = self._drawn.get(document.name)
        if kept is None or kept[0] != changed:
            kept = changed, render(document.text, lambda target: self.follow(document, target, address_of))
            self._drawn[document.name] = kept
        return kept[1]

    def follow(self, document: Document, target: str, address_of: AddressOf) -> str | None:
        """Where a link on a page leads; None where it leads out of the pages, to a file of the source code."""
        if target.startswith(("https://", "http://", "mailto:", "#")):
            return target
        path, _, heading = target.partition("#")
        source = posixpath.normpath(posixpath.join(posixpath.dirname(document.source), path))
        below = source.removeprefix("docs").strip("/")
        name = name_of(source) if source.endswith(".md") else below
        if name not in self.documents and name not in self.folders and name not in self.pictures:
            return None
        return address_of(name) + (f"#{heading}" if heading else "")


def name_of(source: str) -> str:
    """The name of a page, from its file.

    >>> name_of("docs/how-to/deploy.md"), name_of("docs/index.md"), name_of("docs/decisions/README.md")
    ('how-to/deploy', '', 'decisions')
    >>> name_of("deploy/README.md")
    'deploy'
    """
    if source in ELSEWHERE:
        return ELSEWHERE[source]
    name = source.removeprefix("docs/").removesuffix(".md")
    return "" if name == "index" else name.removesuffix("/README")
