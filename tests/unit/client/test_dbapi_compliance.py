"""Stuart Bishop's suite for drivers of the DB-API (`dbapi-compliance`), as far as it can be asked of a gate.

Most of what it says about fetching begins with CREATE TABLE and INSERT, which no gate takes: `test_dbapi.py` has the
same of answers.
"""

from __future__ import annotations

import dbapi20
import httpx
import pytest

from querygate.client import dbapi
from tests.api.small_site import SmallSite

_WRITES = (
    "test_None", "test_cursor_isolation", "test_description", "test_execute", "test_executemany", "test_fetchall",
    "test_fetchmany", "test_fetchone", "test_mixedfetch", "test_rowcount",
    "test_setinputsizes", "test_setoutputsize", "test_setoutputsize_basic",
)  # fmt: skip
_OPTIONAL = ("test_callproc", "test_nextset")
"""Stored procedures and several results of one statement are left to drivers, and a gate has neither."""


class TestCompliance(dbapi20.DatabaseAPI20Test):  # type: ignore[misc]
    driver = dbapi

    @pytest.fixture(autouse=True)
    def _gate(self, small: SmallSite, inside: httpx.WSGITransport) -> None:
        self.connect_args = ("http://localhost", small.keys["ann"], "clinic")
        self.connect_kw_args = {"transport": inside}

    for _name in (*_WRITES, *_OPTIONAL):
        locals()[_name] = None  # unittest takes nothing for a test that cannot be called


def test_the_rest_of_the_suite_is_tried() -> None:
    tried = {name for name in dir(TestCompliance) if name.startswith("test_") and getattr(TestCompliance, name)}
    assert {"test_close", "test_non_idempotent_close", "test_Exceptions", "test_Timestamp", "test_paramstyle"} <= tried
    assert len(tried) == 21
