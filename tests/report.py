"""What benchmarks and soaks share: run modules of a folder, print one table, write one JSON file."""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path
from typing import Any

FIELDS = ("name", "value", "unit", "against", "ratio", "target", "met")


def row(
    name: str,
    value: float,
    unit: str,
    against: str = "",
    *,
    ratio: float | None = None,
    target: float | None = None,
    met: bool | None = None,
) -> dict[str, Any]:
    """One line of the table. With a ratio and a target, met means ratio <= target unless told."""
    if met is None and ratio is not None and target is not None:
        met = ratio <= target
    return {
        "name": name,
        "value": value,
        "unit": unit,
        "against": against,
        "ratio": ratio,
        "target": target,
        "met": None if met is None else bool(met),  # numpy has a bool of its own, which JSON does not know
    }


def main(package: str, output: str, only: list[str]) -> int:
    """Run `run()` of every module of the package (or of those named); 1 if a target was missed."""
    folder = Path(__file__).parent / package.rpartition(".")[2]
    names = [m.name for m in pkgutil.iter_modules([str(folder)]) if m.name != "__main__"]
    unknown = [name for name in only if name not in names]
    if unknown:
        print(f"there is no {', '.join(unknown)}; there are: {', '.join(names)}")
        return 2
    rows: list[dict[str, Any]] = []
    for name in only or names:
        print(f"running {name} ...", flush=True)
        rows += importlib.import_module(f"{package}.{name}").run()
    lines = [dict(zip(FIELDS, FIELDS, strict=True)), *rows]
    widths = [max(len(_text(line.get(field))) for line in lines) for field in FIELDS]
    for line in lines:
        print("  ".join(_text(line.get(f)).ljust(w) for f, w in zip(FIELDS, widths, strict=True)).rstrip())
    Path("build").mkdir(exist_ok=True)
    Path("build", output).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(any(line["met"] is False for line in rows))


def _text(value: Any) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
