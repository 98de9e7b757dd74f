"""The public pages: the reference, and what each code means. All from tables."""

from __future__ import annotations

import json
import re
from importlib.metadata import version

from flask import Response, render_template
from markupsafe import Markup, escape

from querygate.core.errors import CODES
from querygate.core.rights import Right
from querygate.web.refusal_explanations import EXPLANATIONS
from querygate.web.routes import ROUTES
from querygate.web.schemas import SCHEMAS

SECTIONS = {
    "Asking": ("ask", "check", "price", "fit_model", "read_budget", "fetch_answer"),
    "Exploring": ("list_datasets", "describe_dataset"),
    "Extracts": (
        "list_exports",
        "request_export",
        "show_export",
        "edit_export",
        "act_on_export",
        "fetch_export",
        "read_export_report",
        "read_export_risk",
        "read_export_risk_report",
    ),
    "For custodians": ("read_log", "read_findings", "run_audit", "read_risk", "read_risk_report"),
    "Jobs": ("read_job", "follow_job", "cancel_job"),
    "For workers": ("lease_job", "renew_job", "return_job", "finish_job", "read_log_entries"),
    "For those who grant": ("list_grants", "add_grant", "revoke_grant"),
    "For admins": (
        "list_users",
        "add_user",
        "change_user",
        "act_on_user",
        "list_keys",
        "new_key",
        "rotate_key",
        "revoke_key",
    ),
    "Your own keys": ("list_own_keys", "rotate_own_key", "revoke_own_key"),
    "Signing in with a program": ("begin_device", "redeem_device"),
    "For operators": ("healthz", "readyz", "metrics"),
    "Pages": ("reference", "refusals", "openapi"),
}


class Pages:
    """One method per page, called as its route's name."""

    def reference(self) -> Response:
        by_name = {route.name: route for route in ROUTES}
        sections = {title: [by_name[name] for name in names] for title, names in SECTIONS.items()}
        return _page("reference.html", sections=sections, who=explain_who, example=make_example, fields=make_fields)

    def refusals(self) -> Response:
        return _page("refusals.html", codes=CODES, explanations=EXPLANATIONS)


def explain_who(rights: tuple[Right, ...]) -> str:
    """Who may use a route: anybody, or whoever has one of these rights.

    >>> explain_who(()), explain_who(("ask", "look"))
    ('no key', 'a key with the right `ask` or `look`')
    """
    return f"a key with the right {' or '.join(f'`{right}`' for right in rights)}" if rights else "no key"


def make_example(schema: str) -> str:
    """A schema's example as JSON text; empty where it has none."""
    example = SCHEMAS.get(schema, {}).get("example")
    return json.dumps(example, indent=2, ensure_ascii=False) if example else ""


def make_fields(schema: str, prefix: str = "") -> list[tuple[str, str]]:
    """The fields of what is sent, with their meaning; those of an object inside it as `options.mode`."""
    fields: list[tuple[str, str]] = []
    for name, shape in SCHEMAS[schema]["properties"].items():
        inner = shape.get("$ref", "").rpartition("/")[2]
        optional = "" if name in SCHEMAS[schema]["required"] else " Optional."
        fields += make_fields(inner, f"{name}.") if inner else [(prefix + name, shape["description"] + optional)]
    return fields


def mark_code(text: str) -> Markup:
    """Text with `code` between backticks, as HTML.

    >>> mark_code("`k` < 2")
    Markup('<code>k</code> &lt; 2')
    """
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped first


def _page(template: str, **values: object) -> Response:
    html = render_template(template, version=version("querygate"), **values)
    return Response(html, content_type="text/html; charset=utf-8")
