"""The Spark application of this process: begun when it is first needed, and again where its driver was killed.

Spark's own settings (SPARK_HOME, spark-defaults.conf, PYSPARK_SUBMIT_ARGS) say which master it runs on; without any it
runs here. Nothing that Spark says reaches a user: it may quote what it read.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from querygate.core.errors import ConfigError

BATCH_ROWS = 100_000
_BEGUN_BY = "_querygate_process"
"""Attribute of a context: the process that it belongs to. After a fork the child has one that is not its own."""

FAILURES = (PySparkException, Py4JError, OSError, EOFError)
"""How PySpark tells that a job failed, or that there is nobody any more who could have run it."""


def open_session(code: str, *, memory_mb: int | None = None) -> SparkSession:
    """The session of this process; ConfigError with the code where none can be begun. `memory_mb` is how much a job may
    send back; an application that runs already keeps what it was begun with.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    _forget_dead()
    builder = (
        SparkSession.builder.appName("querygate")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")  # what it says of a failure may quote a value
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", str(BATCH_ROWS))
    )
    if memory_mb is not None and SparkContext._active_spark_context is None:
        builder = builder.config("spark.driver.maxResultSize", f"{memory_mb}m")
    try:
        session = builder.getOrCreate()
        setattr(session.sparkContext, _BEGUN_BY, os.getpid())
        return session
    except FAILURES:
        raise ConfigError(
            code,
            "Spark cannot be started.",
            "Spark needs a Java runtime (17 or later), and the settings of your cluster.",
        ) from None


def is_alive(session: SparkSession) -> bool:
    """Whether its driver still answers, and it is this process's own."""
    if not _is_own(session):
        return False
    try:
        return not session.sparkContext._jsc.sc().isStopped()
    except (*FAILURES, AttributeError):  # one that was stopped in order has no driver
        return False


def _is_own(session: SparkSession) -> bool:
    """One that was begun by nobody here is whose it may be: ours."""
    return bool(getattr(session.sparkContext, _BEGUN_BY, os.getpid()) == os.getpid())


def _forget_dead() -> None:
    """PySpark holds on to a driver that was killed, or is the parent's, and would begin no other."""
    session = SparkSession._instantiatedSession
    if session is None or is_alive(session):
        return
    if SparkContext._gateway is not None and _is_own(session):
        with suppress(*FAILURES):
            SparkContext._gateway.shutdown()
    session.sparkContext._jsc = None
    SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = None


@contextmanager
def quiet() -> Iterator[None]:
    """PySpark warns of versions of pandas, which plays no part here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
        yield
