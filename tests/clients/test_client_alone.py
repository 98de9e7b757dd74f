"""The client's own distribution, in an environment that has nothing of the server: it asks a real gate."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from querygate.web import create_app
from tests.api.small_site import make_small_site
from tests.http_gate import http_gate
from tests.work import HANG_S

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "clients" / "python"

PROGRAM = """
import importlib.util, os
import querygate

missing = [name for name in ("duckdb", "flask", "numpy", "pyarrow", "click") if importlib.util.find_spec(name)]
assert not missing, missing
gate = querygate.connect(os.environ["GATE"], dataset="clinic")
answer = gate.query("SELECT sex, COUNT(*) AS n FROM clinic GROUP BY sex")
print([(row["sex"], row["n"].low, row["n"].high) for row in answer])
print(answer)
try:
    gate.query("SELECT * FROM clinic")
except querygate.client.Refusal as refused:
    print(refused.code, refused.suggestion)
from querygate.client import dbapi
with dbapi.connect(os.environ["GATE"], dataset="clinic", ranges="columns") as connection:
    print(connection.cursor().execute("SELECT COUNT(*) AS n FROM clinic").fetchone()[:2])
"""


def needs(name: str, found: set[str]) -> set[str]:
    """A distribution and what it needs itself, extras apart."""
    if name not in found:
        found.add(name)
        for need in distribution(name).requires or ():
            if ";" not in need:
                needs(re.split(r"[^\w.-]", need, maxsplit=1)[0], found)
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel, and with the libraries that it names."""
    folder = tmp_path_factory.mktemp("alone")
    wheel = next(WheelBuilder(str(SOURCES)).build(directory=str(folder)))
    venv.create(folder / "env", symlinks=True)
    packages = next((folder / "env" / "lib").glob("python*")) / "site-packages"
    with zipfile.ZipFile(wheel) as made:
        made.extractall(packages)
        told = next(made.read(name).decode() for name in made.namelist() if name.endswith("/METADATA"))
    own = re.findall(r"^Requires-Dist: ([\w.-]+)[^;\n]*$", told, flags=re.MULTILINE)
    assert own == ["httpx"]
    for name in set().union(*(needs(one, set()) for one in own)):
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
            place = Path(str(found.locate_file(top)))
            if place.exists() and not (packages / top).exists():
                (packages / top).symlink_to(place)
    return folder / "env" / "bin" / "python"


def test_it_asks_a_gate_without_the_server(python: Path, tmp_path: Path) -> None:
    site = make_small_site(tmp_path)
    with http_gate(create_app(site.opened)) as url:
        environment = {"GATE": url, "QUERYGATE_KEY": site.keys["ann"], "PATH": os.environ["PATH"]}
        command = [str(python), "-I", "-W", "error", "-c", PROGRAM]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=HANG_S)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "[('F', 20, 20), ('M', 20, 20)]"
    assert "F    20 exactly  20 exactly" in lines
    assert lines[-2:] == ["QG201 SELECT COUNT(*) FROM clinic", "(40, 40)"]


def test_the_wheel_has_the_version_of_the_server() -> None:
    versions = [tomllib.loads((at / "pyproject.toml").read_text())["project"]["version"] for at in (ROOT, SOURCES)]
    assert versions[0] == versions[1]


def test_nothing_of_the_server_is_imported() -> None:
    program = "import sys, querygate.client, querygate.client.dbapi; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"duckdb", "flask", "numpy", "pyarrow", "scipy", "sqlglot"}  # httpx itself looks for click
