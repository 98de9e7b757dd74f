"""How the reference describes the routes: their order, who may use them, what is sent and what comes back."""

from __future__ import annotations

import json
import re

from markupsafe import Markup, escape

from querygate.core.rights import Right
from querygate.web.schemas.schema_table import SCHEMAS

SECTIONS = {
    "Asking": ("ask", "check", "price", "fit_model", "read_budget", "fetch_answer", "read_history"),
    "Exploring": ("list_datasets", "describe_dataset", "fetch_twin"),
    "Saved queries": ("list_saved", "save_query", "show_saved", "change_saved", "delete_saved"),
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
    "About this interface": ("openapi",),
}


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
