"""A control database in a temporary folder, under a clock that the test winds."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from querygate.control import Accounts, Database, Log


class HandClock:
    """Stands still until it is moved on."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def pass_minutes(self, minutes: int) -> None:
        self.moment += timedelta(minutes=minutes)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "site" / "control.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database(path)
    yield opened
    opened.close()


@pytest.fixture
def log(database: Database, clock: HandClock) -> Log:
    return Log(database, clock)


@pytest.fixture
def accounts(database: Database, clock: HandClock) -> Accounts:
    return Accounts(database, clock, secrets.token_bytes)
