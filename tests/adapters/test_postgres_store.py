"""A store on PostgreSQL: who may do what, that a copy is whole or not there at all, and a server that goes away."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest

from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.ports import Limits
from querygate.custody.publish.republication_guard import VersionHandling
from querygate.custody.use_cases.copy_store import StoreCopy, copy_store
from querygate.custody.use_cases.publish_version import serve_version
from querygate.custody.use_cases.withdraw_dataset import withdraw_dataset
from querygate.site.health import store_health
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.web import create_app
from querygate_adapters.store.postgres_store import PostgresStore
from querygate_adapters.vault import postgres_writer
from tests.policies import AGE, ILLNESS, make_policy
from tests.postgres import Server
from tests.unit.custody.publish.publications import ask, copy_site, new_site, put, shelf_of
from tests.work import HANG_S, wait_until

WARDS = ["a", "b", "c", "d", 'it\'s "odd"', "é\n,;", ""]
POLICY = make_policy("t", {"age": AGE, "ward": ILLNESS | {"values": WARDS}}, k=2)
OLD = {"age": [20, 21, 22, 40, 41, 42], "ward": ["a", "b", None, 'it\'s "odd"', "é\n,;", ""]}
NEW = {"age": list(range(20, 60)), "ward": list("abcd") * 10}
SQL = "SELECT ward, COUNT(*), AVG(age) FROM t GROUP BY ward"


@dataclass(frozen=True)
class Place:
    """A database with a role that copies and a role that reads, as the guide has them, and a published site."""

    server: Server
    database: str
    publisher: str
    reader: str
    opened: OpenSite

    @property
    def to(self) -> str:
        return self.server.url(self.publisher, database=self.database)

    @property
    def store(self) -> PostgresStore:
        return PostgresStore(self.server.url(self.reader, database=self.database))

    def copy(self, *datasets: str) -> tuple[StoreCopy, ...]:
        return copy_store(self.opened, self.to, datasets, user="tester")

    def run(self, *statements: str) -> None:
        self.server.run(*statements, database=self.database)

    def tables(self) -> set[str]:
        with self.server.connect(self.database) as connection:
            found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'querygate'")
            return {name for (name,) in found}

    def cut(self) -> None:
        """End every connection of the product to this database."""
        self.run(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{self.database}' "
            "AND application_name = 'querygate'"
        )


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    opened = new_site(tmp_path_factory.mktemp("published"))
    put(opened, POLICY, OLD)
    return opened


@pytest.fixture
def place(postgres: Server, published: OpenSite, tmp_path: Path) -> Place:
    opened = copy_site(published, tmp_path)
    publisher, reader = postgres.new_role(), postgres.new_role()
    made = Place(postgres, postgres.new_database(), publisher, reader, opened)
    made.run(
        f"CREATE SCHEMA querygate AUTHORIZATION {publisher}",
        f"GRANT USAGE ON SCHEMA querygate TO {reader}",
        f"ALTER DEFAULT PRIVILEGES FOR ROLE {publisher} IN SCHEMA querygate GRANT SELECT ON TABLES TO {reader}",
    )
    return made


# -- copying -----------------------------------------------------------------------------------------------------------


def test_a_retired_version_is_removed_there_too(place: Place) -> None:
    place.copy()
    put(place.opened, POLICY, NEW, handling=VersionHandling("retire"))
    before = place.tables()
    (copied,) = place.copy()

    assert (copied.copied, copied.served) == ((2,), 2)
    assert place.store.versions("t") == (2,)
    assert place.store.current("t").catalog.rows == len(NEW["age"])
    assert len(place.tables()) == len(before)  # the cells of one version came, those of another went


def test_a_withdrawn_dataset_is_withdrawn_there_too_until_it_is_reinstated(place: Place) -> None:
    place.copy()
    store = place.store
    assert store.current("t").catalog.version == 1
    withdraw_dataset(place.opened, "t", user="carl")
    assert place.copy() == (StoreCopy("t", (), None),)
    with pytest.raises(NotPermitted) as refused:
        store.current("t")
    assert refused.value.code == "QG312"
    assert store.datasets() == ()
    serve_version(place.opened, "t", 1, user="carl", reinstate=True)
    assert place.copy() == (StoreCopy("t", (), 1),)
    assert store.current("t").catalog.version == 1


def test_versions_come_over_and_the_pointer_follows(place: Place) -> None:
    assert place.store.datasets() == ()
    assert place.copy() == (StoreCopy("t", (1,), 1),)
    store = place.store
    served = replace(place.opened, gate=replace(place.opened.gate, store=store))
    first = ask(served, SQL)
    assert first == ask(place.opened, SQL)
    put(place.opened, POLICY, NEW)
    assert ask(served, SQL) == first
    assert place.copy("t") == (StoreCopy("t", (2,), 2),)

    assert (store.datasets(), store.versions("t"), store.current("t").catalog.version) == (("t",), (1, 2), 2)
    assert ask(served, SQL) == ask(place.opened, SQL) != first
    shelf_of(place.opened).serve_version("t", 1)
    assert place.copy() == (StoreCopy("t", (), 1),)
    assert ask(served, SQL) == first
    noted = [(event["dataset"], event["body"]) for event in place.opened.log.events() if event["kind"] == "store.copy"]
    assert noted == [("t", {"copied": done, "served": version}) for done, version in (([1], 1), ([2], 2), ([], 1))]


def test_a_dataset_that_is_not_there(place: Place) -> None:
    place.copy()
    store = place.store
    for attempt in (lambda: store.current("none"), lambda: store.current("x'; --"), lambda: store.versions("../t")):
        with pytest.raises(NotPermitted) as refused:
            attempt()
        assert refused.value.code == "QG303"
    with pytest.raises(ConfigError) as unknown:
        place.copy("none")
    assert unknown.value.code == "QG804"
    assert place.store.versions("none") == ()


def test_the_same_version_from_another_site_is_not_overwritten(place: Place, tmp_path: Path) -> None:
    place.copy()
    other = new_site(tmp_path / "other")
    put(other, POLICY, NEW)
    with pytest.raises(ConfigError) as refused:
        copy_store(other, place.to, user="tester")

    assert refused.value.code == "QG804"
    assert place.store.current("t").catalog.rows == len(OLD["age"])
    assert copy_store(other, f"{place.server.url(database=place.database)}#second", user="tester")[0].served == 1
    second = PostgresStore(f"{place.server.url(database=place.database)}#second")
    assert second.current("t").catalog.rows == len(NEW["age"])


def test_a_copy_that_fails_leaves_nothing(place: Place) -> None:
    place.copy()
    before = place.tables()
    put(place.opened, POLICY, NEW)
    place.run(
        "CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'SECRET-4711'; END $$",
        "CREATE TRIGGER stop BEFORE INSERT ON querygate.set_value EXECUTE FUNCTION stop()",  # the last of the tables
    )
    with pytest.raises(ConfigError) as refused:
        place.copy()
    assert "4711" not in str(refused.value.to_dict())
    assert (place.tables(), place.store.versions("t"), place.store.current("t").catalog.version) == (before, (1,), 1)
    place.run("DROP TRIGGER stop ON querygate.set_value")

    assert place.copy() == (StoreCopy("t", (2,), 2),)


def test_a_copy_that_is_cut_off_leaves_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = postgres_writer._csv

    def cut(batch: object) -> object:
        place.cut()
        return whole(batch)

    monkeypatch.setattr(postgres_writer, "_csv", cut)
    with pytest.raises(ConfigError) as refused:
        place.copy()

    assert refused.value.detail == "PostgreSQL: the connection was lost."
    assert [name for name in place.tables() if name.startswith("cells_")] == []
    assert (place.store.datasets(), place.store.versions("t")) == ((), ())


@pytest.mark.parametrize(
    "change",
    [
        ("value_text", "NEW.text := NEW.text || ' '; RETURN NEW;"),
        ("set_value", "IF NEW.value_id = 0 THEN RETURN NULL; END IF; RETURN NEW;"),
        ("release", "NEW.catalog := replace(NEW.catalog, '\"k\": 2', '\"k\": 1'); RETURN NEW;"),
    ],
    ids=["a text", "a row", "the catalog"],
)
def test_what_arrives_changed_is_not_kept(place: Place, change: tuple[str, str]) -> None:
    place.copy()
    put(place.opened, POLICY, NEW)
    table, body = change
    place.run(
        f"CREATE FUNCTION alter_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$",
        f"CREATE TRIGGER alter_it BEFORE INSERT ON querygate.{table} FOR EACH ROW EXECUTE FUNCTION alter_it()",
    )
    with pytest.raises(ConfigError) as refused:
        place.copy()

    assert "differ from what was sent" in refused.value.detail
    assert place.store.versions("t") == (1,)


def test_two_copies_at_once(place: Place) -> None:
    with place.server.connect(place.database) as connection, connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [postgres_writer.LOCK])
        with pytest.raises(ConfigError) as refused:
            place.copy()

    assert "Another process" in refused.value.detail
    assert place.copy()[0].served == 1


def test_a_user_who_may_not_copy(place: Place) -> None:
    with pytest.raises(ConfigError) as refused:
        copy_store(place.opened, place.server.url(place.reader, database=place.database), user="tester")

    assert (refused.value.code, refused.value.detail) == ("QG804", "PostgreSQL: this user may not do that.")


# -- reading -----------------------------------------------------------------------------------------------------------

FORBIDDEN = [
    "INSERT INTO querygate.served VALUES ('x', 1)",
    "UPDATE querygate.cells_1 SET n = 1",
    "DELETE FROM querygate.release",
    "TRUNCATE querygate.value_text",
    "DROP TABLE querygate.cells_1",
    "CREATE TABLE querygate.mine (x int)",
    "CREATE TEMPORARY TABLE mine (x int); INSERT INTO mine VALUES (1); COPY mine TO PROGRAM 'cat'",
    "COPY querygate.cells_1 TO '/tmp/querygate-cells'",
    "COPY querygate.cells_1 FROM '/etc/passwd'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT lo_import('/etc/passwd')",
    "CREATE EXTENSION dblink",
    "SET ROLE owner",
    "SET SESSION AUTHORIZATION owner",
    "ALTER SYSTEM SET log_statement = 'all'",
    "SELECT * FROM pg_authid",
    "SELECT * FROM secret.patients",
]


@pytest.mark.parametrize("given", ["as it is", "after SET TRANSACTION READ WRITE"])
def test_the_gate_s_role_reads_cells_and_nothing_else(place: Place, given: str) -> None:
    place.copy()
    place.run("CREATE SCHEMA secret", "CREATE TABLE secret.patients AS SELECT 1 AS id")
    links = place.store._links
    for statement in FORBIDDEN:
        with pytest.raises(psycopg.Error) as refused, links.reading() as connection:  # noqa: PT012
            if given != "as it is":
                connection.execute("SET TRANSACTION READ WRITE")
            connection.execute(statement.encode())
        assert refused.value.sqlstate in ("25006", "42501", "25001", "55000"), statement
    assert place.store.current("t").project(["age"], Limits()).n.sum() == len(OLD["age"])


def test_a_role_without_permission_is_not_well(place: Place) -> None:
    place.copy()
    [health] = store_health(configured(place, place.server.url(place.server.new_role(), database=place.database)))

    assert (health.ok, health.name) == (False, "store")


def test_threads_have_connections_of_their_own(place: Place) -> None:
    place.copy()
    links = place.store._links
    together = threading.Barrier(3)
    pids = []

    def read() -> None:
        with links.reading() as connection:
            together.wait(HANG_S)
            pids.append(connection.info.backend_pid)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(pids)) == 3
    assert len(links._idle) == 3


def test_a_connection_that_was_cut_is_made_anew(place: Place) -> None:
    place.copy()
    store = place.store
    release = store.current("t")
    assert release.project(["age"], Limits()).n.sum() == len(OLD["age"])
    place.cut()

    assert store.datasets() == ("t",)
    assert release.project(["ward"], Limits()).n.sum() == len(OLD["age"])


# -- a site that is served from there ----------------------------------------------------------------------------------


def configured(place: Place, location: str) -> OpenSite:
    (place.opened.site.folder / "querygate.toml").write_text(f'store = "{location}"\n')
    return open_gate(open_site(place.opened.site.folder))


@pytest.fixture
def served(place: Place) -> OpenSite:
    place.copy()
    return configured(place, place.server.url(place.reader, database=place.database))


def test_the_setting_decides_where_answers_come_from(place: Place, served: OpenSite) -> None:
    assert isinstance(served.store, PostgresStore)
    assert ask(served, SQL) == ask(place.opened, SQL)
    assert [health.detail for health in store_health(served)] == ["version 1, 6 rows, k = 2"]


def test_a_server_that_is_not_there_is_told_and_nothing_more(place: Place) -> None:
    gone = configured(place, "postgresql://gate:SECRET@127.0.0.1:1/study")
    [health] = store_health(gone)

    assert (health.ok, health.name) == (False, "store")
    assert "SECRET" not in str(health)


def test_a_setting_that_is_no_location(place: Place) -> None:
    for text in ("SECRET", "host=x password=SECRET", "mysql://SECRET@h/d", "postgresql://h/d?SECRET=1"):
        with pytest.raises(ConfigError) as refused:
            configured(place, text)
        assert refused.value.code == "QG805"
        assert "SECRET" not in str(refused.value.to_dict())


def test_a_restart_in_the_middle_of_load_is_told_and_then_forgotten(place: Place) -> None:
    """Whoever asks meanwhile is told what is the matter; afterwards the same gate answers again."""
    place.copy()
    store = place.server.url(place.reader, database=place.database)
    with (place.opened.site.folder / "querygate.toml").open("a") as stream:
        stream.write(f'\nstore = "{store}"\nanswer_cache_mb = 0\n')
    opened = open_gate(open_site(place.opened.site.folder))
    opened.accounts.add_user("ann", "researcher")
    headers = {"Authorization": f"Bearer {opened.accounts.keys.new('ann').secret}"}
    client, told, over = create_app(opened).test_client(), list[tuple[int, str]](), threading.Event()

    def load() -> None:
        for age in range(10_000):
            if over.is_set():
                return
            body = {"dataset": "t", "sql": f"SELECT COUNT(*), AVG(age) FROM t WHERE age > {age % 70}"}
            answer = client.post("/api/v1/query", headers=headers, json=body)
            told.append((answer.status_code, (answer.json or {}).get("code", "")))

    def wait_for(wanted: tuple[int, str]) -> None:
        """Something like it came after this moment."""
        since = len(told)
        wait_until(lambda: wanted in told[since:])

    clients = [threading.Thread(target=load) for _ in range(3)]
    for thread in clients:
        thread.start()
    try:
        wait_for((200, ""))
        place.server.halt()
        try:
            wait_for((503, "QG804"))
        finally:
            place.server.resume()
        wait_for((200, ""))
    finally:
        over.set()
        for thread in clients:
            thread.join()
    assert {*told} == {(200, ""), (503, "QG804")}
    opened.log.verify()
    lines = list(opened.log.queries(user="ann"))
    assert len(lines) == len(told)
    assert {(line["outcome"], line["code"]) for line in lines} == {("answered", None), ("failed", "QG804")}
    opened.log.database.close()
