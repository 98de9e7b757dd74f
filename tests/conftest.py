"""What several folders of tests share."""

from __future__ import annotations

import pytest
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings

from querygate.control import accounts
from tests import postgres as postgres_server

# A busy machine is no fault of the code.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# Hundreds of keys are made, none of which anybody would want to guess.
accounts._HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture(scope="session")
def postgres() -> postgres_server.Server:
    """A PostgreSQL server. It is made when a test first asks for it."""
    return postgres_server.server()


def pytest_sessionfinish() -> None:
    postgres_server.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How much wider than the truth the ranges are that are not called sharp, where tests have measured that."""
    passed = terminalreporter.getreports("passed")
    gaps = sorted(str(value) for report in passed for key, value in report.user_properties if key == "gap")
    if gaps:
        terminalreporter.section("ranges not called sharp: median gap, as a part of the true width")
        terminalreporter.write_line("\n".join(gaps))
