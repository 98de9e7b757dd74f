"""The documentation as a folder of files for any web server: `make docs-site`. It asks no other host for anything.

python -m querygate.web.manual.static_site build/docs-site
"""

from __future__ import annotations

import json
import posixpath
import shutil
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, select_autoescape

from querygate.web.manual.contents import make_contents
from querygate.web.manual.library import AddressOf, Library
from querygate.web.manual.search_index import make_sections

STATIC: Final = Path(__file__).resolve().parents[1] / "static"
ASSETS: Final = ("mark.svg", "theme.css", "manual.css", "manual-search.js")
INDEX: Final = "search.json"


class StaticSite:
    """Every page of the library as one file; links are relative, so that it works below any address."""

    def __init__(self, library: Library, folder: Path) -> None:
        self._library, self._folder = library, folder
        loader = PackageLoader("querygate.web", "templates")
        self._templates = Environment(loader=loader, autoescape=select_autoescape())
        self._contents = make_contents(library)

    def write(self) -> int:
        """Write all; returns how many pages."""
        library = self._library
        for document in library.documents.values():
            drawn = library.draw(document, self._links(document.name))
            self._page("page.html", document.name, document.title, drawn=drawn)
        for name, listed in library.folders.items():
            self._page("folder.html", name, posixpath.basename(name).capitalize(), listed=listed)
        self._page("search.html", "search", "Search", index=INDEX)
        for name, picture in library.pictures.items():
            shutil.copy(picture, self._place(name))
        for asset in ASSETS:
            shutil.copy(STATIC / asset, self._place(f"static/{asset}"))
        sections = [asdict(one) for document in library.documents.values() for one in make_sections(document)]
        pages = {one["page"]: self._file(one["page"]) for one in sections}
        index = {"pages": pages, "sections": sections}
        self._place(INDEX).write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")
        return len(library.documents)

    def _page(self, template: str, name: str, title: str, **values: object) -> None:
        link = self._links(name)
        above = posixpath.relpath(".", posixpath.dirname(self._file(name)) or ".")
        html = self._templates.get_template(f"manual/{template}").render(
            title=title,
            name=name,
            link=link,
            asset=lambda asset: f"{above}/static/{asset}",
            contents=self._contents,
            version=version("querygate"),
            served=False,
            **values,
        )
        self._place(self._file(name)).write_text(html, encoding="utf-8")

    def _links(self, name: str) -> AddressOf:
        here = posixpath.dirname(self._file(name)) or "."
        return lambda there: posixpath.relpath(self._file(there), here)

    def _file(self, name: str) -> str:
        return name if name in self._library.pictures else f"{name or 'index'}.html"

    def _place(self, name: str) -> Path:
        place = self._folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


def main(folder: str) -> None:
    pages = StaticSite(Library(), Path(folder)).write()
    print(f"{folder}: {pages} pages. Open {folder}/index.html; the search needs a web server.")


if __name__ == "__main__":
    main(sys.argv[1])
