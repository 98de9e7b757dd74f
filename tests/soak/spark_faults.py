"""Spark killed while it is read from, copied to and asked: what is served stays served, and the next run goes on.

The driver is a real process and is killed from outside (SIGKILL): after some batches of a source, while a copy is read
back, between two questions, and at every step of a publication inside Spark. So are the Python workers that have rows,
and an executor with a process of its own, in whose place Spark puts another. No publication may come of fewer rows than
there are, and no rows stay behind of one that was not served.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

from querygate.core.errors import ConfigError
from querygate.custody.use_cases.copy_store import copy_store
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate_adapters.sources import spark_table
from querygate_adapters.store import spark_session
from querygate_adapters.store.spark_store import SparkStore
from querygate_adapters.vault.spark import spark_writer
from querygate_adapters.vault.spark.spark_engine import SparkEngine
from tests import spark
from tests.policies import AGE, SEX, make_policy, sensitive
from tests.report import row
from tests.unit.custody.publish.publications import ask, new_site

ROWS, FILES = 240_000, 8
BATCH_ROWS = 10_000
AFTER = (0, 5, 17)
"""Batches that have come when it happens."""

SOON_S = 1.0
CLUSTER = "local-cluster[1,1,768]"
SQL = "SELECT sex, COUNT(*), AVG(sbp) FROM t WHERE age >= 40 GROUP BY sex"
POLICY = make_policy(
    "t",
    {"age": AGE, "sex": SEX, "sbp": sensitive("integer", (40, 300), grid=5)},
    anonymise={"method": "mondrian"},
    republish={"on_overlap": "retire"},
)


def run() -> list[dict[str, Any]]:
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            moments = _all(Path(folder), wrong)
            _driver()  # an application on another master needs another
            spark.stop()
            moments += _in_a_cluster(Path(folder), wrong)
        finally:
            spark.stop()
    print("\n".join(wrong))
    return [row("spark: wrong after a kill", len(wrong), "of", f"{moments} kills", target=0, met=not wrong)]


def _all(folder: Path, wrong: list[str]) -> int:
    spark.begin()
    opened, source = new_site(folder), _people(folder / "people")
    publish_to(opened, POLICY.parsed(), f"spark:{source}", user="carl")
    moments = 0
    for who in (_driver, _workers):
        for after in AFTER:
            moments += 1
            found = _while_read(opened, source, who, after)
            wrong += [f"{who.__name__} after {after} batches: {text}" for text in found]
    to = f"spark:{folder}/store"
    wrong += [f"while a copy is read back: {text}" for text in _while_copied(opened, to)]
    wrong += [f"between questions: {text}" for text in _while_served(opened, to)]
    (folder / "inside").mkdir()
    inside = new_site(folder / "inside")
    publish_to(inside, POLICY.parsed(), f"spark:{source}", user="carl", vault=f"spark:{folder}/inside/rows")
    for who, step in ((_driver, "coded"), (_driver, "divided"), (_driver, "row_class"), (_workers_soon, "divided")):
        moments += 1
        found = _while_inside(inside, source, who, step)
        wrong += [f"{who.__name__} inside Spark before {step}: {text}" for text in found]
    return moments + 2


def _in_a_cluster(folder: Path, wrong: list[str]) -> int:
    home = {"SPARK_HOME": str(Path(find_spec("pyspark").origin).parent)}
    memory = {"spark.executor.memory": "512m"}
    with ExitStack() as patched:
        patched.enter_context(mock.patch.object(spark, "MASTER", CLUSTER))
        patched.enter_context(mock.patch.dict(spark.SETTINGS, memory))
        patched.enter_context(mock.patch.dict(os.environ, home))
        spark.begin()
    opened = open_gate(open_site(folder / "site"))
    for after in AFTER:
        found = _while_read(opened, folder / "people", _executor, after)
        wrong += [f"_executor after {after} batches: {text}" for text in found]
    inside = open_gate(open_site(folder / "inside" / "site"))
    found = _while_inside(inside, folder / "people", _executor, "divided")
    wrong += [f"_executor inside Spark before divided: {text}" for text in found]
    return len(AFTER) + 1


def _people(folder: Path) -> Path:
    folder.mkdir()
    for i in range(FILES):
        n = ROWS // FILES
        age, sbp = [(i + j) % 90 for j in range(n)], [90 + j % 100 for j in range(n)]
        part = {"age": age, "sex": ["F", "M"] * (n // 2), "sbp": sbp}
        pq.write_table(pa.table(part), folder / f"{i}.parquet")
    return folder


def _while_read(opened: OpenSite, source: Path, kill: Callable[[], bool], after: int) -> Iterator[str]:
    """A publication whose source is lost, and the next one."""
    before, right, killed = ask(opened, SQL), spark_table._stream, []

    def cut(rows: Any) -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(right(rows)):
            if number == after:
                killed.append(kill())
            yield batch

    version = opened.store.current("t").catalog.version
    with mock.patch.object(spark_table, "_stream", cut), mock.patch.object(spark_session, "BATCH_ROWS", BATCH_ROWS):
        try:
            publish_to(opened, POLICY.parsed(), f"spark:{source}", user="carl")
        except ConfigError as error:
            told = str(error)
            if error.code != "QG802" or (kill is _driver and "lost" not in told):
                yield f"it says {error.code}: {told}"
            if (opened.store.current("t").catalog.version, ask(opened, SQL)) != (version, before):
                yield "another version is served"
        else:
            if opened.store.current("t").catalog.rows != ROWS:
                yield "a version of fewer rows is served"
    if killed != [True]:
        yield "nobody was killed"
    publish_to(opened, POLICY.parsed(), f"spark:{source}", user="carl")
    if opened.store.current("t").catalog.rows != ROWS:
        yield "the next publication does not go on"


def _while_inside(opened: OpenSite, source: Path, kill: Callable[[], bool], step: str) -> Iterator[str]:
    """A publication inside Spark that is cut off when it is about to write a table, and the next one."""
    before, right, killed = ask(opened, SQL), SparkEngine.put, []
    version, vault = opened.store.current("t").catalog.version, f"spark:{opened.site.folder.parent}/rows"

    def cut(engine: SparkEngine, table: str, *given: Any) -> None:
        if table == step:
            killed.append(kill())
        right(engine, table, *given)

    with mock.patch.object(SparkEngine, "put", cut):
        try:
            publish_to(opened, POLICY.parsed(), f"spark:{source}", user="carl", vault=vault)
        except ConfigError as error:
            told = str(error)
            if error.code != "QG804" or (kill is _driver and "lost" not in told):
                yield f"it says {error.code}: {told}"
            if (opened.store.current("t").catalog.version, ask(opened, SQL)) != (version, before):
                yield "another version is served"
        else:
            if kill is _driver:
                yield "nothing is said"
            if opened.store.current("t").catalog.rows != ROWS:
                yield "a version of fewer rows is served"
    if killed != [True]:
        yield "nobody was killed"
    publish_to(opened, POLICY.parsed(), f"spark:{source}", user="carl", vault=vault)
    if opened.store.current("t").catalog.rows != ROWS or ask(opened, SQL) != before:
        yield "the next publication does not go on"
    kept = {path.read_text() for path in (opened.site.vault / "t").glob("v*.rows-in")}
    if {str(path) for path in (opened.site.folder.parent / "rows" / "t").iterdir()} != kept:
        yield "rows stay behind"


def _while_copied(opened: OpenSite, to: str) -> Iterator[str]:
    """A copy that is lost while it is read back, and the next one."""
    release = spark_writer.SparkRelease

    def cut(*given: Any, **more: Any) -> Any:
        made = release(*given, **more)
        right = made._cells

        def lost() -> Any:
            found = right()
            made._cells = right
            _driver()
            return found

        made._cells = lost
        return made

    with mock.patch.object(spark_writer, "SparkRelease", cut):
        try:
            copy_store(opened, to, user="tester")
        except ConfigError as error:
            if error.code != "QG804":
                yield f"it says {error.code}"
        else:
            yield "nothing is said"
    if SparkStore(to).datasets():
        yield "something is served"
    copy_store(opened, to, user="tester")
    if SparkStore(to).datasets() != ("t",):
        yield "the next copy does not go on"


def _while_served(opened: OpenSite, to: str) -> Iterator[str]:
    store = SparkStore(to)
    served = replace(opened, gate=replace(opened.gate, store=store))
    if ask(served, SQL) != ask(opened, SQL):
        yield "answers differ"
    _driver()
    other = SQL.replace("40", "50").replace("AVG(sbp)", "MAX(age)")
    if ask(served, other) != ask(opened, other):
        yield "answers differ after a kill"


def _driver() -> bool:
    from pyspark import SparkContext

    SparkContext._gateway.proc.kill()
    SparkContext._gateway.proc.wait()
    return True


def _workers_soon() -> bool:
    """The same, but while the next job runs."""
    threading.Timer(SOON_S, _workers).start()
    return True


def _executor() -> bool:
    return _killed(process for process in _processes() if b"CoarseGrainedExecutorBackend" in _words(process))


def _workers() -> bool:
    """The Python processes that have rows; the one that makes them, below the driver, stays."""
    from pyspark import SparkContext

    driver = SparkContext._gateway.proc.pid
    return _killed(process for process in _processes() if _parent(_parent(process)) == driver)


def _killed(processes: Iterable[int]) -> bool:
    """Whether there was one; all of them are of this application, which is the only one here."""
    own = [process for process in processes if _is_below(process, os.getpid())]
    for process in own:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return bool(own)


def _is_below(process: int, ancestor: int) -> bool:
    while process > 1 and process != ancestor:
        process = _parent(process)
    return process == ancestor


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def _words(process: int) -> list[bytes]:
    try:
        return [word.rpartition(b".")[2] for word in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")]
    except OSError:
        return []


def _parent(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0
