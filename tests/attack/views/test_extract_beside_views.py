"""Records that leave beside views give whole records up; so they leave only if reviewers say that they know.

The extract is built by the builder that custodians have, the views are published as any are. What both tell together is
worked out by linear programming from the file that was fetched and the classes that were written.
"""

from __future__ import annotations

import csv
import io
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.errors import ExtractRefused
from querygate.core.types import Ints
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.attack.view_attacks import certain_records
from tests.extract_site import ANN, CARL, DORA, open_extracts
from tests.policies import make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import new_site, write_parquet
from tests.unit.custody.publish.view_stores import ViewStore

NUMBER, K = 240, 5
NAMES = ("sex", "job", "town")
CLASSES = make_policy(
    "t",
    {
        "age": quasi("integer", (20, 59), grid=1, cuts=[40]),
        **{name: quasi("category", values=["a", "b", "c"]) for name in NAMES},
        "smoker": sensitive("boolean"),
        "drug": sensitive("category", values=["p", "q", "r", "s", "t"]),
    },
    k=K,
)
VIEWS = CLASSES.but(views={"spanning": [["age", "sex", "job"], ["age", "sex", "town"]]})
WISH: dict[str, Any] = {"dataset": "t", "purpose": "to see", "formats": ["csv"], "method": "mondrian"}


def people() -> dict[str, list[Any]]:
    rng = np.random.default_rng(8)
    return {
        "age": rng.integers(20, 60, NUMBER).tolist(),
        **{name: rng.choice(["a", "b", "c"], NUMBER).tolist() for name in NAMES},
        "smoker": (rng.random(NUMBER) < 0.3).tolist(),
        "drug": rng.choice(["p", "q", "r", "s", "t"], NUMBER).tolist(),
    }


