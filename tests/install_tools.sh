#!/usr/bin/env bash
# What the tests need beyond Python: PostgreSQL's server programs. Quick where they are there already.
set -euo pipefail

if compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null; then
  exit 0
fi

say() { echo "tests/install_tools.sh: $*" >&2; }

if [ "$(id -u)" = 0 ]; then
  run=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  run=(sudo -n)
else
  say "PostgreSQL is not installed, and there is no permission to install it: its tests will be skipped."
  say "To run them, have somebody install it (Debian: apt-get install postgresql)."
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  say "PostgreSQL is not installed. Install its server programs (initdb, postgres), then run the tests again."
  exit 1
fi

say "installing PostgreSQL"
# The tests make a server of their own; the one that Debian would start is not wanted.
"${run[@]}" mkdir -p /etc/postgresql-common
[ -e /etc/postgresql-common/createcluster.conf ] ||
  echo "create_main_cluster = false" | "${run[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
if ! { "${run[@]}" apt-get update -qq &&
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -yqq --no-install-recommends \
    -o Dpkg::Options::=--force-confold postgresql; } >&2; then
  say "PostgreSQL could not be installed. Install the package postgresql, then run the tests again."
  exit 1
fi
