"""What several folders of tests share."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings
from werkzeug.routing import Rule

from querygate.control.keys import keys as key_module
from querygate.core.limits.token_bucket import Throttle
from querygate.custody.publish import number_widths
from querygate.custody.publish_report import usable_figures
from querygate_adapters.store.duckdb_lockdown import CONFIG
from querygate_adapters.vault import store_strays
from tests import postgres as postgres_server
from tests import spark as spark_application
from tests.work import HANG_S

FOLDER = Path(__file__).parent

# Noisy answers leave at ticks of a clock; tests that are not about that do not wait for it.
os.environ["QUERYGATE_NOISE_TICK_MS"] = "0"

# A busy machine is no fault of the code: whoever waits for a statement, or for an answer to be read, waits long. Tests
# that are about these limits set their own.
os.environ["QUERYGATE_QUERY_TIMEOUT_S"] = os.environ["QUERYGATE_REQUEST_READ_S"] = str(HANG_S)
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# Hundreds of keys are made, none of which anybody would want to guess.
key_module._HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


# Publications and reports tell of themselves alone, not of what others would have been, and reports ask few questions;
# modules that are about that ask for it with the fixture `alternatives`.
BRIEF, THOROUGH = (0, 0, 4), (number_widths.AFFORDABLE, usable_figures.MOST_TRIED, usable_figures.QUESTIONS)
number_widths.AFFORDABLE, usable_figures.MOST_TRIED, usable_figures.QUESTIONS = BRIEF


@pytest.fixture(scope="module")
def alternatives() -> Iterator[None]:
    number_widths.AFFORDABLE, usable_figures.MOST_TRIED, usable_figures.QUESTIONS = THOROUGH
    yield
    number_widths.AFFORDABLE, usable_figures.MOST_TRIED, usable_figures.QUESTIONS = BRIEF


# To list the engine's own functions, so as to find those that a file brings, takes longer than to read a small file;
# the module that is about what a file must not hold asks for it.
ALL_STRAYS = store_strays.OTHERS
store_strays.OTHERS = tuple(listed for listed in ALL_STRAYS if "functions" not in listed)


@pytest.fixture(scope="module")
def all_strays() -> Iterator[None]:
    some, store_strays.OTHERS = store_strays.OTHERS, ALL_STRAYS
    yield
    store_strays.OTHERS = some


# There are as many processes as processors, so an engine has no use for threads beside its own.
CONFIG["threads"] = "1"

# Every application has the same routes, and to compile how their addresses are written takes most of making one.
_compile = Rule._compile_builder
_COMPILED: dict[tuple[object, ...], Callable[..., tuple[str, str]]] = {}


def _compile_once(rule: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
    key = (rule.rule, tuple(rule._trace), repr(rule.defaults), append_unknown)
    return _COMPILED.get(key) or _COMPILED.setdefault(key, _compile(rule, append_unknown))


Rule._compile_builder = _compile_once  # type: ignore[method-assign]

# What is imported and collected stays until the end, so nothing of it is looked through for garbage.
gc.disable()


def pytest_collection(session: pytest.Session) -> None:
    """Workers begin with different files, so that each file is compiled by one of them and read by the others."""
    number, workers = (os.environ.get(f"PYTEST_XDIST_WORKER{what}", "") for what in ("", "_COUNT"))
    if not number or session.config.args != ["tests"]:
        return
    files = sorted(FOLDER.rglob("test_*.py"))
    for file in files[int(number.removeprefix("gw")) :: int(workers)]:
        with suppress(Exception):  # what cannot be imported is told when it is collected
            importlib.import_module(".".join(file.relative_to(FOLDER.parent).with_suffix("").parts))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
    atexit.register(gc.unfreeze)  # only then: pytest itself collects garbage more than once at the end


@pytest.fixture
def still_throttles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is let in again because a test took long: buckets do not fill."""
    monkeypatch.setattr(Throttle, "_level", lambda self, name, now_s: self._levels.get(name, (self._most, now_s))[0])


@pytest.fixture(scope="session")
def postgres() -> postgres_server.Server:
    """A PostgreSQL server. It is made when a test first asks for it."""
    return postgres_server.server()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    spark_application.run_first(items)


def pytest_sessionfinish() -> None:
    postgres_server.stop()
    spark_application.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What could not be run; and how much wider than the truth the ranges are that are not called sharp, where tests
    have measured that.
    """
    skipped = [str(report.longrepr) for report in terminalreporter.getreports("skipped")]
    missing = sum(spark_application.MISSING in reason for reason in skipped)
    if missing:
        terminalreporter.section("not run")
        terminalreporter.write_line(f"{missing} tests on Spark. {spark_application.MISSING}")
    passed = terminalreporter.getreports("passed")
    gaps = sorted(str(value) for report in passed for key, value in report.user_properties if key == "gap")
    if gaps:
        terminalreporter.section("ranges not called sharp: median gap, as a part of the true width")
        terminalreporter.write_line("\n".join(gaps))
