"""publish: the methods that were compared, on a terminal and for a program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.custody.publish.tables import PEOPLE, write_all


@pytest.fixture
def publish(run, tmp_path: Path):
    """Publish a small clinic under a policy with this method."""
    source = write_all(tmp_path)
    run("init")

    def go(method: str, *options: str):
        policy = tmp_path / f"{method}.toml"
        policy.write_text(PEOPLE.but(anonymise={"method": method, "statistics": ["count", "mean(age)"]}))
        return run("publish", "--policy", str(policy), "--source", str(source), *options)

    return go


def test_the_comparison_is_a_table(publish):
    lines = publish("auto").stdout.splitlines()
    begin = lines.index("Methods, and how wide each makes the range of each statistic")
    assert lines[begin + 1].split() == ["method", "k", "classes", "NCP", "count", "mean(age)", "seconds"]
    assert " (published)  5 " in lines[begin + 2]
    assert sum("(published)" in line for line in lines) == 1
    assert any(line.startswith("  mondrian-relaxed") for line in lines[begin:])
    assert "%" in lines[begin + 2]


def test_a_named_method_shows_its_widths(publish):
    lines = publish("top-down").stdout.splitlines()
    begin = lines.index("Methods, and how wide each makes the range of each statistic")
    assert lines[begin + 2].startswith("  top-down (published)")


def test_for_a_program(publish):
    told = json.loads(publish("auto", "--format", "json").stdout)["comparison"]
    assert told[0]["chosen"] is True
    assert {"method", "k", "classes", "ncp", "widths", "seconds", "chosen", "note"} == set(told[0])
    assert list(told[0]["widths"]) == ["count", "mean(age)"]
