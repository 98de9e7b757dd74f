"""A Spark of the tests' own, on two threads of this machine: begun on first use, gone when the test run ends.

Its tests run first (`run_first`), so one process of a run in parallel has all of them, and begins the only one.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

MISSING = "Spark's tests need PySpark and a Java runtime (17 or later): tests/install_spark.sh installs them."
MASTER = "local[2]"
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.showConsoleProgress": "false",
    # What is asked here is small and asked once: to compile it would take longer than to run it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss4m",
}
MARKS = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # its sockets are closed with the process
]


@cache
def begin() -> Any:
    """The session of this test process."""
    if importlib.util.find_spec("pyspark") is None or not find_java():
        if os.geteuid() == 0:
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    folder = tempfile.mkdtemp(prefix="querygate-spark-")
    settings = SETTINGS | {"spark.sql.warehouse.dir": folder, "spark.local.dir": folder}
    told = " ".join(f"--conf '{name}={value}'" for name, value in settings.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master {MASTER} --driver-memory 1g {told} pyspark-shell"
    from querygate_adapters.store.spark_session import open_session

    return open_session("QG802"), Path(folder)


def session() -> Any:
    return begin()[0]


def find_java() -> str | None:
    """The Java that Spark will run on."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")


def stop() -> None:
    if begin.cache_info().currsize:
        from pyspark.sql import SparkSession

        found, folder = SparkSession._instantiatedSession, begin()[1]  # a test may have killed the first
        with suppress(Exception):
            found.stop()
        shutil.rmtree(folder, ignore_errors=True)
        begin.cache_clear()


def run_first(items: list[pytest.Item]) -> None:
    """Tests with the mark come first: what a process has begun with is not taken over by another."""
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
