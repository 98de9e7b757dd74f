"""Noisy models at a site: asked, approved, paid for once whatever happens, and the same for whoever asks again."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest

from querygate.core.errors import ExtractRefused, QueryGateError
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.noisy_models.diffprivlib_account import second_accounts
from querygate.custody.use_cases.diffprivlib_ledger import second_account_of
from querygate.custody.use_cases.extract_builder import SiteExtractBuilder, make_extract
from querygate.site.budget_evidence import open_ledger
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate_adapters.sources.open_source import open_source
from tests.extract_site import ANN, CARL, approve, open_extracts
from tests.forks import forks
from tests.numbers_in import numbers
from tests.small_release import POLICY
from tests.unit.custody.noise.site_with_noise import noisy_site

WISH: dict[str, Any] = {
    "dataset": "patients",
    "purpose": "Does blood pressure rise with age?",
    "kind": "noisy-model",
    "noisy": "linear: sbp ~ age + smoker",
    "epsilon": 1.5,
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    folder = tmp_path_factory.mktemp("noisy")
    return noisy_site(folder, each=0.5, total=10.0, user=4.0, epsilon_per_extract=2.0).opened


def spent(opened: OpenSite, name: str) -> float:
    found = [one.epsilon for one in open_ledger(opened).spent("patients") if one.scope.name == name]
    return found[0] if found else 0.0


def refused(opened: OpenSite, **wish: Any) -> str:
    with pytest.raises(QueryGateError) as error:
        SiteExtractBuilder(opened).preview(ExtractSpec.of(WISH | wish), requester="ann")
    return error.value.code


def test_from_the_request_to_the_file(opened: OpenSite) -> None:
    extracts = open_extracts(opened)
    ident = extracts.request(ANN, WISH)["id"]
    before = spent(opened, "ann")
    preview = extracts.show(CARL, ident, preview=True)["preview"]
    assert (preview["cost"]["epsilon"], preview["assessment"], spent(opened, "ann")) == (1.5, None, before)
    approve(extracts, ident, CARL)
    assert spent(opened, "ann") == before
    extracts.act(CARL, ident, "build")
    assert spent(opened, "ann") == before + 1.5
    manifest = extracts.show(CARL, ident)["manifest"]
    extracts.act(CARL, ident, "build")  # once more: what stands on record, for nothing
    assert spent(opened, "ann") == before + 1.5
    assert extracts.show(CARL, ident)["summary"]["cost"]["epsilon"] == 1.5
    assert manifest
    extracts.act(CARL, ident, "release")
    with extracts.fetch(ANN, ident) as handle, zipfile.ZipFile(handle) as archive:
        assert archive.namelist() == ["manifest.json", "model.csv", "model.json", "report.html"]
        model = json.loads(archive.read("model.json"))["model"]
    assert set(model["coefficients"]) == {"age", "smoker=true"}
    assert "floating point by diffprivlib" in model["notes"][0]
    assert "2000" not in numbers(json.dumps(model))  # how many records there are is nobody's to know


def test_the_same_question_is_the_same_answer_and_free(opened: OpenSite, tmp_path: Path) -> None:
    builder, models = SiteExtractBuilder(opened), []
    for who in ("bob", "carla"):
        folder = tmp_path / who
        folder.mkdir()
        spec = ExtractSpec.of(WISH | {"purpose": who, "where": "age >= 40", "noisy": "pca: ~ age + sbp"})
        builder.build(spec, folder, request_id=f"x_{who}", requester=who)
        models.append(json.loads((folder / "model.json").read_text())["model"])
    assert models[0] == models[1]
    assert (spent(opened, "bob"), spent(opened, "carla")) == (1.5, 0.0)


def test_what_leaves_is_made_of_the_recorded_answer_alone(
    opened: OpenSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The raw rows are gone, and the files are the same: there is nothing else in them."""
    spec = ExtractSpec.of(WISH | {"noisy": "histogram: ~ smoker", "epsilon": 0.1})
    builder, found = SiteExtractBuilder(opened), []
    for name in ("before", "after"):
        folder = tmp_path / name
        folder.mkdir()
        builder.build(spec, folder, request_id="x_same", requester="dan")
        found.append({file.name: file.read_bytes() for file in folder.iterdir()})
        monkeypatch.setattr("querygate_adapters.vault.report_rows.ReportRows.selected", None)
    assert found[0] == found[1]


