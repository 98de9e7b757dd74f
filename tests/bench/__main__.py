"""`make bench [ONLY=name]`: run the benchmarks, print a table, write build/bench.json.

A benchmark is a module of this folder with `run() -> list[dict]`; rows have name, value, unit, against, ratio, target
and met. Peers run side by side in the same run, so ratios mean something on any machine.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from pathlib import Path
from typing import Any

FIELDS = ("name", "value", "unit", "against", "ratio", "target", "met")
HELPERS = ("__main__",)


def main(only: list[str]) -> int:
    here = Path(__file__).parent
    names = [m.name for m in pkgutil.iter_modules([str(here)]) if m.name not in HELPERS and (not only or m.name in only)]
    if not names:
        print(f"no benchmark of that name; there are: {', '.join(m.name for m in pkgutil.iter_modules([str(here)]))}")
        return 2
    rows: list[dict[str, Any]] = []
    for name in names:
        print(f"running {name} ...", flush=True)
        rows += importlib.import_module(f"tests.bench.{name}").run()
    widths = [max(len(field), *(len(_text(row.get(field))) for row in rows)) for field in FIELDS]
    for row in [dict(zip(FIELDS, FIELDS, strict=True)), *rows]:
        print("  ".join(_text(row.get(field)).ljust(width) for field, width in zip(FIELDS, widths, strict=True)))
    build = Path("build")
    build.mkdir(exist_ok=True)
    (build / "bench.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
