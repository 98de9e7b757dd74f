"""One question over two gates, from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from querygate.cli import main
from querygate.web import create_app
from tests.api.small_site import make_small_site
from tests.http_gate import http_gate

SQL = "SELECT sex, COUNT(*) AS n, AVG(sbp) AS mean FROM anything GROUP BY sex"


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("federation")
    north, south = (make_small_site(folder / name) for name in ("north", "south"))
    with http_gate(create_app(north.opened)) as one, http_gate(create_app(south.opened)) as other:
        lines = []
        for name, site, url in (("north", north, one), ("south", south, other)):
            (folder / f"{name}.key").write_text(site.keys["carl"])
            lines += [f"[gates.{name}]", f'url = "{url}"', 'dataset = "clinic"', f'key_file = "{name}.key"']
        (folder / "gates.toml").write_text("\n".join(lines))
        yield folder / "gates.toml"


def federate(gates: Path, sql: str, *more: str) -> Result:
    return CliRunner().invoke(main, ["federate", "--gates", str(gates), *more, sql])


def test_counts_of_two_gates_add_up(gates: Path) -> None:
    """Both have the same forty patients."""
    told = json.loads(federate(gates, SQL, "--format", "json").stdout)
    assert [member["name"] for member in told["members"]] == ["north", "south"]
    assert [row["sex"] for row in told["rows"]] == ["F", "M"]
    assert all(row["n"]["low"] <= 40 <= row["n"]["high"] for row in told["rows"])


def test_tables_say_where_they_came_from(gates: Path) -> None:
    told = federate(gates, SQL)
    assert told.exit_code == 0, told.output
    assert "Put together from 2 gates" in told.output
    assert "north: clinic, version 1; q_" in told.output
    assert federate(gates, SQL, "--format", "csv").stdout.startswith("sex,n_low,n_high")


def test_a_gate_that_refuses_is_named(gates: Path) -> None:
    told = federate(gates, "SELECT AVG(weight) FROM t")
    assert told.exit_code == 1
    assert "QG203" in told.output
    assert "north: " in told.output


def test_a_gate_that_cannot_be_reached_is_named(gates: Path, tmp_path: Path) -> None:
    text = gates.read_text().replace('"north.key"', f'"{gates.parent / "north.key"}"')
    lines = [*text.replace('"south.key"', f'"{gates.parent / "south.key"}"').splitlines()]
    lines[5] = 'url = "http://127.0.0.1:9"'
    (tmp_path / "gates.toml").write_text("\n".join(lines))
    told = federate(tmp_path / "gates.toml", SQL)
    assert told.exit_code == 2
    assert "south: Nothing answers" in told.output


@pytest.mark.parametrize(
    "text",
    ["", "x", "[gates.a]\nurl = 'http://localhost'", "gates = 3", "[gates.a]\n[gates.b]\n", "[other]\n", "\xff"],
)
def test_a_file_that_lists_no_gates(text: str, tmp_path: Path) -> None:
    (tmp_path / "gates.toml").write_bytes(text.encode("latin-1"))
    told = federate(tmp_path / "gates.toml", SQL)
    assert told.exit_code == 2
    assert "QG805" in told.output


def test_no_file_and_no_key(gates: Path, tmp_path: Path) -> None:
    assert "QG805" in federate(tmp_path / "none.toml", SQL).output
    text = gates.read_text().replace("north.key", "none.key")
    (tmp_path / "gates.toml").write_text(text)
    assert federate(tmp_path / "gates.toml", SQL).exit_code == 2
