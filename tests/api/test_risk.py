"""The risk report of a published dataset: measured in the custodian's process, read over HTTP by custodians alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.methods.risk import attack
from querygate.web import create_app
from querygate.web.schemas.schema_table import SCHEMAS
from querygate_adapters.vault.written_store import WrittenStore
from tests.api.shapes import misfits
from tests.api.small_site import SmallSite, make_small_site

PATH = "/api/v1/datasets/clinic/risk"


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate.custody.risk_report.risk_charts.can_draw", lambda: False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    return make_small_site(tmp_path_factory.mktemp("risk"))


def read(site: SmallSite, name: str | None, path: str = PATH) -> Any:
    client = create_app(site.opened).test_client()
    return client.get(path, headers=site.headers(name) if name else {}, buffered=True)


def run(site: SmallSite, *words: Any) -> Any:
    return CliRunner().invoke(main, ["--site", str(site.folder), "risk", "--dataset", "clinic", *map(str, words)])


def test_from_the_vault_to_the_custodian(site: SmallSite, tmp_path: Path) -> None:
    missing = read(site, "carl")
    assert (missing.status_code, missing.json["code"]) == (409, "QG309")
    assert "querygate risk --dataset clinic" in missing.json["remedy"]

    register = tmp_path / "register.csv"
    register.write_text("age,sex\n" + "".join(f"{20 + i % 70},{'FM'[i % 2]}\n" for i in range(300)))
    done = run(site, "--population", register)
    assert done.exit_code == 0, done.output

    found = read(site, "carl")
    assert found.status_code == 200
    assert misfits(found.json, SCHEMAS["RiskReport"]) == []
    assert (found.json["after"], found.json["version"], found.json["records"]["after"]) == ("published", 1, 40)
    page = read(site, "carl", f"{PATH}/report.html")
    assert page.data.startswith(b"<!doctype html>")
    assert "attachment" in page.headers["Content-Disposition"]
    assert "MRN-" not in page.text + found.text
    kinds = [(note["kind"], note["user"]) for note in site.opened.log.events() if note["kind"].startswith("risk.")]
    assert kinds == [("risk.read", "carl"), ("risk.run", "local"), ("risk.read", "carl"), ("risk.read", "carl")]

    cells = WrittenStore(site.folder / "store" / "clinic" / "v00001.duckdb").cells([0, 1])
    sizes = np.bincount(cells["box"], cells["n"]).astype(np.int64)
    after = found.json["sides"]["after"]["attackers"]
    assert after["prosecutor"] == attack(sizes).to_dict()["prosecutor"]
    assert after["k_map"] >= after["k"] >= 5


@pytest.mark.parametrize("path", [PATH, f"{PATH}/report.html"])
def test_for_custodians_alone(site: SmallSite, path: str) -> None:
    assert [(read(site, name, path).status_code) for name in (None, "ann")] == [401, 403]
    assert read(site, "carl", path.replace("clinic", "ward")).status_code == 404


def test_of_a_release_nothing_is_kept(site: SmallSite, tmp_path: Path) -> None:
    release = tmp_path / "release.csv"
    release.write_text("age_low,age_high,sex,sbp\n30,69,*,120\n30,69,*,130\n")
    before = list((site.folder / "risk").rglob("*"))
    done = run(site, "--released", release, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "report.html").is_file()
    assert list((site.folder / "risk").rglob("*")) == before


def test_a_dataset_that_is_not_there(site: SmallSite) -> None:
    done = CliRunner().invoke(main, ["--site", str(site.folder), "risk", "--dataset", "ward"])
    assert done.exit_code == 1
    assert "QG303" in done.output