def test_what_the_policy_does_not_allow(opened: OpenSite, tmp_path: Path) -> None:
    assert refused(opened, epsilon=2.5) == "QG604"
    assert refused(opened, noisy="linear: sbp ~ ward") == "QG605"  # its values are not declared
    assert refused(opened, where="no such column > 1").startswith("QG")
    (tmp_path / "s.csv").write_text("age\n1\n")
    source = open_source(str(tmp_path / "s.csv"))
    with pytest.raises(ExtractRefused, match="no privacy budget"):
        make_extract(POLICY.parsed(), source, ExtractSpec.of(WISH), tmp_path, secret=b"")


def test_when_the_budget_is_spent_nothing_is_drawn(opened: OpenSite, tmp_path: Path) -> None:
    def build(at: int) -> None:
        spec = ExtractSpec.of(WISH | {"noisy": "pca: ~ age + pulse", "where": f"age > {at}"})
        (tmp_path / str(at)).mkdir()
        SiteExtractBuilder(opened).build(spec, tmp_path / str(at), request_id=f"x_eve{at}", requester="eve")

    build(0)
    build(1)
    with pytest.raises(QueryGateError) as error:
        build(2)
    assert (error.value.code, spent(opened, "eve")) == ("QG401", 3.0)
    assert not list((tmp_path / "2").iterdir())


def test_the_second_account_agrees_and_would_tell(opened: OpenSite) -> None:
    found = second_account_of(opened)
    assert found is not None
    assert found.agrees
    assert "agrees with the ledger" in found.explained()
    spends = [spend._replace(cost=spend.cost.plus(_little())) for spend in open_ledger(opened).spends()]
    assert not any(one.agrees for one in second_accounts(spends))


def _little() -> Any:
    from querygate.core.budget_types import Cost

    return Cost(1e-6)


KILLED = """
import os, signal, sys
from pathlib import Path
from querygate.core.budget_ledger import Ledger
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.noisy_models import noisy_model
from querygate.custody.use_cases import noisy_extracts
from querygate.custody.use_cases.extract_builder import SiteExtractBuilder
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
import diffprivlib.models

def die(*words, **more):
    os.kill(os.getpid(), signal.SIGKILL)

def act(site, folder, where, moment):
    if moment == "paid":
        noisy_model.NoisyModelPlan.draw = die
    if moment == "drawn":
        Ledger.record = die
    if moment == "recorded":
        noisy_extracts.model_files = die
    spec = ExtractSpec.of({"dataset": "patients", "purpose": "p", "kind": "noisy-model",
                           "noisy": "pca: ~ age + sbp", "where": where, "epsilon": 0.5})
    SiteExtractBuilder(open_gate(open_site(Path(site)))).build(
        spec, Path(folder), request_id="x_killed_" + moment, requester="kim")
"""


def test_a_build_that_is_killed_never_pays_twice(tmp_path: Path) -> None:
    """SIGKILL before the draw, after it, and after it was recorded; then the worker tries again, twice."""
    opened = noisy_site(tmp_path, each=0.5, total=10.0, user=4.0, epsilon_per_extract=2.0).opened
    folder, site = tmp_path / "out", opened.site.folder
    folder.mkdir()
    opened.log.database.close()
    ends = {}
    with forks(KILLED) as children:
        for at, moment in enumerate(("paid", "drawn", "recorded")):
            assert children.run(site, folder, f"age > {at}", moment) == -9
            assert not list(folder.iterdir())
        again = open_gate(open_site(site))
        assert spent(again, "kim") == 1.5
        for at, moment in enumerate(("paid", "drawn", "recorded")):
            spec = ExtractSpec.of(
                {"dataset": "patients", "purpose": "p", "kind": "noisy-model", "noisy": "pca: ~ age + sbp"}
                | {"where": f"age > {at}", "epsilon": 0.5}
            )
            try:
                SiteExtractBuilder(again).build(spec, folder, request_id=f"x_killed_{moment}", requester="kim")
                ends[moment] = "built"
            except ExtractRefused as error:
                ends[moment] = error.code
    assert ends == {"paid": "QG605", "drawn": "QG605", "recorded": "built"}
    assert spent(again, "kim") == 1.5
    with sqlite3.connect(site / "control.db") as control:
        assert control.execute("SELECT count(*) FROM reservation").fetchone() == (3,)
