"""The pages that people sign in to: ask, see, come back to it. The same gate as the API's, drawn."""

from __future__ import annotations

import secrets

from flask import Flask, Response, g, request

from querygate.control.sessions import Sessions
from querygate.site.audit_cases import AuditCases
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.job_exchange import JobExchange
from querygate.site.open_gate import OpenSite, now
from querygate.site.publications import Publications
from querygate.site.user_limits import UserLimits
from querygate.web.console import (
    access_pages,
    audit_pages,
    console,
    device_pages,
    extract_pages,
    model_pages,
    notebook_pages,
    pattern_pages,
    publish_pages,
    saved_pages,
    sign_in_pages,
    site_pages,
    today_and_log_pages,
    tour_pages,
)
from querygate.web.console.navigation import destinations
from querygate.web.console.page_session import make_page_door
from querygate.web.console.problem_pages import install_problem_pages
from querygate.web.console.snippets import Snippets
from querygate.web.console.upload_request import UploadRequest, remove_drop
from querygate.web.help_page import help_page
from querygate.web.job_routes import JobViews
from querygate.web.sign_in import SignIn
from querygate.web.sign_on.optional_sign_on import SignOnDoor

__all__ = ["install_console"]

# The editor makes a style sheet of its own, which the nonce lets in; a picture is drawn from a blob to be saved as PNG.
_CSP = (
    "default-src 'self'; style-src 'self' 'nonce-{}'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)


def install_console(
    app: Flask,
    opened: OpenSite,
    extracts: Extracts,
    jobs: JobViews,
    exchange: JobExchange | None,
    checks: tuple[SignIn, UserLimits, SignOnDoor],
) -> None:
    """Put the pages into the application."""
    sessions = Sessions(opened.log.database, now, secrets.token_bytes)
    sign_in, limits, sign_on = checks
    cases = AuditCases(opened, exchange)
    tour = tour_pages.TourPages(bool(opened.site.settings["tour"]))
    rooms = (
        (sign_in_pages.PAGES, sign_in_pages.SignInPages(opened, sessions, sign_in, sign_on)),
        (device_pages.PAGES, device_pages.DevicePages(opened, sign_in, sign_on)),
        (console.PAGES, console.Console(opened, jobs)),
        (model_pages.PAGES, model_pages.ModelPages(opened)),
        (saved_pages.PAGES, saved_pages.SavedPages(opened)),
        (notebook_pages.PAGES, notebook_pages.NotebookPages(opened)),
        (extract_pages.PAGES, extract_pages.RequestPages(opened, extracts, jobs)),
        (audit_pages.PAGES, audit_pages.AuditPages(opened, cases, jobs)),
        (today_and_log_pages.PAGES, today_and_log_pages.OverviewPages(opened, cases, jobs, exchange)),
        (access_pages.PAGES, access_pages.AccessPages(opened)),
        (publish_pages.PAGES, publish_pages.PublishPages(Publications(opened, exchange), jobs)),
        (site_pages.PAGES, site_pages.SitePages(opened, exchange)),
        (pattern_pages.PAGES, pattern_pages.PatternPages()),
        (tour_pages.PAGES, tour),
    )
    for pages, room in rooms:
        for route in pages:
            more = {"prepare": room.prepare_upload} if isinstance(room, publish_pages.PublishPages) else {}
            door = make_page_door(
                route, getattr(room, route.name), sessions, limits, **(more if route.takes_file else {})
            )
            app.add_url_rule(
                route.rule, f"page:{route.name}", door, methods=[route.method], provide_automatic_options=False
            )
    app.add_template_global(Snippets(opened.site.settings["pg_port"]), "snippets")
    app.add_template_global(destinations, "destinations")
    app.add_template_global(help_page, "help_page")
    app.add_template_global(tour.strip, "tour_strip")
    app.request_class = UploadRequest
    app.teardown_request(remove_drop)
    app.before_request(_give_nonce)
    install_problem_pages(app, sessions)
    app.after_request(_finish)


def _give_nonce() -> None:
    g.nonce = secrets.token_urlsafe(16)


def _finish(response: Response) -> Response:
    if (request.endpoint or "").startswith("page:") or g.get("is_page"):
        response.headers["Content-Security-Policy"] = _CSP.format(g.nonce)
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "same-origin"  # with none, browsers do not say where a form comes from
    return response
