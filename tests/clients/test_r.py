"""The R package: checked as R checks packages, and its page run as it is, at a served demo study."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from querygate import demo
from querygate.custody.policy import load_policy
from querygate.custody.roots.publish_version import publish_to
from querygate.site.open_gate import open_gate
from querygate.web import create_app
from tests.docs.pages import DOCS, blocks
from tests.docs.test_tutorials import stable
from tests.empty_site import empty_site
from tests.http_gate import http_gate

SOURCES = Path(__file__).parents[2] / "clients" / "r"
NEEDED = "for (name in c('httr2', 'jsonlite', 'vctrs')) stopifnot(requireNamespace(name, quietly = TRUE))"
HANG_S = 300


def has_r() -> bool:
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", NEEDED], capture_output=True, timeout=HANG_S).returncode == 0


pytestmark = pytest.mark.skipif(not has_r(), reason="R and its packages are not installed: see tests/install_tools.sh")


def run(*words: str, folder: Path, **environment: str) -> str:
    """What a program prints, errors included."""
    told = {**os.environ, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", **environment}
    done = subprocess.run(
        words, cwd=folder, env=told, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANG_S
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package is installed."""
    folder = tmp_path_factory.mktemp("library")
    run("R", "CMD", "INSTALL", f"--library={folder}", str(SOURCES), folder=folder)
    return folder


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    opened = open_gate(empty_site(tmp_path_factory.mktemp("r") / "site"))
    for dataset in demo.DATASETS:
        policy: Path = demo.HERE / f"{dataset}.toml"
        publish_to(opened, load_policy(policy), str(policy.with_suffix(".csv")), user="tester")
    opened.accounts.add_user("ann", "researcher")
    with http_gate(create_app(opened)) as url:
        yield url, opened.accounts.new_key("ann").secret


def test_r_finds_nothing_wrong_with_the_package(tmp_path: Path) -> None:
    """Code, documentation and its own tests, as `R CMD check` does."""
    run("R", "CMD", "build", str(SOURCES), folder=tmp_path)
    package = next(tmp_path.glob("querygate_*.tar.gz"))
    told = run("R", "CMD", "check", "--no-manual", package.name, folder=tmp_path, _R_CHECK_FORCE_SUGGESTS_="false")
    assert re.search(r"Status: OK|Status: 1 NOTE", told), told
    assert "ranges.R" in told or "checking tests" in told


def test_the_page_prints_what_is_shown(library: Path, gate: tuple[str, str], tmp_path: Path) -> None:
    """All blocks are one session, as somebody would type them in."""
    shown = [block for block in blocks(DOCS / "how-to" / "ask-from-r.md") if block.language == "r"]
    lines = ['options(width = 120); echo <- function(code) for (one in parse(text = code, keep.source = TRUE)) '
             '{ told <- withVisible(eval(one, globalenv())); if (told$visible) print(told$value) }']  # fmt: skip
    for number, block in enumerate(shown):
        (tmp_path / f"{number}.R").write_text(block.text.replace("https://gate.example.org", gate[0]))
        lines += [f'cat("#{number}#\\n"); echo(readLines("{number}.R"))']
    lines += ['pdf("plot.pdf"); plot(answer, "mean"); invisible(dev.off()); stopifnot(file.size("plot.pdf") > 1000)']
    lines += ["stopifnot(nrow(qg_history(gate)) >= 2, nzchar(qg_provenance(answer)$policy_hash))"]
    (tmp_path / "page.R").write_text("\n".join(lines))
    told = run("Rscript", "page.R", folder=tmp_path, R_LIBS=str(library), QUERYGATE_KEY=gate[1])
    parts = re.split(r"#\d+#\n", told)[1:]
    for block, printed in zip(shown, parts, strict=True):
        assert block.output is not None
        assert stable(printed) == stable(block.output.text), str(block)
