"""Limits of time and memory are refusals with a code, come quickly, and say nothing in the engine's words."""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from querygate.core.errors import Fault, NotPermitted, QueryGateError
from querygate.core.ports import Limits, PublishedVersion
from querygate.core.types import Request
from querygate.gate.answer import answer
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from tests.adapters.published import NAMES, Published
from tests.unit.custody.publish.publications import RESEARCHER

SQL = "SELECT ward, AVG(dose), MAX(record) FROM t WHERE disease = 'flu' AND age < 50 GROUP BY ward"
ENGINE_WORDS = (
    "duckdb",
    "postgres",
    "canceling",
    "interrupt",
    "memory_limit",
    "pragma",
    "binder",
    "exception",
    "error:",
    "cells",
    "/",
)


def refused(attempt: Callable[[], object]) -> QueryGateError:
    with pytest.raises(QueryGateError) as caught:
        attempt()
    said = str(caught.value.to_dict() | {"type": ""}).lower()
    assert [word for word in ENGINE_WORDS if word in said] == []
    return caught.value


def test_a_statement_over_its_time_is_stopped(heavy: Published, release: PublishedVersion) -> None:
    """Even where the limit passes before the engine has begun."""
    heavy.engine.needs("time limit")
    error = refused(lambda: release.project(NAMES, Limits(timeout_s=0.0)))

    assert error.code == "QG305"
    assert release.project(NAMES, Limits()).n.sum() == release.catalog.rows  # the next one is not affected


@pytest.mark.parametrize("timeout_s", [0.0001, 0.001])
def test_a_statement_near_its_time_is_stopped_or_complete(
    heavy: Published, release: PublishedVersion, timeout_s: float
) -> None:
    """Which of both depends on who is faster: the engine, or whoever is to stop it."""
    heavy.engine.needs("time limit")
    try:
        came = release.project(NAMES, Limits(timeout_s=timeout_s)).n.sum()
    except QueryGateError as error:
        came = error.code
    assert came in ("QG305", release.catalog.rows)
    assert release.project(NAMES, Limits()).n.sum() == release.catalog.rows  # the next one is not affected


def test_a_statement_with_too_little_memory_is_stopped(heavy: Published, tmp_path: Path) -> None:
    heavy.engine.needs("memory limit")
    folder = shutil.copytree(heavy.opened.site.folder, tmp_path / "site")  # a process opens a file with one limit
    copied = Published(heavy.engine, open_gate(open_site(Path(folder))))
    error = refused(lambda: copied.open(memory_mb=2).project(NAMES, Limits()))

    assert error.code == "QG305"


def test_the_gate_passes_the_limit_on_and_logs_it(heavy: Published) -> None:
    heavy.engine.needs("time limit")
    opened = open_gate(heavy.opened.site)
    gate = replace(heavy.engine.gate(opened), limits=Limits(timeout_s=0.0))
    error = refused(lambda: answer(Request(RESEARCHER, "t", SQL), gate))

    assert isinstance(error, NotPermitted)
    assert error.code == "QG305"
    last = list(opened.log.queries())[-1]
    assert (last["id"], last["outcome"], last["code"], last["answer"]) == (error.query_id, "refused", "QG305", None)


@pytest.mark.parametrize("damage", ["truncated", "garbled", "not a database"])
def test_what_an_engine_says_reaches_nobody(
    heavy: Published, tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    heavy.engine.needs("file")
    folder = Path(shutil.copytree(heavy.opened.site.folder, tmp_path / "site"))
    file = folder / "store" / "t" / "v00001.duckdb"
    whole = file.read_bytes()
    third = len(whole) // 3
    file.write_bytes(
        {
            "truncated": whole[:third],
            "garbled": whole[:third] + b"SECRET-4711" * (third // 11) + whole[third + third // 11 * 11 :],
            "not a database": b"SECRET-4711\n" * 1000,
        }[damage]
    )
    opened = open_gate(open_site(folder))
    error = refused(lambda: answer(Request(RESEARCHER, "t", SQL), opened.gate))

    assert (error.__cause__, error.__suppress_context__) == (None, True)
    told = "".join(traceback.format_exception(error)) + "".join(map(str, opened.log.events()))
    assert [word for word in ("SECRET", "checksum", "v00001", "duckdb.duckdb") if word in told + caplog.text] == []
    if isinstance(error, Fault):
        assert error.incident in caplog.text  # the kind of error and its place are for the custodian
    else:
        assert error.code == "QG804"  # a file that cannot be opened is called that
