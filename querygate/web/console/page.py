"""How pages are written: a template, what it shows, and what every page has."""

from __future__ import annotations

from importlib.metadata import version

from flask import Response, g, redirect, render_template, request


def make_page(template: str, status: int = 200, **values: object) -> Response:
    """A whole page."""
    common = {"session": None, "version": version("querygate"), "nonce": g.get("nonce", "")}
    return make_part(template, status, **{**common, **values})


def make_part(template: str, status: int = 200, **values: object) -> Response:
    """A part of a page, which a script puts in its place."""
    html = render_template(f"console/{template}", origin=request.host_url.rstrip("/"), **values)
    return Response(html, status, content_type="text/html; charset=utf-8")


def wants_part() -> bool:
    return bool(request.headers.get("HX-Request"))


def go(address: str) -> Response:
    return redirect(address, 303)  # type: ignore[return-value]


def make_download(data: bytes, media: str, name: str) -> Response:
    response = Response(data, content_type=media)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
