"""What a change of the demo survey's policy does: the figures that docs/how-to/write-a-policy.md shows.

A row of a table there begins with the change (`columns.age.weight = 8`, or no `columns.age.cuts`, or as it is); the
other cells are named by the table's heading.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from querygate import demo
from querygate.core.types import Principal, Request
from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer
from querygate.gate.render import make_body
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from tests.docs.pages import DOCS

PAGE = DOCS / "how-to" / "write-a-policy.md"
WHERE = {
    "A": "TRUE",
    "B": "age BETWEEN 40 AND 59",
    "C": "age BETWEEN 45 AND 54",
    "D": "ethnicity = 'white' AND sex = 'female' AND age >= 60",
    "E": "systolic >= 140",
}


@dataclass(frozen=True)
class Row:
    """One row of a table: its place in the page, the change, and figure by name."""

    line: int
    change: str
    figures: dict[str, str]

    def __str__(self) -> str:
        return f"{PAGE.name}:{self.line}"


def rows() -> list[Row]:
    found, names = [], []
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells[:1] == ["change"]:
            names = cells[1:]
        elif not cells:
            names = []
        elif names and not cells[0].startswith("-"):
            found.append(Row(number, cells[0], dict(zip(names, cells[1:], strict=True))))
    return found


def changes() -> list[str]:
    """Every change that the page shows."""
    return sorted({row.change for row in rows()})


def wrong(change: str) -> list[str]:
    """Rows of the page whose figures are not those of this version."""
    found = measure(change)
    return [
        str(row)
        for row in rows()
        if row.change == change and row.figures != {name: found[name] for name in row.figures}
    ]


@cache
def measure(change: str) -> dict[str, str]:
    """Publish the survey under the changed policy; every figure that a table may show."""
    with TemporaryDirectory() as folder:
        opened = open_gate(init_site(Path(folder) / "site"))
        report = publish_to(opened, parse_policy(changed(change)), str(demo.HERE / "survey.csv"), user="tester")
        figures = {"classes": str(report.classes)}
        figures |= {f"l {name}": str(least) for name, least in report.measured.l.items()}
        figures |= {f"t {name}": f"{distance:.2f}" for name, distance in report.measured.t.items()}
        figures |= {f"hull {name}": f"{width:g}" for name, width in report.measured.hull.items()}
        for name, where in WHERE.items():
            sql = f"SELECT COUNT(*) AS people, AVG(systolic) AS mean FROM survey WHERE {where}"
            found = make_body(answer(Request(Principal("tester", "researcher"), "survey", sql), opened.gate))["rows"][0]
            figures[f"{name} people"] = f"{found['people']['high'] - found['people']['low']:,}"
            figures[f"{name} mean"] = f"{found['mean']['high'] - found['mean']['low']:.1f}"
    return figures


def changed(change: str) -> str:
    """The survey's policy as TOML, after the change."""
    policy = tomllib.loads((demo.HERE / "survey_by_classes.toml").read_text(encoding="utf-8"))
    for without, key, value in re.findall(r"(no )?`([\w.]+)(?: = ([^`]+))?`", change):
        *path, last = key.split(".")
        table: dict[str, Any] = policy
        for name in path:
            table = table[name]
        if without:
            del table[last]
        else:
            table[last] = tomllib.loads(f"value = {value}")["value"]
    return "\n".join(_toml(policy, ()))


def _toml(table: dict[str, Any], path: tuple[str, ...]) -> list[str]:
    lines = [f"[{'.'.join(path)}]"] if path else []
    lines += [
        f"{key} = {_value(value)}" for key, value in table.items() if not isinstance(value, dict) or "kind" in value
    ]
    for key, value in table.items():
        if isinstance(value, dict) and "kind" not in value:
            lines += _toml(value, (*path, key))
    return lines


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
