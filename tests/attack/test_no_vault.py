"""What serves researchers never touches the vault, and has nothing loaded that could."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from querygate import demo
from querygate.cli.serve import CUSTODY
from querygate.site.layout import init_site
from tests.work import HANG_S

HERE = Path(demo.__file__).parent
# Python reports every file and folder it opens to its audit hooks, before it does. The hook cannot be taken off again.
WATCH = """
import json, os, sys
from pathlib import Path
folder, source = Path(sys.argv[1]), Path(sys.argv[2])
vault, touched = str(folder / "vault"), []

def hook(event, args):
    for arg in args:
        if isinstance(arg, (str, bytes, os.PathLike)) and os.fsdecode(arg).startswith(vault):
            touched.append(event)

sys.addaudithook(hook)
from querygate.site.open_gate import open_gate
from querygate.site.layout import open_site
opened = open_gate(open_site(folder))
told = []
"""

PUBLISH = """
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
publish_to(opened, load_policy(source / "clinic.toml"), str(source / "clinic.csv"), user="tester")
"""

SERVE = """
from querygate.web import create_app
opened.accounts.add_user("ada", "researcher")
headers = {"Authorization": f"Bearer {opened.accounts.keys.new('ada').secret}"}
client = create_app(opened).test_client()
for sql in ("SELECT COUNT(*), AVG(systolic) FROM clinic WHERE age BETWEEN 40 AND 51",
            "SELECT sex, MAX(systolic) FROM clinic GROUP BY sex",
            "SELECT systolic FROM clinic", "SELECT * FROM '" + vault + "/clinic/v00001.duckdb'", "nonsense"):
    for path in ("/api/v1/query", "/api/v1/query/check"):
        told.append(client.post(path, json={"dataset": "clinic", "sql": sql}, headers=headers).status_code)
for path in ("/", "/docs", "/readyz", "/api/v1/datasets", "/api/v1/datasets/clinic", "/api/v1/datasets/..%2fvault"):
    told.append(client.get(path, headers=headers).status_code)
"""

REPORT = 'print(json.dumps({"touched": touched, "modules": sorted(sys.modules), "told": told}))'


def watched(folder: Path, *steps: str) -> dict:
    script = "\n".join([WATCH, *steps, REPORT])
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder), str(HERE)], capture_output=True, text=True, timeout=HANG_S
    )
    assert done.returncode == 0, done.stderr
    report: dict = json.loads(done.stdout)
    return report


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    folder = init_site(tmp_path_factory.mktemp("watched") / "site").folder
    return folder, watched(folder, PUBLISH)


def test_a_publication_trips_the_watch(published: tuple[Path, dict]) -> None:
    """What proves the test below: the watch does see a vault being opened."""
    _, report = published

    assert "open" in report["touched"]
    assert {"querygate.custody.publish.publish", "querygate_adapters.vault.staging_tables"} <= set(report["modules"])


def test_serving_researchers_does_not(published: tuple[Path, dict]) -> None:
    folder, _ = published
    report = watched(folder, SERVE)

    assert report["touched"] == []
    assert [name for name in report["modules"] if name.startswith(CUSTODY)] == []
    assert "querygate.web.app" in report["modules"]
    assert report["told"].count(200) >= 6
    assert all(status < 500 for status in report["told"])
