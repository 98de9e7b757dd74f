"""The shadow catalog: what tools ask at their start is answered, and nothing but schemas is there to be told."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

from querygate.wire.catalog import catalog_engine
from querygate.wire.catalog.rows import oid_of
from tests.each import each
from tests.wire.recorded import compare
from tests.wire.wire_site import WireSite

RECORDINGS = Path(__file__).parent / "recordings"
MOST_SHOWN = 3


@each("tool", ["dbeaver", "metabase", "superset", "others"])
def test_what_tools_ask_at_their_start_is_answered(site: WireSite, tool: str) -> None:
    """Each statement, how many rows it gives and the first of them, as they were recorded."""
    said = []
    with site.connect() as connection:
        for part in (RECORDINGS / f"{tool}.sql").read_text().split("\n;\n"):
            statement = re.sub("^--.*\n", "", part, flags=re.MULTILINE).replace("{survey}", str(oid_of("survey")))
            cursor = connection.execute(statement)
            rows = cursor.fetchall() if cursor.description else []
            said += [f"== {statement.strip()[:100]}", *map(str, rows[:MOST_SHOWN]), f"{len(rows)} rows"]
    compare(f"{tool}.txt", "\n".join(said) + "\n")


def test_columns_have_their_order_types_and_titles(site: WireSite) -> None:
    asked = "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = 'survey'"
    with site.connect() as connection:
        found = connection.execute(asked).fetchall()
        titles = connection.execute(
            "SELECT obj_description('survey'::regclass), col_description('survey'::regclass, 1)"
        )
        assert titles.fetchall() == [("Health survey", "Age in years")]
    assert found == [
        ("age", "bigint", "NO"), ("sex", "text", "YES"), ("seen", "date", "NO"), ("sbp", "bigint", "YES"),
        ("weight", "double precision", "NO"), ("smoker", "boolean", "NO"),
        ("taken", "timestamp without time zone", "NO"),
    ]  # fmt: skip


def test_tools_that_ask_for_columns_alone_get_no_row(site: WireSite) -> None:
    with site.connect() as connection:
        before = site.queries()
        for sql in ("SELECT * FROM survey WHERE 0 = 1", 'SELECT * FROM "public"."survey" LIMIT 0'):
            cursor = connection.execute(sql)
            assert [column.name for column in cursor.description or ()][:3] == ["age", "sex", "seen"]
            assert cursor.fetchall() == []
        assert site.queries() == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT getenv('HOME')",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM pg_authid",
        "SELECT repeat('x', 1000000000)",
        "SELECT lpad('x', 1000000000)",
        "WITH gone AS (DELETE FROM pg_class RETURNING *) SELECT * FROM gone",
        "SELECT * INTO pg_kept FROM pg_class",
        "ATTACH '/tmp/x.db' AS x",
        "SELECT COUNT(*) FROM generate_series(1, 1000000000000)",
        "SELECT generate_series(1, 1000000000)",
        "SELECT unnest(ARRAY(SELECT generate_series(1, 10000)))",
        "SELECT space(200000000)",
        f"SELECT {', '.join(['a'] * 190)} FROM (SELECT '{'y' * 3900}' a FROM pg_class) t, generate_series(1, 1000) g",
        f"SELECT {', '.join(['a'] * 300)} FROM (SELECT 'y' AS a FROM pg_class) t",
        f"SELECT * FROM {'(SELECT t.*, t.* FROM ' * 30} (SELECT 'x' AS a) t {') t' * 30}",
        "SELECT * FROM duckdb_tables WHERE EXISTS (WITH duckdb_tables AS (SELECT 1) SELECT * FROM duckdb_tables)",
        "SELECT replace(replace('aaaa', 'a', relname), 'a', relname) FROM pg_class",
        f"SELECT {'quote_literal(' * 40}''''{')' * 40}",
        f"SELECT length(a) FROM {'(SELECT a || a AS a FROM ' * 30} (SELECT 'x' AS a) t {') t' * 30}",
        f"SELECT a[1] IS NULL FROM {'(SELECT ARRAY[a, a] AS a FROM ' * 30} (SELECT 'x' AS a) t {') t' * 30}",
        f"SELECT t FROM {'(SELECT t AS a, t AS b FROM ' * 30} (SELECT 'x' AS a) t {') t' * 30}",
        "WITH RECURSIVE x AS (SELECT 'a' AS s UNION ALL SELECT s || s FROM x) SELECT COUNT(*) FROM x",
        "SELECT string_agg(a.typname, ',') FROM pg_type a, pg_type b, pg_type c, pg_type d",
        "SELECT array_agg(a.typname) OVER () FROM pg_type a, pg_type b, pg_type c",
        "SELECT a.*, b.*, c.* FROM pg_type a, pg_type b, pg_type c",
        "SELECT dblink('host=127.0.0.1', 'SELECT 1')",
        "SELECT query_to_xml('SELECT 1', true, true, '')",
    ],
)
def test_the_shadow_reaches_nothing_else(site: WireSite, sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_engine, "LONGEST_S", 0.5)
    with site.connect() as connection:
        with pytest.raises(psycopg.Error) as told:
            connection.execute(sql)
        assert "QG" in str(told.value)
        assert "QG900" not in str(told.value)
        assert connection.execute("SELECT COUNT(*) FROM pg_tables").fetchall() == [(1,)]
