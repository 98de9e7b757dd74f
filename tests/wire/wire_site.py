"""A site with hostile data that is really served to PostgreSQL clients, in this process."""

from __future__ import annotations

import datetime as dt
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import Site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.site.process_limits import DoorLimits
from querygate.web import listen
from querygate.wire import open_wire
from tests.empty_site import empty_site
from tests.policies import AGE, SBP, SEX, make_policy, quasi, sensitive

POLICY = make_policy(
    "survey",
    {
        "age": AGE | {"title": "Age in years"},
        "sex": SEX | {"values": ["female", "männlich", "it's; --"]},
        "seen": quasi("date", ("2019-01-01", "2021-12-31")),
        "sbp": SBP,
        "weight": sensitive("number", (0, 1e6), guard=0),
        "smoker": sensitive("boolean"),
        "taken": sensitive("timestamp", ("2020-01-01 00:00:00", "2020-12-31 23:59:59")),
    },
    title="Health survey",
)
ROWS = 120
PEOPLE = {"ann": "researcher", "bob": "researcher", "rita": "reviewer", "adam": "admin", "carl": "custodian"}


def hostile_rows() -> pa.Table:
    """NULLs, ties, a constant-like column, unicode and quotes, huge and tiny numbers, dates at the ends."""
    rng = random.Random(7)
    first, moment = dt.date(2019, 1, 1), dt.datetime(2020, 1, 1)
    return pa.table(
        {
            "age": [30 + i % 40 for i in range(ROWS)],
            "sex": [("female", "männlich", "it's; --", None)[i % 4] for i in range(ROWS)],
            "seen": [first + dt.timedelta(days=9 * i) for i in range(ROWS)],
            "sbp": [None if i % 11 == 0 else 110 + i % 60 for i in range(ROWS)],
            "weight": [
                1e-7 if i == 5 else 999_999.5 if i == 6 else round(rng.uniform(40, 120), 1) for i in range(ROWS)
            ],
            "smoker": [rng.random() < 0.3 for _ in range(ROWS)],
            "taken": [moment + dt.timedelta(hours=71 * i) for i in range(ROWS)],
        }
    )


@dataclass(frozen=True)
class WireSite:
    """Where it listens, and the keys of its people."""

    opened: OpenSite
    port: int
    keys: dict[str, str]

    def dsn(self, name: str = "ann", **more: object) -> str:
        parts = {"host": "127.0.0.1", "port": self.port, "user": name, "password": self.keys[name], **more}
        return " ".join(f"{key}='{value}'" for key, value in {"dbname": "querygate", **parts}.items())

    def url(self, name: str = "ann", driver: str = "postgresql") -> str:
        return f"{driver}://{name}:{self.keys[name]}@127.0.0.1:{self.port}/querygate"

    def connect(self, name: str = "ann", **more: object) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.dsn(name, **more), autocommit=True)

    def queries(self, user: str = "ann") -> int:
        """How many questions of theirs are on record."""
        return len(list(self.opened.log.queries(user=user, limit=10_000)))


def make_site(folder: Path, settings: str = "") -> Site:
    site = empty_site(folder / "site")
    with (site.folder / "querygate.toml").open("a") as stream:
        stream.write(f"\n{settings}\n")
    return open_site(site.folder)


def publish_survey(opened: OpenSite, folder: Path) -> dict[str, str]:
    """Publish the rows, for everyone to ask; the keys of the people."""
    source = folder / "survey.parquet"
    pq.write_table(hostile_rows(), source)
    publish_to(opened, POLICY.parsed(), str(source), user="local")
    for name, role in PEOPLE.items():
        opened.accounts.add_user(name, role)
    return {name: opened.accounts.keys.new(name).secret for name in PEOPLE}


@contextmanager
def wire_site(folder: Path, settings: str = "") -> Iterator[WireSite]:
    """Served until the block ends."""
    opened = open_gate(make_site(folder, settings))
    keys = publish_survey(opened, folder)
    with served(opened) as port:
        yield WireSite(opened, port, keys)


@contextmanager
def served(opened: OpenSite, host: str = "127.0.0.1", counted: DoorLimits | None = None) -> Iterator[int]:
    listening: list[socket.socket] = listen(host, 0)
    with open_wire(opened, listening, counted=counted):
        yield listening[0].getsockname()[1]
    for one in listening:
        one.close()
