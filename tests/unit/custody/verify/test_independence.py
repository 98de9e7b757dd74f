"""The verifier of views shares no code with what makes them."""

from __future__ import annotations

import ast
from pathlib import Path

import querygate.custody.verify
from querygate.methods.views import balance_check, certificate_check

CHECKERS = ("querygate.methods.views.balance_check", "querygate.methods.views.certificate_check")


def imported(path: Path) -> set[str]:
    """Modules of the product that a file imports from."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    named |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return {name for name in named if name.split(".")[0] == "querygate"}


def test_the_checker_knows_the_words_of_the_product_alone() -> None:
    assert imported(Path(certificate_check.__file__)) == {"querygate.core.types"}
    assert imported(Path(balance_check.__file__)) == {"querygate.core.types", CHECKERS[1]}


def test_of_views_the_verifier_uses_the_checker_alone() -> None:
    (folder,) = querygate.custody.verify.__path__
    of_views = {
        name
        for path in Path(folder).glob("*.py")
        for name in imported(path)
        if name.startswith("querygate.methods.views")
    }
    assert of_views == set(CHECKERS)
