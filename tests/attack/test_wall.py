"""The wall around raw rows, in the import contracts: an import planted in any serving package breaks them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from querygate.cli.serve import CUSTODY
from tests.places import ROOT
from tests.work import HANG_S

CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
(WALL,) = (contract for contract in CONTRACTS if "raw row" in contract["name"])
SERVING = (
    "querygate.gate",
    "querygate.site",
    "querygate.web",
    "querygate.wire",
    "querygate.control",
    "querygate_adapters.store",
)
SECRET = {
    "querygate.custody": "querygate.custody.roots.vault_keys",
    "querygate.methods": "querygate.methods.dp",
    "querygate_adapters.vault": "querygate_adapters.vault.verifier_counts",
    "querygate_adapters.sources": "querygate_adapters.sources.spark_table",
}


def kept(folder: Path) -> bool:
    """Does the wall stand in this copy of the product?"""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--no-cache", "--config", "pyproject.toml"],
        cwd=folder,
        env={"PYTHONPATH": f"{folder}:{folder / 'adapters'}", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert "Contracts:" in done.stdout, done.stdout + done.stderr
    broken = [line for line in done.stdout.splitlines() if line.endswith(" BROKEN")]
    assert bool(broken) == (done.returncode != 0)
    return f"{WALL['name']} BROKEN" not in broken


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("querygate", "adapters"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "data", "static"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contract_names_the_packages_that_the_server_looks_for() -> None:
    assert set(WALL["forbidden_modules"]) == set(CUSTODY) == set(SECRET)
    assert set(WALL["source_modules"]) == set(SERVING)


def test_it_stands(copy: Path) -> None:
    assert kept(copy)


@pytest.mark.parametrize("package", SERVING)
def test_a_planted_import_breaks_it(package: str, copy: Path) -> None:
    """Each serving package tries another way around, and one of them through a module that serves."""
    number = SERVING.index(package)
    secret = list(SECRET.values())[number % len(SECRET)]
    folder = copy / ("adapters" if package.startswith("querygate_adapters") else "") / package.replace(".", "/")
    (folder / "planted.py").write_text(f"def peek() -> object:\n    import {secret}\n\n    return {secret}\n")
    assert not kept(copy)
