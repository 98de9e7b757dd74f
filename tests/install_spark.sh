#!/usr/bin/env bash
# What the tests on Spark need: a Java runtime, 17 or later, and the extra `spark`. Quick where both are there already.
set -euo pipefail
pip="$1"

say() { echo "tests/install_spark.sh: $*" >&2; }

java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
major() { "$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p'; }

if ! command -v "$java" >/dev/null || [ "$(major)" -lt 17 ]; then
  if [ "$(id -u)" = 0 ]; then
    run=()
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    run=(sudo -n)
  else
    say "There is no Java runtime (17 or later), and no permission to install one: the tests on Spark will not be run."
    say "To run them, have somebody install one (Debian: apt-get install default-jre-headless)."
    exit 0
  fi
  if ! command -v apt-get >/dev/null; then
    say "Install a Java runtime (17 or later), then run the tests again."
    exit 1
  fi
  say "installing a Java runtime"
  if ! { "${run[@]}" apt-get update -qq &&
    "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -yqq --no-install-recommends \
      default-jre-headless; } >&2; then
    say "A Java runtime could not be installed. Install one (17 or later), then run the tests again."
    exit 1
  fi
fi

if ! "$pip" show --quiet pyspark 2>/dev/null; then
  say "installing PySpark"
  if ! "$pip" install --quiet --disable-pip-version-check -e ".[spark]"; then
    say "PySpark could not be installed. Install it, then run the tests again."
    exit 1
  fi
fi
