"""The pages about clients, run as they are: each page is one program (or one terminal) at a served demo study, and
prints what is shown. Ids, times and hashes are other ones each time. QUERYGATE_RECORD=1 writes what has changed into
the pages."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import re
import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib
import nbclient
import nbformat
import pytest
from click.testing import CliRunner
from sqlalchemy.dialects import registry

from querygate.cli import main
from querygate.site.open_gate import OpenSite
from querygate.web import create_app
from tests.clients.r_program import SOURCES, needs_r, run
from tests.docs.pages import DOCS, Block, blocks
from tests.docs.test_tutorials import stable
from tests.http_gate import http_gate
from tests.work import HANG_S

SHOWN = "https://gate.example.org"
PROGRAMS = ("ask-from-python.md", "ask-from-sql-tools.md")
TERMINALS = ("ask-from-the-command-line.md", "reproduce-figures.md", "make-dummy-rows.md")
NOTEBOOK = DOCS / "how-to" / "ask-from-a-notebook.ipynb"

matplotlib.use("agg")


@pytest.fixture(scope="module")
def gate(ann: OpenSite) -> Iterator[tuple[str, str]]:
    """Where the demo study is served, and Ann's key."""
    with http_gate(create_app(ann)) as url:
        yield url, ann.accounts.keys.new("ann").secret


@pytest.fixture
def there(gate: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty folder and the key in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("QUERYGATE_SITE", raising=False)
    monkeypatch.setenv("QUERYGATE_KEY", gate[1])
    for name, kind in (("querygate", "HttpsDialect"), ("querygate.http", "HttpDialect")):
        registry.register(name, "querygate.client.sqlalchemy_dialect", kind)
    return gate[0]


def placed(text: str, url: str) -> str:
    """The text with the address of this gate in place of the one that is shown."""
    return text.replace("querygate://gate.example.org", f"querygate+http://{url.partition('//')[2]}").replace(
        SHOWN, url
    )


def same(block: Block, printed: str, url: str) -> None:
    if block.output is not None and block.output.language == "text":
        if os.environ.get("QUERYGATE_RECORD") and plain(printed.replace(url, SHOWN)) != plain(block.output.text):
            shown, page = f"{block.text}```\n\n```text\n", block.page.read_text()
            told = re.sub(r" +$", "", printed.replace(url, SHOWN), flags=re.MULTILINE)
            block.page.write_text(page.replace(shown + block.output.text, shown + told))
            return
        assert plain(printed.replace(url, SHOWN)) == plain(block.output.text), str(block)


def plain(text: str) -> str:
    """Without what changes from run to run, and without spaces at the ends of lines."""
    return re.sub(r"policy \w{12}", "policy HASH", stable(re.sub(r" +$", "", text, flags=re.MULTILINE)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_print_what_is_shown(name: str, there: str) -> None:
    """In a thread of its own, as tests of the browser leave an event loop in this one."""
    told, names = 0, {"__name__": "page"}
    with ThreadPoolExecutor(1) as pool:
        for block in blocks(DOCS / "how-to" / name):
            if block.language == "python" and "login" not in block.words:
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    pool.submit(exec, compile(placed(block.text, there), str(block), "exec"), names).result()
                same(block, printed.getvalue(), there)
                told += 1
    assert told >= 3


@pytest.mark.parametrize("name", TERMINALS)
def test_terminals_print_what_is_shown(name: str, there: str) -> None:
    compared = 0
    for block in blocks(DOCS / "how-to" / name):
        if block.language == "queries":
            Path(block.words[0]).write_text(block.text, encoding="utf-8")
        if block.language == "sh" and block.output is not None and block.output.language == "text":
            printed = ""
            for line in placed(block.text, there).replace("\\\n", " ").splitlines():
                program, *words = shlex.split(line)
                assert program == "querygate", line
                printed += CliRunner().invoke(main, words, prog_name="querygate").output
            same(block, printed, there)
            compared += 1
    assert compared


def test_the_notebook_runs_and_jupysql_in_it(there: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell, in a kernel of its own; outputs are not kept in the file. Then the recipe of JupySQL, which would
    tell its makers of it unless it is told not to, and which fails beside a Spark that is not whole."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("PLOOMBER_STATS_ENABLED", "false")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    recipe = next(block for block in blocks(DOCS / "how-to" / "ask-from-sql-tools.md") if block.language == "ipython")
    notebook.cells.append(nbformat.v4.new_code_cell('import sys; sys.modules["pyspark"] = None'))
    notebook.cells.append(nbformat.v4.new_code_cell(recipe.text))
    for cell in notebook.cells:
        cell.source = placed(cell.source, there)
    kernel = nbclient.NotebookClient(notebook, timeout=int(HANG_S), kernel_name="python3")
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, kernel.async_execute()).result()  # which closes its event loop
    printed = [output.text for output in notebook.cells[-1].outputs if output.get("name") == "stdout"]
    same(recipe, "".join(printed), there)
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("text/html" in output.get("data", {}) for output in shown)


SESSION = """
options(width = 120)
echo <- function(code) {
  for (one in parse(text = code, keep.source = TRUE)) {
    told <- withVisible(eval(one, globalenv()))
    if (told$visible) print(told$value)
  }
}
"""
AFTERWARDS = """
pdf("plot.pdf"); plot(answer, "mean"); invisible(dev.off())
stopifnot(file.size("plot.pdf") > 1000, nrow(qg_history(gate)) >= 2, nzchar(qg_provenance(answer)$policy_hash))
"""


@needs_r
def test_r_prints_what_is_shown(there: str, tmp_path: Path) -> None:
    """All blocks of the page are one session, as somebody would type them in."""
    run("R", "CMD", "INSTALL", f"--library={tmp_path}", str(SOURCES), folder=tmp_path)
    shown = [block for block in blocks(DOCS / "how-to" / "ask-from-r.md") if block.language == "r"]
    program = SESSION
    for number, block in enumerate(shown):
        (tmp_path / f"{number}.R").write_text(placed(block.text, there))
        program += f'cat("#{number}#\\n"); echo(readLines("{number}.R"))\n'
    (tmp_path / "page.R").write_text(program + AFTERWARDS)
    told = run("Rscript", "page.R", folder=tmp_path, R_LIBS=str(tmp_path))
    for block, printed in zip(shown, re.split(r"#\d+#\n", told)[1:], strict=True):
        assert block.output is not None
        same(block, printed, there)
