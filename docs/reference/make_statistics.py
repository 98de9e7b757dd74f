"""Write the table of docs/reference/statistics.md from the registries; its other text is written by hand.

Run: python docs/reference/make_statistics.py
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from querygate import stats
from querygate.core.registry import Registry
from querygate.sql.aggregates import NAMES

PAGE = Path(__file__).with_name("statistics.md")
BEGIN, END = "<!-- table: begin (from the registry, by make_statistics.py) -->\n", "<!-- table: end -->\n"
ARGUMENTS = {"column": ("x",), "pair": ("y", "x"), "groups": ("x", "a"), "table": ("a", "b")}
WRITTEN = {"count": "`COUNT(*)`", "count_distinct": "`COUNT(DISTINCT x)`", "ratio_of_sums": "`SUM(x) / SUM(y)`",
           "weighted_mean": "`SUM(y * x) / SUM(y)`"}  # fmt: skip
SECTION = r"^### `(\w+)`\n(.*?)(?=^##|\Z)"
SHARP = r"\*Sharp:\* (.+?)[.;:](?:\s|$)"


def members() -> Iterator[Any]:
    """Every registered statistic, those of one column first."""
    registries = [value for value in vars(stats).values() if isinstance(value, Registry)]
    for registry in sorted(registries, key=lambda registry: registry is not stats.STATISTICS):
        yield from (registry.get(name) for name in registry)


def sections(page: str) -> dict[str, str]:
    """What people wrote about each statistic, each paragraph on one line."""
    found = re.findall(SECTION, page, flags=re.MULTILINE | re.DOTALL)
    return {name: re.sub(r"(?<!\n)\n(?!\n)", " ", text) for name, text in found}


def table(registered: Iterable[Any], written: dict[str, str]) -> str:
    """A row for each statistic, in the order of the sections."""
    rows = ["| statistic | SQL | Python | meaning | sharp | proof |", "|---|---|---|---|---|---|"]
    order = list(written)
    for member in sorted(registered, key=lambda member: order.index(member.name)):
        proof = Path(member.proof)
        sharp = re.findall(SHARP, written[member.name])
        if not sharp:
            raise SystemExit(f"{PAGE.name}: the section on {member.name} does not say when it is sharp (*Sharp:*)")
        rows.append(
            f"| [`{member.name}`](#{member.name}) | {in_sql(member.name)} | `{in_python(member)}` | {member.summary} | "
            f"{sharp[0]} | [{proof.stem}](../explanation/proofs/{proof.name}) |"
        )
    return "\n".join(rows) + "\n"


def in_sql(name: str) -> str:
    calls = []
    for word, aggregation in NAMES.items():
        if aggregation.statistic == name:
            parameters = ["p" if "quantile" in word else "t" for default in aggregation.parameters if default is None]
            calls.append(f"`{word.upper()}({', '.join([*ARGUMENTS[aggregation.family], *parameters])})`")
    return WRITTEN.get(name) or ", ".join(calls)


def in_python(member: Any) -> str:
    function = getattr(stats, member.name)
    given = [p for p in inspect.signature(function).parameters.values() if p.name != "integer"]
    words = [f"{p.name}=..." if p.kind is inspect.Parameter.KEYWORD_ONLY else p.name for p in given]
    return f"stats.{member.name}({', '.join(words)})"


def page() -> str:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table(members(), sections(text))}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
