"""Saved queries over HTTP: decode, call, render."""

from __future__ import annotations

from dataclasses import asdict, replace

from flask import Response, request

from querygate.control.saved.saved_queries import QueryText, SavedQuery
from querygate.core.json_body import JsonValue
from querygate.core.types import Principal
from querygate.site.open_gate import OpenSite
from querygate.site.saved_work import SavedWork
from querygate.web.problems import malformed
from querygate.web.query_routes import give
from querygate.web.request_body import check_fields, read_object, read_text

_TO_SAVE = 'Send {"name": "...", "dataset": "...", "sql": "SELECT ..."}.'
_TO_CHANGE = 'Send what is to be changed, such as {"shared": true}.'


class SavedViews:
    """One method per route about saved queries, called as the route's name."""

    def __init__(self, opened: OpenSite) -> None:
        self._saved = SavedWork(opened)

    def list_saved(self, principal: Principal) -> Response:
        whose = request.args.get("whose", "own")
        if whose not in ("own", "shared"):
            raise malformed("whose: must be own or shared.")
        found = self._saved.own(principal) if whose == "own" else self._saved.shared(principal)
        return give({"queries": [asdict(one) for one in found]})

    def save_query(self, principal: Principal) -> Response:
        body = read_object(_TO_SAVE)
        check_fields(body, "", ("name", "description", "dataset", "sql", "shared"))
        description = read_text(body, "description") if "description" in body else ""
        text = QueryText(read_text(body, "name"), description, read_text(body, "dataset"), read_text(body, "sql"))
        return give_saved(self._saved.save(principal, text, is_shared=_read_shared(body, default=False)))

    def show_saved(self, principal: Principal, saved_id: str) -> Response:
        return give_saved(self._saved.read(principal, saved_id))

    def change_saved(self, principal: Principal, saved_id: str) -> Response:
        body = read_object(_TO_CHANGE, optional=True)
        check_fields(body, "", ("name", "description", "sql", "shared"))
        before = self._saved.read(principal, saved_id)
        had = QueryText(before.name, before.description, before.dataset, before.sql)
        told = {name: read_text(body, name) for name in ("name", "description", "sql") if name in body}
        text = replace(had, **told)
        is_shared = _read_shared(body, default=before.shared is not None)
        return give_saved(self._saved.change(principal, saved_id, text, is_shared=is_shared))

    def delete_saved(self, principal: Principal, saved_id: str) -> Response:
        return give_saved(self._saved.delete(principal, saved_id))


def give_saved(found: SavedQuery) -> Response:
    return give(asdict(found))


def _read_shared(body: dict[str, JsonValue], *, default: bool) -> bool:
    shared = body.get("shared", default)
    if not isinstance(shared, bool):
        raise malformed("shared: must be true or false.")
    return shared
