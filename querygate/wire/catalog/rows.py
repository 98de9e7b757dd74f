"""The rows of the shadow catalog: schemas of datasets as PostgreSQL would have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias
from zlib import crc32

from querygate.core.types import Catalog
from querygate.wire.session_settings import DEFAULTS
from querygate.wire.types import OF_COLUMN, TEXT, Value

CatalogRow: TypeAlias = dict[str, Value]
"""Columns by name; those that are left out have the default of their type."""

PG_CATALOG, PUBLIC, INFORMATION_SCHEMA = 11, 2200, 13_000
OWNER = 10
DATABASE_OID = 16_384
_KNOWN = {"pg_type": 1247, "pg_attribute": 1249, "pg_proc": 1255, "pg_class": 1259, "pg_database": 1262,
          "pg_constraint": 2606, "pg_index": 2610, "pg_namespace": 2615, "pg_description": 2609}  # fmt: skip
_FIRST_OWN = 12_000
_FIRST_USER = 20_000

TYPES: tuple[tuple[int, str, str, int, str, str, int, int], ...] = (
    (16, "bool", "boolean", 1, "b", "B", 0, 1000),
    (17, "bytea", "bytea", -1, "b", "U", 0, 1001),
    (18, "char", '"char"', 1, "b", "Z", 0, 1002),
    (19, "name", "name", 64, "b", "S", 18, 1003),
    (20, "int8", "bigint", 8, "b", "N", 0, 1016),
    (21, "int2", "smallint", 2, "b", "N", 0, 1005),
    (23, "int4", "integer", 4, "b", "N", 0, 1007),
    (25, "text", "text", -1, "b", "S", 0, 1009),
    (26, "oid", "oid", 4, "b", "N", 0, 1028),
    (114, "json", "json", -1, "b", "U", 0, 199),
    (700, "float4", "real", 4, "b", "N", 0, 1021),
    (701, "float8", "double precision", 8, "b", "N", 0, 1022),
    (705, "unknown", "unknown", -2, "p", "X", 0, 0),
    (1000, "_bool", "boolean[]", -1, "b", "A", 16, 0),
    (1005, "_int2", "smallint[]", -1, "b", "A", 21, 0),
    (1007, "_int4", "integer[]", -1, "b", "A", 23, 0),
    (1009, "_text", "text[]", -1, "b", "A", 25, 0),
    (1016, "_int8", "bigint[]", -1, "b", "A", 20, 0),
    (1022, "_float8", "double precision[]", -1, "b", "A", 701, 0),
    (1028, "_oid", "oid[]", -1, "b", "A", 26, 0),
    (1042, "bpchar", "character", -1, "b", "S", 0, 1014),
    (1043, "varchar", "character varying", -1, "b", "S", 0, 1015),
    (1082, "date", "date", 4, "b", "D", 0, 1182),
    (1083, "time", "time without time zone", 8, "b", "D", 0, 1183),
    (1114, "timestamp", "timestamp without time zone", 8, "b", "D", 0, 1115),
    (1184, "timestamptz", "timestamp with time zone", 8, "b", "D", 0, 1185),
    (1186, "interval", "interval", 16, "b", "T", 0, 1187),
    (1700, "numeric", "numeric", -1, "b", "N", 0, 1231),
    (2205, "regclass", "regclass", 4, "b", "N", 0, 2210),
    (2206, "regtype", "regtype", 4, "b", "N", 0, 2211),
    (3906, "numrange", "numrange", -1, "r", "R", 0, 3907),
    (3908, "tsrange", "tsrange", -1, "r", "R", 0, 3909),
    (3912, "daterange", "daterange", -1, "r", "R", 0, 3913),
)
"""Number, name, name as people write it, size, kind, category, what an array is of, its array."""

WRITTEN = {oid: written for oid, _, written, *_ in TYPES}


def all_rows(
    served: Sequence[Catalog], user: str, database: str, own: Sequence[str]
) -> Iterator[tuple[str, CatalogRow]]:
    """Each row with the table that it belongs to. `own` are the tables of the shadow itself."""
    yield from _site_rows(user, database)
    for oid, name, written, size, kind, category, element, array in TYPES:
        yield "pg_catalog.pg_type", _type_row(oid, name, size, kind, category, element, array)
        yield "pg_catalog.qg_type", {"qg_type_oid": oid, "qg_type_name": name, "qg_type_written": written}
    for number, name in enumerate(own):
        schema, _, table = name.partition(".")
        oid = _KNOWN.get(table, _FIRST_OWN + number)
        space = PG_CATALOG if schema == "pg_catalog" else INFORMATION_SCHEMA
        yield "pg_catalog.pg_class", _class_row(oid, table, space, 0) | {"relkind": "r" if space == PG_CATALOG else "v"}
    for range_, within in ((3906, 1700), (3908, 1114), (3912, 1082)):
        yield "pg_catalog.pg_range", {"rngtypid": range_, "rngsubtype": within}
    for catalog in served:
        yield from _dataset_rows(catalog, user, database)


def oid_of(dataset: str) -> int:
    """The same in every session, and below what a signed number can hold."""
    return _FIRST_USER + crc32(dataset.encode()) % (2**31 - _FIRST_USER)


def _site_rows(user: str, database: str) -> Iterator[tuple[str, CatalogRow]]:
    for oid, name in ((PG_CATALOG, "pg_catalog"), (PUBLIC, "public"), (INFORMATION_SCHEMA, "information_schema")):
        yield "pg_catalog.pg_namespace", {"oid": oid, "nspname": name, "nspowner": OWNER}
        yield "information_schema.schemata", {"catalog_name": database, "schema_name": name, "schema_owner": user}
    yield "pg_catalog.pg_roles", {
        "oid": OWNER, "rolname": user, "rolinherit": True, "rolcanlogin": True, "rolconnlimit": -1,
    }  # fmt: skip
    yield "pg_catalog.pg_user", {"usename": user, "usesysid": OWNER}
    yield "pg_catalog.pg_database", {
        "oid": DATABASE_OID, "datname": database, "datdba": OWNER, "encoding": 6, "datlocprovider": "c",
        "datallowconn": True, "datconnlimit": -1, "dattablespace": 1663, "datcollate": "C", "datctype": "C",
    }  # fmt: skip
    yield "pg_catalog.pg_tablespace", {"oid": 1663, "spcname": "pg_default", "spcowner": OWNER}
    yield "pg_catalog.pg_am", {"oid": 2, "amname": "heap", "amtype": "t"}
    yield "pg_catalog.pg_language", {"oid": 14, "lanname": "sql", "lanowner": OWNER}
    yield (
        "pg_catalog.pg_collation",
        {"oid": 100, "collname": "default", "collnamespace": PG_CATALOG, "collencoding": -1},
    )
    yield "information_schema.information_schema_catalog_name", {"catalog_name": database}
    yield "information_schema.enabled_roles", {"role_name": user}
    for name, value in DEFAULTS.items():
        yield "pg_catalog.pg_settings", {"name": name, "setting": value, "context": "user", "vartype": "string"}


def _type_row(oid: int, name: str, size: int, kind: str, category: str, element: int, array: int) -> CatalogRow:
    return {
        "oid": oid, "typname": name, "typnamespace": PG_CATALOG, "typowner": OWNER, "typlen": size, "typtype": kind,
        "typcategory": category, "typisdefined": True, "typdelim": ",", "typelem": element, "typarray": array,
        "typtypmod": -1, "typalign": "i", "typstorage": "p", "typinput": "array_in" if category == "A" else f"{name}in",
        "typcollation": 100 if category == "S" else 0,
    }  # fmt: skip


def _class_row(oid: int, name: str, space: int, columns: int, rows: float = -1) -> CatalogRow:
    return {
        "oid": oid, "relname": name, "relnamespace": space, "relowner": OWNER, "relam": 2, "relkind": "r",
        "relpersistence": "p", "relreplident": "d", "relnatts": columns, "reltuples": rows, "relispopulated": True,
    }  # fmt: skip


def _dataset_rows(catalog: Catalog, user: str, database: str) -> Iterator[tuple[str, CatalogRow]]:
    oid, name = oid_of(catalog.dataset), catalog.dataset
    rows = -1 if catalog.noisy_only else catalog.rows
    yield (
        "pg_catalog.pg_class",
        {
            **_class_row(oid, name, PUBLIC, len(catalog.columns), rows),
            "relacl": [f"{user}=r/{user}"],
        },
    )
    yield "pg_catalog.pg_tables", {"schemaname": "public", "tablename": name, "tableowner": user}
    named: CatalogRow = {"table_catalog": database, "table_schema": "public", "table_name": name}
    yield "information_schema.tables", named | {
        "table_type": "BASE TABLE", "is_insertable_into": "NO", "is_typed": "NO",
    }  # fmt: skip
    granted: CatalogRow = {"grantor": user, "grantee": user, "privilege_type": "SELECT", "is_grantable": "NO"}
    yield "information_schema.table_privileges", named | granted
    yield "information_schema.role_table_grants", named | granted
    if catalog.title:
        yield "pg_catalog.pg_description", _description(oid, 0, catalog.title)
    for place, column in enumerate(catalog.columns, 1):
        is_known = not column.nullable and not catalog.noisy_only
        type_ = OF_COLUMN.get(column.type, TEXT)
        yield "pg_catalog.pg_attribute", {
            "attrelid": oid, "attname": column.name, "atttypid": type_.oid, "attlen": type_.size, "attnum": place,
            "atttypmod": -1, "attcacheoff": -1, "attnotnull": is_known, "attislocal": True, "attstattarget": -1,
            "attcollation": 100 if type_ == TEXT else 0, "attidentity": "", "attgenerated": "", "attstorage": "p",
        }  # fmt: skip
        yield "information_schema.columns", named | {
            "column_name": column.name, "ordinal_position": place, "is_nullable": "NO" if is_known else "YES",
            "data_type": WRITTEN[type_.oid], "udt_catalog": database, "udt_schema": "pg_catalog",
            "udt_name": type_.name, "is_identity": "NO", "is_generated": "NEVER", "is_updatable": "NO",
            "dtd_identifier": str(place), "is_self_referencing": "NO",
        }  # fmt: skip
        if column.title:
            yield "pg_catalog.pg_description", _description(oid, place, column.title)


def _description(oid: int, place: int, text: str) -> CatalogRow:
    return {"objoid": oid, "classoid": _KNOWN["pg_class"], "objsubid": place, "description": text}
