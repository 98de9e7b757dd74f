#!/usr/bin/env bash
# What the tests need beyond Python: PostgreSQL's programs, a browser, network namespaces, and R and Java with their
# drivers for PostgreSQL; nginx, Caddy and Prometheus. Quick where they are there already.
set -euo pipefail

packages=()
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || packages+=(postgresql)
command -v chromium >/dev/null || command -v google-chrome >/dev/null || packages+=(chromium fonts-dejavu-core)
PATH="$PATH:/usr/sbin:/sbin" command -v ip >/dev/null || packages+=(iproute2)
command -v psql >/dev/null || packages+=(postgresql-client)
command -v javac >/dev/null || packages+=(default-jdk-headless)
[ -e /usr/share/java/postgresql.jar ] || packages+=(libpostgresql-jdbc-java)
[ -d /usr/lib/R/site-library/RPostgreSQL ] || packages+=(r-base-core r-cran-dbi r-cran-rpostgresql r-cran-dplyr r-cran-dbplyr)
command -v Rscript >/dev/null || packages+=(r-base-core)
for name in httr2 jsonlite vctrs; do
  [ -d "/usr/lib/R/site-library/$name" ] || [ -d "/usr/local/lib/R/site-library/$name" ] || packages+=("r-cran-$name")
done
say() { echo "tests/install_tools.sh: $*" >&2; }

# What reads the files in deploy/ is unpacked into build/tools and not installed: nothing of it is ever started.
unpack() {
  PATH="$PATH:/usr/sbin" command -v "$2" >/dev/null || compgen -G "build/tools/usr/*/$2" >/dev/null && return
  command -v dpkg >/dev/null || return 0
  mkdir -p build/tools
  (cd build/tools && apt-get download -qq "$1" && dpkg -x "$1"_*.deb . && rm "$1"_*.deb) >/dev/null 2>&1 ||
    say "There is no $2: the test that reads its file in deploy/ is skipped."
}
unpack nginx nginx
unpack caddy caddy
unpack prometheus promtool

[ ${#packages[@]} -gt 0 ] || exit 0

if [ "$(id -u)" = 0 ]; then
  run=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  run=(sudo -n)
else
  say "There is no permission to install ${packages[*]}: the tests that need them will be skipped."
  say "To run them, have somebody install them (Debian: apt-get install ${packages[*]})."
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  say "Install PostgreSQL's server programs (initdb, postgres) and Chromium, then run the tests again."
  exit 1
fi

say "installing ${packages[*]}"
# The tests make a server of their own; the one that Debian would start is not wanted.
"${run[@]}" mkdir -p /etc/postgresql-common
[ -e /etc/postgresql-common/createcluster.conf ] ||
  echo "create_main_cluster = false" | "${run[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
if ! { "${run[@]}" apt-get update -qq &&
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -yqq --no-install-recommends \
    -o Dpkg::Options::=--force-confold "${packages[@]}"; } >&2; then
  say "${packages[*]} could not be installed. Install them, then run the tests again."
  exit 1
fi
