"""The pages of the documentation under /docs, for everybody who reaches the gate."""

from __future__ import annotations

import posixpath
import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import Final

from flask import Flask, Response, redirect, render_template, request, send_file
from werkzeug.exceptions import NotFound

from querygate.web.manual.api_description import describe_api
from querygate.web.manual.contents import Chapter, make_contents
from querygate.web.manual.library import Document, Library
from querygate.web.manual.search_index import Found, Section, find, make_sections

ROOT = "/docs"
LONGEST_SEARCH = 200

LARGE_CHARS = 40_000
"""Pages from here on take a noticeable part of a tenth of a second to draw."""

# As everywhere, but that the search is a form.
_CSP = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"


def address_of(name: str) -> str:
    """The address of a page or picture.

    >>> address_of(""), address_of("how-to/deploy")
    ('/docs', '/docs/how-to/deploy')
    """
    return f"{ROOT}/{name}" if name else ROOT


class Manual:
    """The pages and their search. Made once, and read by all threads."""

    def __init__(self, library: Library) -> None:
        self._library, self._lock = library, threading.Lock()
        self._contents: list[Chapter] = []
        self._sections: list[Section] = []

    def show(self, name: str = "") -> Response:
        """A page, a picture or a folder. Whatever is not in the table of the library is not there."""
        if picture := self._library.pictures.get(name):
            return send_file(picture, conditional=True)
        if document := self._library.documents.get(name):
            return self._page(document)
        if listed := self._library.folders.get(name):
            return self._whole("folder.html", title=posixpath.basename(name).capitalize(), name=name, listed=listed)
        raise NotFound

    def search(self) -> Response:
        asked = request.args.get("q", "")[:LONGEST_SEARCH].strip()
        found: Sequence[Found] = find(self._all_sections(), asked) if asked else ()
        return self._whole("search.html", title="Search", name="search", asked=asked, found=found)

    def explore(self) -> Response:
        """The description of the API, to be tried out. Its key stays in the page."""
        return self._whole("explorer.html", title="HTTP interface", name="api", api=describe_api())

    def prepare(self) -> None:
        """Do beforehand what would keep whoever comes first waiting."""
        self._all_contents()
        self._all_sections()
        for document in self._library.documents.values():
            if len(document.text) >= LARGE_CHARS:
                self._library.draw(document, address_of)

    def _page(self, document: Document) -> Response:
        drawn = self._library.draw(document, address_of)
        return self._whole("page.html", title=document.title, name=document.name, drawn=drawn)

    def _whole(self, template: str, **values: object) -> Response:
        html = render_template(
            f"manual/{template}",
            contents=self._all_contents(),
            link=address_of,
            asset="/static/{}".format,
            version=version("querygate"),
            served=True,
            **values,
        )
        response = Response(html, content_type="text/html; charset=utf-8")
        response.add_etag()
        response.make_conditional(request)
        return response

    def _all_contents(self) -> list[Chapter]:
        self._contents = self._contents or make_contents(self._library)
        return self._contents

    def _all_sections(self) -> list[Section]:
        with self._lock:  # all pages are read once, and not by several at once
            if not self._sections:
                documents = self._library.documents.values()
                self._sections = [section for document in documents for section in make_sections(document)]
        return self._sections


MANUAL: Final = Manual(Library())
"""The documentation is the same for every site, so one is enough for a process."""


def install_manual(app: Flask) -> None:
    """Put the documentation into the application. Links in problems name /docs/refusals, for good."""
    views = {
        "": MANUAL.show,
        "/": lambda: redirect(ROOT, 308),
        "/search": MANUAL.search,
        "/api": MANUAL.explore,
        "/refusals": lambda: redirect(f"{ROOT}/reference/refusals", 308),
        "/<path:name>": MANUAL.show,
    }
    for rule, view in views.items():
        app.add_url_rule(
            ROOT + rule, f"docs:{rule}", view, methods=["GET"], provide_automatic_options=False, strict_slashes=True
        )
    app.after_request(_finish)


def _finish(response: Response) -> Response:
    if (request.endpoint or "").startswith("docs:"):
        response.headers["Content-Security-Policy"] = _CSP
    return response