def site_of(folder: Path, policy: Any) -> tuple[OpenSite, Extracts]:
    opened = new_site(folder)
    publish_to(opened, policy.parsed(), str(write_parquet(folder / "people.parquet", people())), user="carl")
    return opened, open_extracts(opened)


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> tuple[OpenSite, Extracts]:
    return site_of(tmp_path_factory.mktemp("beside"), VIEWS)


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take longer than all the rest."""
    monkeypatch.setattr("querygate.custody.extract.extract_report.can_draw", lambda: False)


def reviewed(extracts: Extracts, **more: Any) -> str:
    ident = str(extracts.request(ANN, WISH | more)["id"])
    extracts.act(ANN, ident, "submit")
    extracts.act(CARL, ident, "take")
    return ident


def test_records_beside_views_need_an_acknowledgement_that_is_on_record(
    beside: tuple[OpenSite, Extracts], tmp_path: Path
) -> None:
    opened, extracts = beside
    ident = reviewed(extracts)
    with pytest.raises(ExtractRefused, match="whole records of single people") as refused:
        extracts.act(CARL, ident, "approve")
    assert refused.value.code == "QG608"
    assert "--beside-views" in (refused.value.remedy or "")
    assert extracts.show(CARL, ident)["state"] == "in_review"
    with pytest.raises(ExtractRefused, match="does not accept"):
        extracts.act(CARL, ident, "comment", "Why?", beside_views=True)
    approved = extracts.act(CARL, ident, "approve", beside_views=True)
    assert (approved["state"], approved["beside_views"]) == ("approved", True)
    entries = [event["body"] for event in opened.log.events() if event["kind"] == "export.approve"]
    assert [entry.get("beside_views") for entry in entries if entry["id"] == ident] == [True]
    told = extracts.act(CARL, ident, "build")["summary"]["beside_views"]["words"]
    assert any("whole records of single people" in word for word in told)
    assert extracts.act(DORA, ident, "release")["state"] == "released"
    check_attack(fresh(opened, tmp_path), fetched_classes(extracts, ident))


def test_synthetic_records_are_told_of_and_need_none(beside: tuple[OpenSite, Extracts]) -> None:
    _, extracts = beside
    ident = reviewed(extracts, kind="condensed", columns=["age", "smoker"], method="condensation")
    told = extracts.show(CARL, ident, preview=True)["preview"]["beside_views"]["words"]
    assert any("certificates say nothing about synthetic records" in word for word in told)
    with pytest.raises(ExtractRefused, match="nothing to acknowledge"):
        extracts.act(CARL, ident, "approve", beside_views=True)
    assert extracts.act(CARL, ident, "approve")["state"] == "approved"


def test_views_that_are_published_after_an_approval_hold_the_records_back(tmp_path: Path) -> None:
    opened, extracts = site_of(tmp_path, CLASSES)
    released, approved = (reviewed(extracts) for _ in range(2))
    for ident in (released, approved):
        assert "beside_views" not in extracts.act(CARL, ident, "approve")
    extracts.act(CARL, released, "build")
    extracts.act(DORA, released, "release")
    source = str(tmp_path / "people.parquet")
    report = publish_to(opened, VIEWS.parsed(), source, user="carl", on_overlap="retire")
    assert any(f"Revoke what was not fetched yet: {released}" in warning for warning in report.warnings)
    with pytest.raises(ExtractRefused) as refused:
        extracts.act(CARL, approved, "build")
    assert refused.value.code == "QG608"
    assert extracts.act(CARL, approved, "revoke")["state"] == "revoked"


def fresh(opened: OpenSite, folder: Path) -> OpenSite:
    """A copy whose files nobody reads yet."""
    return open_gate(open_site(Path(shutil.copytree(opened.site.folder, folder / "site"))))


# -- what it is about ----------------------------------------------------------------------------------------------


def fetched_classes(extracts: Extracts, ident: str) -> Ints:
    """The class of each person in the extract, as whoever knows their quasi-identifiers finds it in the file."""
    with extracts.fetch(ANN, ident) as handle, zipfile.ZipFile(io.BytesIO(handle.read())) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("extract.csv").decode())))
    names = [name for name in rows[0] if name not in ("smoker", "drug")]
    boxes = sorted({tuple(row[name] for name in names) for row in rows})
    mine = people()
    found = []
    for place in range(NUMBER):
        fits = [at for at, box in enumerate(boxes) if _fits(dict(zip(names, box, strict=True)), mine, place)]
        assert len(fits) == 1
        found.append(fits[0])
    return np.array(found)


def _fits(box: dict[str, str], mine: dict[str, list[Any]], place: int) -> bool:
    low, high = int(float(box["age_low"])), int(float(box["age_high"]))
    return low <= mine["age"][place] <= high and all(mine[name][place] in _values(box[name]) for name in NAMES)


def _values(text: str) -> set[str]:
    return {"a", "b", "c"} if text == "*" else set(text.strip("{}").replace(",", " ").replace("|", " ").split())


def written_classes(opened: OpenSite, column: str) -> Ints:
    """The classes of each person in the margins of a column (views x people)."""
    store = ViewStore(opened)
    found = []
    for place, margin in enumerate(store.catalog.margins):
        if margin.sensitive == (column,):
            label = np.zeros(NUMBER, dtype=np.int64)
            for name, rows in store.members(place).items():
                label[[row["row_id"] for row in rows]] = name
            found.append(label)
    return np.stack(found)


def check_attack(opened: OpenSite, base: Ints) -> None:
    """Neither views nor extract give anybody up; together they do."""
    rows = sorted(ViewStore(opened).rows, key=lambda row: row["row_id"])
    views = [written_classes(opened, column) for column in ("smoker", "drug")]
    values = [np.unique([str(row[column]) for row in rows], return_inverse=True)[1] for column in ("smoker", "drug")]
    nothing = [np.zeros_like(one) for one in views]
    assert certain_records(views, values) == 0
    assert certain_records(nothing, values, base) == 0
    assert certain_records(views, values, base) > 0
