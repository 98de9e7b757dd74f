#!/usr/bin/env bash
# What the tests on Spark need: the extra `spark`, where there is a Java runtime for it. Quick where it is there already.
set -euo pipefail
pip="$1"

say() { echo "tests/install_spark.sh: $*" >&2; }

if ! command -v java >/dev/null; then
  say "there is no Java runtime: the tests on Spark will be skipped (Debian: apt-get install default-jre-headless)."
elif ! "$pip" show --quiet pyspark 2>/dev/null; then
  say "installing PySpark"
  "$pip" install --quiet --disable-pip-version-check -e ".[spark]" ||
    say "PySpark could not be installed: its tests will be skipped."
fi
