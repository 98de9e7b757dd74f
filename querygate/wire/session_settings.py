"""Settings of one session: SET, SHOW, RESET. Those of QueryGate are checked; PostgreSQL's are kept and change nothing.

>>> settings = SessionSettings("ann", {"application_name": "psql"})
>>> settings.set("querygate.interval", "columns")
>>> settings.layout, settings.show("application_name"), settings.show("server_encoding")
('columns', 'psql', 'UTF8')
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from querygate.core.errors import NotPermitted
from querygate.core.types import QueryOptions
from querygate.wire.answer_table import LAYOUTS, Layout

DATABASE = "querygate"
"""The one database that there is."""

VERSION = "15.0"
"""The version of PostgreSQL whose catalog clients find."""

REPORTED = (
    "server_version", "server_encoding", "client_encoding", "DateStyle", "IntervalStyle", "TimeZone",
    "integer_datetimes", "standard_conforming_strings", "is_superuser", "session_authorization", "application_name",
    "default_transaction_read_only", "in_hot_standby",
)  # fmt: skip
"""What a client is told at the beginning, and whenever it changes."""

DEFAULTS = {
    "server_version": VERSION,
    "server_version_num": "150000",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "is_superuser": "off",
    "application_name": "",
    "default_transaction_read_only": "on",
    "transaction_read_only": "on",
    "in_hot_standby": "off",
    "search_path": "public",
    "transaction_isolation": "read committed",
    "default_transaction_isolation": "read committed",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "block_size": "8192",
    "extra_float_digits": "1",
    "lc_collate": "C",
    "default_table_access_method": "heap",
    "lc_ctype": "C",
    "querygate.interval": "range",
    "querygate.mode": "",
    "querygate.epsilon": "",
}
_FIXED = ("server_version", "server_version_num", "server_encoding", "integer_datetimes", "is_superuser")
_UTF8 = ("utf8", "utf-8", "unicode")
MOST_SETTINGS = 200
LONGEST_VALUE = 1000

_OPTION = re.compile(r"(?:-c\s*|--)([\w.-]+)=((?:\\.|\S)*)")


class SessionSettings:
    """The settings of a session. `started` are those that came with its first packet."""

    def __init__(self, user: str, started: Mapping[str, str]) -> None:
        self._first = {**DEFAULTS, "session_authorization": user}
        self._values = dict(self._first)
        told = {name: value for name, value in started.items() if name not in ("user", "database", "options")}
        options = {name.replace("-", "_"): value for name, value in _OPTION.findall(started.get("options", ""))}
        for name, value in (told | options).items():
            if not name.startswith(("_pq_", "replication")):
                self.set(name, value.replace("\\", ""))
        self._first = dict(self._values)

    @property
    def layout(self) -> Layout:
        return cast(Layout, self._values["querygate.interval"])

    @property
    def options(self) -> QueryOptions:
        epsilon = self._values["querygate.epsilon"]
        return QueryOptions(mode=self._values["querygate.mode"] or None, epsilon=float(epsilon) if epsilon else None)

    def show(self, name: str) -> str:
        found = self._values.get(self._known(name))
        if found is None:
            raise _unaccepted("There is no setting with this name.", "SHOW ALL lists them.")
        return found

    def all(self) -> dict[str, str]:
        return dict(self._values)

    def set(self, name: str, value: str) -> None:
        """Raises QG306 for what cannot be."""
        name = self._known(name)
        _check(name, value)
        if (name not in self._values and len(self._values) >= MOST_SETTINGS) or len(value) > LONGEST_VALUE:
            raise _unaccepted("These are more settings than a session keeps.", "Set fewer.")
        if name not in _FIXED and name != "session_authorization":
            self._values[name] = "UTF8" if name == "client_encoding" else value

    def reset(self, name: str) -> None:
        name = self._known(name)
        if name in self._first:
            self._values[name] = self._first[name]
        else:
            self._values.pop(name, None)

    def reset_all(self) -> None:
        self._values = dict(self._first)

    def reported(self) -> dict[str, str]:
        return {name: self._values[name] for name in REPORTED}

    def _known(self, name: str) -> str:
        """The name as it is kept: upper and lower case count as the same."""
        return next((known for known in self._values if known.lower() == name.lower()), name.lower())


def _check(name: str, value: str) -> None:
    if name == "querygate.interval":
        if value not in LAYOUTS:
            raise _unaccepted("querygate.interval is not accepted.", f"Accepted: {', '.join(LAYOUTS)}.")
    elif name == "querygate.mode":
        if value not in ("", "interval", "laplace"):
            raise _unaccepted("querygate.mode is not accepted.", "Accepted: interval, laplace.")
    elif name == "querygate.epsilon":
        if value and not re.fullmatch(r"\d{0,9}\.?\d{1,9}", value):
            raise _unaccepted("querygate.epsilon is not accepted.", "Accepted: a number above 0, such as 0.1.")
    elif name.startswith("querygate."):
        listed = ", ".join(known for known in DEFAULTS if known.startswith("querygate."))
        raise _unaccepted("There is no setting with this name.", f"There are: {listed}.")
    elif name == "client_encoding" and value.strip("'").lower() not in _UTF8:
        raise _unaccepted("Only UTF8 is spoken here.", "SET client_encoding = 'UTF8'.")
    elif name == "standard_conforming_strings" and value.lower() not in ("on", "true", "1"):
        raise _unaccepted("A backslash is an ordinary character here.", "SET standard_conforming_strings = on.")
    elif name == "DateStyle" and "iso" not in value.lower():
        raise _unaccepted("Dates are written as ISO 8601 here.", "SET datestyle = 'ISO'.")


def _unaccepted(detail: str, remedy: str) -> NotPermitted:
    return NotPermitted("QG306", detail, remedy)
