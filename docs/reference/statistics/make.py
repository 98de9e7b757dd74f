"""Heads of the pages in this folder, and the table of the index, from the registries of statistics.

A page is a head, which is derived, a mark, and an explanation, which is written by people and kept as it is.
Run: python docs/reference/statistics/make.py
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from querygate import stats
from querygate.core.registry import Registry

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
MARK = "<!-- Above: from the registry, by make.py. Below: written by hand. -->\n"
TABLE = "<!-- Below: from the registry, by make.py. -->\n"
SECTIONS = ("## Definition", "## Algorithm", "## Complexity", "## When it is sharp", "## Reference")
ANSWERS = {"count": "a whole number", "value": "of the type of the column", "number": "a real number"}


def members() -> Iterator[Any]:
    """Every registered statistic, of one column, of two, or of whatever else there is a registry for."""
    registries = [value for value in vars(stats).values() if isinstance(value, Registry)]
    for registry in sorted(registries, key=lambda registry: registry is not stats.STATISTICS):
        yield from (registry.get(name) for name in registry)


def head(member: Any) -> str:
    """What the registry knows about a statistic."""
    proof = Path(member.proof)
    rows = [("Python", f"`{_call(member)}`")]
    if getattr(member, "result", None):
        rows.append(("Answer", ANSWERS[member.result]))
    rows.append(("Proof", f"[{proof.stem}](../../explanation/proofs/{proof.name})"))
    table = "".join(f"| {key} | {value} |\n" for key, value in rows)
    summary = member.summary[:1].upper() + member.summary[1:]
    return f"# `{member.name}`\n\n{summary}.\n\n| | |\n|---|---|\n{table}\n{MARK}"


def _call(member: Any) -> str:
    """How it is called from Python: by its function where there is one, else on cells."""
    function = getattr(stats, member.name, None)
    if not inspect.isfunction(function):
        return f"{member.name}(cells)"
    given = [p for p in inspect.signature(function).parameters.values() if p.name != "integer"]
    words = [f"{p.name}=..." if p.kind is inspect.Parameter.KEYWORD_ONLY else p.name for p in given]
    return f"stats.{member.name}({', '.join(words)})"


def explanation(page: Path) -> str:
    """What people wrote on a page; nothing where there is no page yet."""
    return page.read_text(encoding="utf-8").partition(MARK)[2] if page.exists() else ""


def index(registered: Iterable[Any]) -> str:
    """The index: its own text, and a row for each statistic with the first sentence on when it is sharp."""
    text = (HERE / "index.md").read_text(encoding="utf-8").partition(TABLE)[0]
    rows = ["| statistic | what | sharp | proof |", "|---|---|---|---|"]
    for member in registered:
        proof = Path(member.proof)
        link = f"[{proof.stem}](../../explanation/proofs/{proof.name})"
        rows.append(f"| [`{member.name}`]({member.name}.md) | {member.summary} | {sharpness(member.name)} | {link} |")
    return f"{text}{TABLE}\n" + "\n".join(rows) + "\n"


def sharpness(name: str) -> str:
    """The first sentence of the section on sharpness."""
    section = explanation(HERE / f"{name}.md").partition("## When it is sharp\n")[2].strip()
    return " ".join(section.split("\n\n")[0].split()).partition(". ")[0].rstrip(".")


def main() -> None:
    for member in members():
        page = HERE / f"{member.name}.md"
        if not page.exists():
            raise SystemExit(f"{page.relative_to(ROOT)} is missing: write its sections {', '.join(SECTIONS)}")
        page.write_text(head(member) + explanation(page), encoding="utf-8")
    (HERE / "index.md").write_text(index(members()), encoding="utf-8")


if __name__ == "__main__":
    main()
