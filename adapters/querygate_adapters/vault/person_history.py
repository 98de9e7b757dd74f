"""Who was in which class of which version: compares the people of a new version with those of the earlier ones.

Vaults are joined inside DuckDB by the column that identifies persons or, without one, by everything that all versions
know about a record. Only counts come out: for all people who were in the same classes of every version, how many they
are, how many different sensitive values they have, and how widely their numbers range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.errors import ConfigError
from querygate.core.publications.version_overlap import ClassHistory, OverlapRule, ValueChanges
from querygate.core.types import Ints
from querygate_adapters.sources.files import quoted
from querygate_adapters.sources.value_casts import person_key
from querygate_adapters.store.column_arrays import ints
from querygate_adapters.store.duckdb_lockdown import in_memory
from querygate_adapters.store.vault_pointer import pointer_file

# A number, or a moment as a number, by its type in the vault. {x} is the column.
_AXIS = {"DATE": "CAST({x} - DATE '1970-01-01' AS DOUBLE)", "TIMESTAMP": "CAST(epoch_us({x}) AS DOUBLE)"}


@dataclass(frozen=True, slots=True)
class Vault:
    """The rows of a version, in the database or schema of this name. The number of a row is its first column."""

    schema: str
    row: str
    types: Mapping[str, str]

    @classmethod
    def of(cls, database: duckdb.DuckDBPyConnection, schema: str) -> Vault:
        described = database.execute(f"DESCRIBE {schema}.rows").fetchall()
        row, *columns = [(str(name), str(kind)) for name, kind, *_ in described]
        return cls(schema, row[0], dict(columns))

    def keyed(
        self,
        keys: Sequence[str],
        by_person: bool,
        keeping: OverlapRule,
        secret: Mapping[str, Sequence[str]],
        only: str = "true",
    ) -> str:
        """SQL: row_id, key, s0, s1 ... and digests of secrets of every row of which `only` holds. Records that are
        known to be nothing but equal are numbered.
        """
        if by_person:
            key = person_key(f"CAST({quoted(keys[0])} AS VARCHAR)")  # an earlier version may have kept spaces
        else:
            texts = (f"COALESCE(CAST({quoted(name)} AS VARCHAR), chr(30))" for name in keys)
            content = f"md5(concat_ws(chr(31), '', {', '.join(texts)}))"
            key = f"{content} || row_number() OVER (PARTITION BY {content} ORDER BY {quoted(self.row)})"
        guarded = [self._text(name, spared=name in keeping.spared) for name in keeping.values]
        values = guarded + [self._number(name) for name in keeping.widths]
        listed = "".join(f", {value} AS s{i}" for i, value in enumerate(values))
        listed += "".join(f", {self._digest(columns)} AS {name}" for name, columns in secret.items())
        return f"SELECT {quoted(self.row)} AS row_id, {key} AS key{listed} FROM {self.schema}.rows WHERE {only}"

    def _digest(self, secret: Sequence[str]) -> str:
        """SQL: a text that is equal for rows with equal secrets."""
        listed = ", ".join(f"COALESCE(CAST({self._value(name)} AS VARCHAR), chr(30))" for name in secret)
        return f"md5(concat_ws(chr(31), '', {listed}))" if listed else "''"

    def _value(self, name: str) -> str:
        """SQL: a value as written, whatever its type in this version. An identifier is text, and a version that
        publishes it as a number has not changed it.
        """
        kind = self.types[name]
        if kind in ("VARCHAR", *_AXIS) or kind.endswith("[]"):
            return quoted(name)
        return f"regexp_replace(CAST({self._number(name)} AS VARCHAR), '\\.0$', '')"

    def _text(self, name: str, *, spared: bool) -> str:
        if name not in self.types:
            return "NULL::VARCHAR"
        text = f"CAST({quoted(name)} AS VARCHAR)"
        return text if spared else f"COALESCE({text}, chr(30))"

    def _number(self, name: str) -> str:
        kind = self.types.get(name)
        axis = _AXIS.get(kind, "CAST({x} AS DOUBLE)") if kind and kind != "VARCHAR" else "NULL::DOUBLE"
        return axis.format(x=quoted(name))


def _listed(keeping: OverlapRule, prefix: str = "") -> str:
    return "".join(f", {prefix}s{i}" for i in range(len(keeping.values) + len(keeping.widths)))


# -- earlier versions --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Past:
    """The people of earlier versions. A history is a row of `classes`: a column per version, -1 where absent.

    `people` has key, history, the latest values of the guarded columns, and d1, d2 ...: the secrets in each version as
    one text. `secret` names their columns.
    """

    versions: tuple[int, ...]
    by_person: bool
    keys: tuple[str, ...]
    classes: Ints
    people: pa.Table
    secret: Mapping[int, tuple[str, ...]]
    several: bool  # do some people have several rows in a version?


def attach(vaults: Mapping[str, Path], memory_mb: int) -> duckdb.DuckDBPyConnection:
    """Attach vault files under the given names; nothing else on the machine can be read."""
    check_there(vaults.values())
    spill = spill_beside(next(iter(vaults.values())))
    database = in_memory(spill=spill, memory_limit=f"{memory_mb}MB", enable_external_access="true")
    for name, path in vaults.items():
        escaped = str(path).replace("'", "''")
        database.execute(f"ATTACH '{escaped}' AS {name} (READ_ONLY)")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    return database


def spill_beside(vault: Path) -> Path:
    """The folder for rows of a vault that do not fit into memory: beside the vault."""
    return vault.parent / "spill"


def check_there(vaults: Iterable[Path]) -> None:
    missing = [path for path in vaults if not path.is_file()]
    if missing:
        _tell_elsewhere(missing)
        names = ", ".join(path.stem for path in missing)
        steps = ", ".join(f"`querygate retire {path.parent.name} {int(path.stem[1:])}`" for path in missing)
        raise ConfigError(
            "QG803",
            f"The vault does not have the raw rows of {names}, so no version can be compared with it.",
            f"Restore the file from a backup, or retire the version: {steps}.",
        )


def _tell_elsewhere(missing: Iterable[Path]) -> None:
    """ConfigError if raw rows are in Spark, where nobody compares them."""
    for path in missing:
        dataset, version = path.parent.name, int(path.stem[1:])
        if pointer_file(path.parent, version).is_file():
            raise ConfigError(
                "QG803",
                f"The raw rows of version {version} of {dataset} are in Spark, where only publishing reaches them.",
                "Publish into Spark again, with the same --vault and --on-overlap retire. Or publish without --vault "
                f"after taking it out of service: `querygate withdraw {dataset}`, `querygate retire {dataset} "
                f"{version}`, then publish with --reinstate.",
            )


def read_past(
    database: duckdb.DuckDBPyConnection,
    versions: Sequence[int],
    columns: Sequence[str],
    keeping: OverlapRule,
    only: Callable[[Vault, int], str] = lambda vault, version: "true",
) -> Past:
    """The people of earlier versions, which are attached as v1, v2 ...; `columns` are those of the new one, and
    `only` says in SQL which rows of a version count.

    If the column does not identify every person in a version, records are matched by their contents.
    """
    known = {version: Vault.of(database, f"v{version}") for version in versions}
    common = tuple(name for name in columns if all(name in vault.types for vault in known.values()))
    secret = {
        v: tuple(name for name in keeping.secret if name in columns and name in vault.types)
        for v, vault in known.items()
    }
    named = keeping.person in common
    some = {version: only(vault, version) for version, vault in known.items()}
    by_person = named and _lay_together(database, known, (str(keeping.person),), True, keeping, secret, some)
    if not by_person:  # what all versions have is then the same, or it is another record
        secret = {v: tuple(name for name in names if name not in common) for v, names in secret.items()}
        _lay_together(database, known, common, False, keeping, secret, some)
    classes = ", ".join(f"c{version}" for version in known)
    database.execute(
        f"CREATE TEMP TABLE histories AS SELECT row_number() OVER (ORDER BY {classes}) - 1 AS history, * "
        f"FROM (SELECT DISTINCT {classes} FROM person)"
    )
    found = database.execute("SELECT * FROM histories ORDER BY history").fetchnumpy()
    people = database.sql(
        f"SELECT key, history{_listed(keeping)}{''.join(f', d{v}' for v in known)} "
        f"FROM person JOIN histories USING ({classes})"
    ).to_arrow_table()
    keys = (str(keeping.person),) if by_person else common
    return Past(
        tuple(known),
        by_person,
        keys,
        np.column_stack([ints(found[f"c{v}"]) for v in known]),
        people,
        secret,
        named and not by_person,
    )


def _lay_together(
    database: duckdb.DuckDBPyConnection,
    known: Mapping[int, Vault],
    keys: Sequence[str],
    by_person: bool,
    keeping: OverlapRule,
    secret: Mapping[int, Sequence[str]],
    only: Mapping[int, str],
) -> bool:
    """Make the table `person`: key, class and secrets in each version, latest values. False if a key is repeated."""
    listed = _listed(keeping)
    seen = " UNION ALL ".join(
        f"SELECT key, {version} AS version, class, digest{listed} "
        f"FROM ({vault.keyed(keys, by_person, keeping, {'digest': secret[version]}, only[version])}) "
        f"JOIN {vault.schema}.row_class USING (row_id)"
        for version, vault in known.items()
    )
    by_version = ", ".join(f"COALESCE(MAX(class) FILTER (version = {v}), -1) AS c{v}" for v in known)
    by_version += "".join(f", MAX(digest) FILTER (version = {v}) AS d{v}" for v in known)
    latest = "".join(f", arg_max_null({s}, version) AS {s}" for s in listed.split(", ")[1:])
    database.execute(
        "CREATE OR REPLACE TEMP TABLE person AS "
        f"SELECT key, COUNT(*) AS n, {by_version}{latest} FROM ({seen}) GROUP BY key"
    )
    places = " + ".join(f"(c{version} >= 0)::INT" for version in known)
    [(several,)] = database.execute(f"SELECT COUNT(*) FROM person WHERE n > {places}").fetchall()
    return not several


# -- the new version beside them -----------------------------------------------------------------------------------


class DuckDBVersionOverlap:
    """The rows of a new version, in `schema` of a database, compared with the people of the earlier ones."""

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        past: Past,
        keeping: OverlapRule,
        schema: str = "main",
        only: Callable[[Vault], str] = lambda vault: "true",
    ) -> None:
        self._db, self._past, self._keeping, self._schema = database, past, keeping, schema
        secret = {f"n{version}": columns for version, columns in past.secret.items()}
        vault = Vault.of(database, schema)
        rows = vault.keyed(past.keys, past.by_person, keeping, secret, only(vault))
        listed = _listed(keeping)
        before = "".join(f", past.{name} AS b{name}" for name in listed.split(", ")[1:])
        changed = "".join(f", COALESCE(d{v} <> n{v}, false) AS changed{v}" for v in past.versions)
        database.register("given", past.people)
        database.execute("CREATE OR REPLACE TEMP TABLE past AS SELECT * FROM given")
        database.unregister("given")
        database.execute(
            "CREATE OR REPLACE TEMP TABLE row_history AS "
            f"SELECT row_id, key, COALESCE(history, -1) AS history{_listed(keeping, 'n.')}{before}{changed} "
            f"FROM ({rows}) n LEFT JOIN past USING (key)"
        )
        database.execute(
            f"CREATE OR REPLACE TEMP TABLE gone AS SELECT history{listed} FROM past ANTI JOIN row_history USING (key)"
        )

    @property
    def versions(self) -> tuple[int, ...]:
        return self._past.versions

    @property
    def by_person(self) -> bool:
        return self._past.by_person

    @property
    def several(self) -> bool:
        again = "SELECT COUNT(*) > COUNT(DISTINCT key) FROM row_history"
        return self._past.several or bool(self._db.execute(again).fetchall()[0][0])

    @property
    def changed(self) -> tuple[int, int]:
        sql = "SELECT (SELECT COUNT(*) FROM gone), (SELECT COUNT(*) FROM row_history WHERE history < 0)"
        gone, new = self._db.execute(sql).fetchall()[0]
        return int(gone), int(new)

    def history(self) -> Ints:
        sql = "SELECT history FROM combination JOIN row_history USING (row_id) ORDER BY combination"
        return ints(self._db.execute(sql).fetchnumpy()["history"])

    def met(self) -> ClassHistory:
        names, before = _listed(self._keeping), _listed(self._keeping, "b")
        changed = "".join(f", changed{v}" for v in self.versions)
        by_version = "".join(
            f", COUNT(*) FILTER (changed{v}) AS n{v}, {self._kept('s', changed)} AND {self._kept('bs', changed)} "
            f"AS kept{v}"
            for v in self.versions
            for changed in [f"changed{v}"]
        )
        found = self._db.execute(
            f"SELECT history, class, COUNT(*) AS n, {self._kept('s', 'true')} AS kept{by_version} FROM ("
            f"SELECT history, class{names}{before}{changed} "
            f"FROM row_history JOIN {self._schema}.row_class USING (row_id) "
            f"UNION ALL SELECT history, -1{names}{names}{', false' * len(self.versions)} FROM gone) "
            "GROUP BY history, class ORDER BY history, class"
        ).fetchnumpy()
        changes = ValueChanges(
            np.column_stack([ints(found[f"n{v}"]) for v in self.versions]),
            np.column_stack([np.asarray(found[f"kept{v}"], dtype=np.bool_) for v in self.versions]),
        )
        nowhere = np.full((1, len(self.versions)), -1)  # for a newcomer, whose history is -1: the last row
        earlier = np.concatenate([self._past.classes, nowhere])[ints(found["history"])]
        kept = np.asarray(found["kept"], dtype=np.bool_)
        return ClassHistory(earlier, ints(found["class"]), ints(found["n"]), kept, changes)

    def _kept(self, prefix: str, which: str) -> str:
        """SQL: do these people satisfy the guarantees for a group?"""
        only = f"FILTER ({which})"
        tests = []
        for i, (name, least) in enumerate([*self._keeping.values.items(), *self._keeping.widths.items()]):
            held = f"COUNT(DISTINCT {prefix}{i}) {only}"
            if i >= len(self._keeping.values):
                held = f"COALESCE(MAX({prefix}{i}) {only} - MIN({prefix}{i}) {only}, 0)"
            nobody = f"COUNT({prefix}{i}) {only} = 0" if name in self._keeping.spared else "false"
            tests.append(f"({held} >= {least} OR {nobody})")
        return f"({' AND '.join(['true', *tests])})"
