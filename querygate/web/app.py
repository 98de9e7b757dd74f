"""The application factory: the table of routes joined to its views, behind one door."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flask import Flask, Response, request

from querygate.core.jobs import JobUnderway
from querygate.core.rights import not_allowed
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.job_exchange import JobExchange
from querygate.site.open_gate import OpenSite
from querygate.site.process_limits import DoorLimits
from querygate.site.user_limits import UserLimits
from querygate.web import problems, request_record
from querygate.web.accounts.grant_routes import GrantViews
from querygate.web.accounts.key_routes import KeyViews
from querygate.web.accounts.user_routes import UserViews
from querygate.web.compression import compress_public
from querygate.web.console import install_console
from querygate.web.extract_routes import Exports
from querygate.web.job_routes import JobViews, underway
from querygate.web.manual import install_manual
from querygate.web.metrics import Figures, Metrics
from querygate.web.model_routes import Models
from querygate.web.page_cache import make_page_app
from querygate.web.query_routes import Api
from querygate.web.rate_limited_view import weighed, within_limits
from querygate.web.risk_routes import Risks
from querygate.web.routes import API, ROUTES, Route
from querygate.web.saved.saved_routes import SavedViews
from querygate.web.sign_in import SignIn
from querygate.web.sign_on.device_routes import DeviceViews
from querygate.web.sign_on.optional_sign_on import SignOnDoor
from querygate.web.worker_routes import WorkViews

View = Callable[..., Response]


# Scripts and styles come from files of our own. The form is sent by script only, so that without one a key typed
# into it goes nowhere.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def create_app(
    opened: OpenSite,
    extracts: Extracts | None = None,
    exchange: JobExchange | None = None,
    metrics: Metrics | None = None,
    counted: DoorLimits | None = None,
) -> Flask:
    """The HTTP door of an open site. It gives what the site's gate gives; without extracts it builds nothing, and
    without an exchange there are no jobs. `counted` is what it counts together with other doors.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from querygate.site.open_gate import open_gate
    >>> from querygate.site.layout import init_site
    >>> with TemporaryDirectory() as folder:
    ...     app = create_app(open_gate(init_site(Path(folder) / "site")))
    ...     app.test_client().get("/healthz").json
    {'status': 'ok'}
    """
    opened.grants.note_upgrade()
    app = make_page_app()
    app.config["MAX_CONTENT_LENGTH"] = opened.site.settings["max_body_kb"] * 1024
    app.url_map.merge_slashes = False
    counted = counted or DoorLimits(opened)
    sign_in, limits = SignIn(opened, counted.guard), counted.users
    sign_on = SignOnDoor(opened, sign_in)
    extracts = extracts or Extracts(opened, via="http")
    jobs = JobViews(opened, exchange)
    views = (
        Api(opened, exchange),
        Models(opened),
        Exports(extracts),
        Risks(opened),
        jobs,
        WorkViews(opened, exchange),
        SavedViews(opened),
        GrantViews(opened),
        UserViews(opened),
        KeyViews(opened, sign_in),
        DeviceViews(opened, sign_in, sign_on),
        Figures(opened, metrics),
    )
    _add_routes(app, views, sign_in, limits)
    problems.install(app)
    install_console(app, opened, extracts, jobs, exchange, (sign_in, limits, sign_on))
    install_manual(app)
    app.extensions["querygate"] = (sign_in, limits)
    app.extensions["querygate.sign_on"] = sign_on
    app.register_error_handler(JobUnderway, underway)
    app.before_request(lambda: request_record.begin(metrics))
    app.after_request(harden)
    app.after_request(compress_public)
    app.after_request(give_tag)
    app.after_request(lambda response: request_record.end(response, metrics))
    return app


def _add_routes(app: Flask, views: Sequence[object], sign_in: SignIn, limits: UserLimits) -> None:
    """Each route of the table by the view that has its name, behind its lock."""
    for route in ROUTES:
        view: View = next(getattr(group, route.name) for group in views if hasattr(group, route.name))
        door = make_door(route, view, sign_in, limits)
        app.add_url_rule(route.rule, route.name, door, methods=[route.method], provide_automatic_options=False)


def make_door(route: Route, view: View, sign_in: SignIn, limits: UserLimits) -> View:
    """The view behind its lock. Who may come in is read from the table, so no view can forget to ask."""
    accepted = {parameter.name for parameter in route.parameters if parameter.where == "query"}

    def enter(**path: str) -> Response:
        if not route.who:
            return view(**path)
        principal = sign_in.authenticate()
        if not any(principal.may(right) for right in route.who):
            raise not_allowed(route.who[0])
        unknown = sorted(set(request.args) - accepted)
        if unknown:
            listed = f"Accepted: {', '.join(sorted(accepted))}." if accepted else "Remove it."
            raise problems.malformed(f"{unknown[0][:63]}: is not a known parameter.", listed)
        if "work" in route.who:  # a worker comes often, and is no user
            return view(principal, **path)
        with within_limits(limits, principal) as given:
            return weighed(view(principal, **path), given)

    return enter


def give_tag(response: Response) -> Response:
    """With a tag of what it says, so that a program that has kept it gets 304 and no body. It is asked and on record as
    ever; only the way is shorter."""
    is_read = request.method == "GET" and request.path.startswith(API) and response.status_code == 200
    if is_read and not response.is_streamed:
        response.add_etag()
        response.make_conditional(request)
    return response


def harden(response: Response) -> Response:
    """Headers that every response carries. What the API says is kept by nobody on the way.

    No view sets one of them, so that they are added and not looked for."""
    response.headers.extend(HEADERS)
    response.headers["Cache-Control"] = "no-store" if request.path.startswith(API) else "no-cache"
    return response
