"""The wall around raw rows, in the import contracts: an import planted in any serving package breaks them."""

from __future__ import annotations

import re
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
    "querygate_adapters.control",
    "querygate_adapters.store",
)
SECRET = {
    "querygate.custody": "querygate.custody.use_cases.vault_keys",
    "querygate.methods": "querygate.methods.dp",
    "querygate_adapters.vault": "querygate_adapters.vault.verifier_counts",
    "querygate_adapters.sources": "querygate_adapters.sources.spark_table",
}


# Beside the wall, what each of the other contracts forbids: who may not import what.
OTHERS = {
    "querygate.core": ("querygate.gate", "sqlglot"),
    "querygate.sql": ("querygate.stats", "duckdb"),
    "querygate.bounds": ("querygate_adapters.store", "sqlglot"),
    "querygate.stats": ("querygate.methods.dp", "duckdb"),
    "querygate.estimates": ("querygate.control", "sqlite3"),
    "querygate.gate": ("querygate.site", "sqlglot", "duckdb", "flask"),
    "querygate.methods.dp": ("querygate.methods.risk", "diffprivlib", "psycopg"),
    "querygate.client": ("querygate.sql", "numpy", "flask"),
    "querygate.web": ("querygate.wire", "sqlglot"),
    "querygate.federation": ("querygate.custody", "querygate.web"),
    "querygate.custody.verify": ("querygate.custody.publish", "sqlglot"),
    "querygate.custody.noisy_models": ("sqlglot", "querygate.cli"),
    "querygate.custody.extract": ("diffprivlib", "sklearn"),
    "querygate_adapters.vault": ("querygate.custody", "sqlglot"),
}


def broken_by(folder: Path) -> str:
    """What the contracts say of a copy of the product."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--no-cache", "--config", "pyproject.toml"],
        cwd=folder,
        env={"PYTHONPATH": f"{folder}:{folder / 'adapters'}", "PATH": "/usr/bin:/bin", "COLUMNS": "500"},
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert "Contracts:" in done.stdout, done.stdout + done.stderr
    assert (" BROKEN" in done.stdout) == (done.returncode != 0)
    return done.stdout


def plant(copy: Path, package: str, secret: str, name: str) -> str:
    """A module of the package with a forbidden import in a function; how the report names the import."""
    folder = copy / ("adapters" if package.startswith("querygate_adapters") else "") / package.replace(".", "/")
    (folder / f"{name}.py").write_text(f"def peek() -> object:\n    import {secret}\n\n    return {secret}\n")
    return f"{package}.{name} -> {secret} "


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    for name in ("querygate", "adapters"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "data", "static"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_the_contract_names_the_packages_that_the_server_looks_for() -> None:
    assert set(WALL["forbidden_modules"]) == set(CUSTODY) == set(SECRET)
    assert set(WALL["source_modules"]) == set(SERVING)


def test_contracts_are_few_and_name_packages() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[[tool.importlinter.contracts]]")
    assert len(list(filter(None, "".join(text[1:]).splitlines()))) < 45
    named = set(re.findall(r"\bquerygate(?:_adapters)?(?:\.\w+)*", "".join(text[1:])))
    assert not [name for name in named if (ROOT / place_of(name)).with_suffix(".py").exists()]
    assert all((ROOT / place_of(name)).is_dir() for name in named)


def place_of(package: str) -> str:
    return f"{'adapters/' * package.startswith('querygate_adapters')}{package.replace('.', '/')}"


def test_planted_imports_break_the_contracts(copy: Path) -> None:
    """Each serving package tries every way around the wall, and others what is forbidden to them; none is missed."""
    assert " BROKEN" not in broken_by(copy)
    tried = [(package, secret) for package in SERVING for secret in SECRET.values()]
    tried += [(package, secret) for package, forbidden in OTHERS.items() for secret in forbidden]
    named = [plant(copy, package, secret, f"planted_{number}") for number, (package, secret) in enumerate(tried)]
    said = broken_by(copy)
    assert f"{WALL['name']} BROKEN" in said
    assert said.count(" BROKEN") == len(CONTRACTS)
    assert [one for one in named if one not in f"{said} "] == []
