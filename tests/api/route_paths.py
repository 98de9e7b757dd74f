"""Addresses of routes, with something in place of each parameter; what it is does not matter."""

from __future__ import annotations

from querygate.web.route import Route

WORDS = {"dataset": "clinic", "query_id": "q_1", "form": "json", "request_id": "x_1", "grant_id": "g_1"}
WORDS |= {"job_id": "j_1", "user": "nobody", "key_id": "aaaaaaaa", "saved_id": "s_1"}


def path_of(route: Route) -> str:
    words = WORDS | ({"form": "csv"} if "/twin." in route.path else {})
    return route.path.format(**words, action="disable" if "/users/" in route.path else "submit")
