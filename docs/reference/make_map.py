"""Write map.md: every module of the product with the first sentence of its docstring, room by room.

Run: python docs/reference/make_map.py
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = Path(__file__).with_name("map.md")
HEAD = """# Where does it live?

For engineers: every module with one line on what it holds, from its docstring. `make docs` writes this page. The rooms
and who may import whom are in [Architecture](../explanation/architecture.md).
"""


def told(path: Path) -> str:
    """The first sentence of a module's docstring, on one line."""
    text = " ".join((ast.get_docstring(ast.parse(path.read_text())) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[^.]\.) (?=[A-Z`])", text)[0].replace("|", "\\|")


def rooms() -> Iterator[tuple[Path, list[Path]]]:
    for top in (ROOT / "querygate", ROOT / "adapters" / "querygate_adapters"):
        for init in sorted(top.rglob("__init__.py")):
            modules = [path for path in sorted(init.parent.glob("*.py")) if not path.name.startswith("__")]
            if modules:
                yield init, modules


def page() -> str:
    parts = [HEAD]
    for init, modules in rooms():
        rows = [f"| `{path.stem}` | {told(path)} |" for path in modules]
        head = f"## {init.parent.relative_to(ROOT).as_posix()}\n\n{told(init)}".rstrip()
        parts.append("\n".join([head, "", "| module | holds |", "|---|---|", *rows, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
