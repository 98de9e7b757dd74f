"""Grants over HTTP, for those who give them: decode, call, render."""

from __future__ import annotations

from dataclasses import asdict

from flask import Response

from querygate.control import Actor, Grant, Grantee
from querygate.control.grants import GRANTEES, read_until
from querygate.core.rights import MODES
from querygate.core.types import Principal
from querygate.site.open_gate import OpenSite
from querygate.web.problems import malformed
from querygate.web.query_routes import give
from querygate.web.request_body import check_fields, read_object, read_text, read_truth

GRANT = 'Send {"to": "user", "name": "ann", "dataset": "survey"}.'


class GrantViews:
    """One method per route about grants, called as the route's name."""

    def __init__(self, opened: OpenSite) -> None:
        self._grants = opened.grants

    def list_grants(self, principal: Principal) -> Response:
        found = self._grants.list_grants(revoked=read_truth("revoked"))
        return give({"grants": [asdict(grant) for grant in found]})

    def add_grant(self, principal: Principal) -> Response:
        body = read_object(GRANT)
        check_fields(body, "", ("to", "name", "dataset", "modes", "until"))
        kind, modes = read_text(body, "to"), body.get("modes", [])
        if kind not in GRANTEES:
            raise malformed(f"to: must be one of {', '.join(GRANTEES)}.")
        if not isinstance(modes, list) or not all(mode in MODES for mode in modes):
            raise malformed(f"modes: must be a list of {', '.join(MODES)}.")
        name = "" if kind == "everyone" else read_text(body, "name")
        until = read_until(read_text(body, "until")) if "until" in body else None
        grantee = Grantee(kind, name)
        modes_asked = [str(mode) for mode in modes]
        return give_grant(
            self._grants.add(grantee, read_text(body, "dataset"), modes_asked, until, by=Actor(principal.name))
        )

    def revoke_grant(self, principal: Principal, grant_id: str) -> Response:
        return give_grant(self._grants.revoke(grant_id, by=Actor(principal.name)))


def give_grant(grant: Grant) -> Response:
    return give(asdict(grant))
