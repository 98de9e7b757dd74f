"""A small site, a publication into it, and questions to it: the real path, with classes of the test's choice."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from querygate.core.types import Ints, Principal, Request
from querygate.custody.columns.source_columns import Beside, tell_no_others
from querygate.custody.policy import Policy, parse_policy
from querygate.custody.publish.publish import Report, publish
from querygate.custody.publish.republication_guard import VersionHandling
from querygate.gate.answer import answer
from querygate.gate.render import make_body
from querygate.methods.anonymise import Method, Table
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.version_writer import DuckDBVersionWriter
from tests.empty_site import empty_site
from tests.engine import SharedParquet, reading

RESEARCHER = Principal("tester", "researcher")
ALONE = VersionHandling(compare=False)
Anonymise = Callable[..., Ints]


def new_site(folder: Path) -> OpenSite:
    return open_gate(empty_site(folder / "site"))


def copy_site(opened: OpenSite, folder: Path) -> OpenSite:
    """A copy to change, of a site that nobody uses any more."""
    opened.log.database.close()  # a copy would drop the locks that SQLite has on the file
    return open_gate(open_site(Path(shutil.copytree(opened.site.folder, folder / "site"))))


def shelf_of(opened: OpenSite) -> DuckDBVersionWriter:
    return DuckDBVersionWriter(opened.site.store, opened.site.vault)


def write_parquet(path: Path, columns: Mapping[str, Any]) -> Path:
    arrays = {name: values if isinstance(values, pa.Array) else pa.array(values) for name, values in columns.items()}
    pyarrow.parquet.write_table(pa.table(arrays), path)
    return path


def put(
    opened: OpenSite,
    policy: str | Policy,
    columns: Mapping[str, Any] | Path,
    *,
    anonymiser: Anonymise | None = None,
    shelf: Any = None,
    handling: VersionHandling | None = ALONE,
    open_beside: Beside = tell_no_others,
) -> Report:
    """Publish columns, or a file, under a policy or its text. Earlier versions are left alone unless `handling` says
    otherwise; None is as the policy says.
    """
    if isinstance(columns, Path):
        source = open_source(str(columns))
    else:
        source = SharedParquet(write_parquet(opened.site.folder.parent / "source.parquet", columns))
    return publish(
        policy if isinstance(policy, Policy) else parse_policy(policy),
        source,
        shelf or shelf_of(opened),
        now=lambda: "2026-01-01T00:00:00Z",
        clock_s=time.perf_counter,
        anonymiser=Method(anonymiser) if anonymiser else None,
        handling=handling,
        open_beside=open_beside,
    )


class Miswriter:
    """A shelf whose writer changes what it is given: the catalog, the tables and the code lists by column."""

    def __init__(self, shelf: DuckDBVersionWriter, change: Callable[..., tuple[Any, Any, Any]]) -> None:
        self._shelf, self._change = shelf, change

    @contextmanager
    def publishing(self, dataset: str) -> Iterator[Any]:
        with self._shelf.publishing(dataset) as publication:
            right: Any = publication.write
            publication.write = lambda *given: right(*self._change(*given))  # type: ignore[method-assign]
            yield publication


def ask(opened: OpenSite, sql: str, dataset: str = "t") -> list[dict[str, Any]]:
    """The rows of the answer, as the JSON of the contract has them."""
    rows: list[dict[str, Any]] = make_body(answer(Request(RESEARCHER, dataset, sql), opened.gate))["rows"]
    return rows


def ends(opened: OpenSite, statistic: str, where: str = "", dataset: str = "t") -> tuple[Any, Any]:
    """(low, high) of one statistic, with or without a condition."""
    (row,) = ask(opened, f"SELECT {statistic} AS x FROM {dataset}" + (f" WHERE {where}" if where else ""), dataset)
    return row["x"]["low"], row["x"]["high"]


def raw_rows(opened: OpenSite, columns: Sequence[str], dataset: str = "t", version: int = 1) -> list[tuple[Any, ...]]:
    """What the vault holds, in the order of the source."""
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    file = opened.site.vault / dataset / f"v{version:05d}.duckdb"
    with reading(file) as vault:
        return vault.execute(f"SELECT {names} FROM rows ORDER BY 1").fetchall()


def classes_by(name: str, class_of_code: Sequence[int]) -> Anonymise:
    """An anonymiser that puts a combination into the class its code of one quasi-identifier says."""

    def anonymise(table: Table, k: int, guards: Sequence[Any] = (), *, progress: Any = None) -> Ints:
        attribute = next(attribute for attribute in table.attributes if attribute.name == name)
        return np.array(class_of_code, dtype=np.int64)[attribute.codes]

    return anonymise


def staged_files(opened: OpenSite) -> list[str]:
    """What a publication in progress, or one that was cut off, has lying about."""
    return sorted(path.name for folder in (opened.site.store, opened.site.vault) for path in folder.rglob("staged-*"))
