"""The tutorials, followed step by step: files are written as shown, commands are run, and print what is shown.

Ids, keys, times and durations differ from run to run; both sides are compared without them.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.site.open_gate import OpenSite
from querygate.web import create_app
from tests.docs.pages import DOCS, Block, blocks
from tests.work import HANG_S

SHOWN_ADDRESS = "http://127.0.0.1:8080"
VARIABLE = [
    (r"qg_[a-z2-7]{8}_[a-z2-7]{52}", "KEY"),
    (r"[Kk]ey [a-z2-7]{8}\b", "key ID"),
    (r"q_[0-9A-HJKMNP-TV-Z]{26}", "q_ID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"\b[\d.]+ (ms|s)\b", "DURATION"),
    (r"(?m)^(.*%.*%.*  )\d+\.\d$", r"\1DURATION"),  # seconds of each method
    (r"\b[0-9a-f]{64}\b", "HASH"),
]
CHANGING = {"query_id", "elapsed_ms", "published", "canonical"}


def stable(text: str) -> str:
    for pattern, word in VARIABLE:
        text = re.sub(pattern, word, text)
    return re.sub(r"[ -]{2,}", "  ", text).strip()  # columns are as wide as what stands in them


def without_changing(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_changing(item) for key, item in value.items() if key not in CHANGING}
    return [without_changing(item) for item in value] if isinstance(value, list) else value


# -- the custodian's: everything happens on the command line ---------------------------------------------------


def test_first_publication(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("QUERYGATE_SITE", raising=False)
    compared = 0
    for block in blocks(DOCS / "tutorial" / "first-publication.md"):
        if block.words and block.language in ("csv", "toml"):
            Path(block.words[0]).write_text(block.text, encoding="utf-8")
        elif block.language == "sh" and "serve" not in block.text:
            printed = "".join(run(line) for line in block.text.replace("\\\n", " ").splitlines())
            if block.output is not None and block.output.language == "text":
                assert stable(printed) == stable(block.output.text), str(block)
                compared += 1
    assert compared > 8


def run(line: str) -> str:
    program, *words = shlex.split(line)
    assert program == "querygate", line
    return CliRunner().invoke(main, words).output_bytes.decode() if "publish" not in words else quiet(words)


def quiet(words: list[str]) -> str:
    """Without the steps that a terminal shows while it waits; a refusal is told on standard error too."""
    result = CliRunner().invoke(main, words)
    return result.stdout or re.sub(r"^[a-z][\w ,:-]*\n", "", result.stderr, flags=re.MULTILINE)


# -- the researcher's: everything happens over HTTP -------------------------------------------------------------


class Silent(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address(demo_site: OpenSite) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, create_app(demo_site), handler_class=Silent)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def environment(demo_site: OpenSite, tmp_path: Path) -> dict[str, str]:
    if "ada" not in {user.name for user in demo_site.accounts.list_users()}:
        demo_site.accounts.add_user("ada", "researcher")
    kept = {"PATH": os.environ["PATH"], "KEY": demo_site.accounts.keys.new("ada").secret}
    return {**kept, "PYTHONPATH": "", "HOME": str(tmp_path)}


def test_first_query(address: str, environment: dict[str, str], tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    compared = 0
    for block in blocks(DOCS / "tutorial" / "first-query.md"):
        text = block.text.replace(SHOWN_ADDRESS, address)
        if block.language == "python" and block.words:
            (tmp_path / block.words[0]).write_text(text, encoding="utf-8")
        elif block.language == "sh" and "querygate" not in text and "export" not in text:
            shell = text.replace("python3 ", f"{shlex.quote(sys.executable)} ")
            done = subprocess.run(
                ["bash", "-euc", shell], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=HANG_S
            )
            assert done.returncode == 0, (str(block), done.stderr)
            compared += compare(block, done.stdout)
    assert compared > 6


def compare(block: Block, printed: str) -> int:
    if block.output is None or block.output.language not in ("json", "text"):
        return 0
    if block.output.language == "json":
        assert without_changing(json.loads(printed)) == without_changing(json.loads(block.output.text)), str(block)
    else:
        assert stable(printed) == stable(block.output.text), str(block)
    return 1
