"""Extracts in the console: from a form to a download, with two reviewers; and whom it is not for."""

from __future__ import annotations

import io
import re
import zipfile
from html import unescape

import pytest

from querygate.site.open_gate import OpenSite
from querygate.web import create_app
from tests.api.browser import Browser
from tests.api.console_site import ConsoleSite
from tests.api.small_site import PEOPLE, make_reviewed_site
from tests.each import each
from tests.extract_site import open_extracts
from tests.unit.custody.extract.study import POLICY, records

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Browser]:
    opened: OpenSite = make_reviewed_site(tmp_path_factory.mktemp("pages"), POLICY, records())
    opened.accounts.add_user("bob", "researcher")
    opened.accounts.add_user("rita", "reviewer")
    app = create_app(opened, extracts=open_extracts(opened))
    return {name: Browser(app, opened.accounts.keys.new(name).secret) for name in (*PEOPLE, "bob", "rita")}


def draft(people: dict[str, Browser], **wish: str) -> str:
    """The address of a new request of ann's."""
    form = {"purpose": "to see", "kind": "k-anonymous", "formats": "csv"} | wish
    made = people["ann"].post("/datasets/trial/request", part=False, **form)
    assert made.status_code == 303, made.text
    return str(made.headers["Location"])


def act(people: dict[str, Browser], name: str, path: str, action: str, **form: str) -> int:
    return people[name].post(f"{path}/{action}", part=False, **form).status_code


def test_an_extract_from_request_to_download_with_two_reviewers(people: dict[str, Browser]) -> None:
    path = draft(people, columns="age", where="age >= 30")
    for name, action in (
        ("ann", "submit"),
        ("rita", "take"),
        ("rita", "approve"),
        ("dora", "approve"),
        ("carl", "build"),
        ("dora", "release"),
    ):
        assert f'formaction="{path}/{action}"' in people[name].get(path).text
        assert act(people, name, path, action) == 303
        if action == "take":
            figures = people["rita"].get(f"{path}/preview").text
            assert figures.index("<h3>Risk</h3>") < figures.index("<h3>What it preserves</h3>")
            assert "Alike, at least: <span>5</span>" in figures
            assert "asked 0 questions about this dataset; 0 answered" in figures
    assert "The built extract" in people["carl"].get(path).text
    assert "The built extract" not in people["ann"].get(path).text  # its figures are for those who decide
    with people["ann"].get(f"{path}/zip") as fetched:
        names = zipfile.ZipFile(io.BytesIO(fetched.data)).namelist()
    assert any(name.endswith("extract.csv") for name in names)
    assert people["ann"].get(f"{path}/report").status_code == 200
    listed = people["rita"].get("/requests?state=released").text
    assert f'href="{path}"' in listed


def test_nobody_decides_on_their_own_request(people: dict[str, Browser]) -> None:
    path = draft(people)
    assert act(people, "ann", path, "submit") == 303
    for action in ("take", "approve", "build", "release"):
        assert f"/{action}" not in people["ann"].get(path).text
        refused = people["ann"].post(f"{path}/{action}", part=False)
        assert refused.status_code in (403, 409)
        assert re.search("QG60[12]|can do this now|not possible", refused.text)
    assert act(people, "carl", path, "take") == act(people, "carl", path, "approve") == 303
    again = people["carl"].post(f"{path}/approve", part=False)
    assert "You have already approved this request." in again.text


def test_requests_of_others_are_not_there_for_researchers(people: dict[str, Browser]) -> None:
    path = draft(people)
    missing = people["bob"].get("/requests/x_01KJKB3Q00Z5V7N0M1C2X3Y4W5")
    for page in (path, f"{path}/edit", f"{path}/preview", f"{path}/zip", f"{path}/report", f"{path}/risk-report"):
        found = people["bob"].get(page)
        assert (found.status_code, found.text) == (missing.status_code, missing.text), page
    assert path not in people["bob"].get("/requests").text
    assert people["bob"].post(f"{path}/withdraw", part=False).status_code == missing.status_code


@each(
    "wish, told", [({"where": "nothing > 1"}, "QG"), ({"k": "many"}, "k: must be"), ({"models": "linear"}, "models:")]
)
def test_a_form_that_is_refused_keeps_what_was_written(
    people: dict[str, Browser], wish: dict[str, str], told: str
) -> None:
    form = {"purpose": "Does age matter?", "kind": "k-anonymous", "formats": "csv"} | wish
    page = people["ann"].post("/datasets/trial/request", part=False, **form)
    assert 400 <= page.status_code < 500
    assert told in page.text or "column" in page.text
    assert "Does age matter?" in page.text


def test_a_returned_request_is_changed_and_sent_again(people: dict[str, Browser]) -> None:
    path = draft(people)
    act(people, "ann", path, "submit")
    act(people, "carl", path, "take")
    assert "comment: is missing" in people["carl"].post(f"{path}/return", part=False).text
    assert act(people, "carl", path, "return", comment=f"Why? {SCRIPT}") == 303
    page = people["ann"].get(path).text
    assert SCRIPT not in page
    assert SCRIPT in unescape(page)
    changed = people["ann"].post(f"{path}/edit", part=False, purpose="better", kind="k-anonymous", formats="csv")
    assert changed.status_code == 303
    assert "better" in people["carl"].get(path).text
    assert act(people, "ann", path, "submit") == 303
    again = people["carl"].get(path).text
    assert "Changed since it was returned" in again
    assert re.search(r'<th scope="row">Purpose</th><td><del>.+</del></td><td><ins>better</ins></td>', again)
    assert "<del>csv" not in again  # only what differs


def test_what_reviewers_say_to_each_other_is_not_for_the_requester(people: dict[str, Browser]) -> None:
    path = draft(people)
    act(people, "ann", path, "submit")
    assert act(people, "carl", path, "note", comment="She asked for this before.") == 303
    assert act(people, "carl", path, "comment", comment="We will look at it.") == 303
    assert "She asked for this before." in people["dora"].get(path).text
    mine = people["ann"].get(path).text
    assert "She asked for this before." not in mine
    assert "We will look at it." in mine
    assert people["ann"].post(f"{path}/note", part=False, comment="x").status_code == 403
    assert "comment: is missing" in people["carl"].post(f"{path}/note", part=False).text


@pytest.fixture
def reviewed(site: ConsoleSite) -> str:
    """The address of a request of ann's that waits for reviewers, at a gate whose worker is another process."""
    form = {"purpose": "to see", "kind": "k-anonymous", "formats": "csv", "columns": "age"}
    path = str(site["ann"].post("/datasets/clinic/request", part=False, **form).headers["Location"])
    site["ann"].post(f"{path}/submit", part=False)
    return path


def previews(site: ConsoleSite) -> int:
    return int(site.opened.log.database.rows("SELECT count(*) FROM job WHERE kind = 'extract.preview'")[0][0])


def test_a_trial_build_is_begun_by_a_reviewer_and_shared_by_all(site: ConsoleSite, reviewed: str) -> None:
    for name in ("carl", "rita"):
        for page in (reviewed, f"{reviewed}/preview"):
            assert site[name].get(page).status_code == 200
    assert "There is no trial build yet" in site["rita"].get(f"{reviewed}/preview").text
    assert previews(site) == 0  # to look begins nothing
    assert site["ann"].post(f"{reviewed}/preview", part=False).status_code == 403
    site["carl"].post(f"{reviewed}/take", part=False)
    assert previews(site) == 1
    waiting = site["rita"].get(f"{reviewed}/preview")
    assert (waiting.status_code, previews(site)) == (202, 1)
    assert site["rita"].post(f"{reviewed}/preview").status_code == 202
    assert previews(site) == 1  # whoever asks while it is underway waits for the same one
    assert site.worker.work_off() == 2  # and the risk report, before anybody asks for it
    for name in ("carl", "rita"):
        assert "Alike, at least" in site[name].get(f"{reviewed}/preview").text
    job = site.opened.log.database.rows("SELECT id FROM job WHERE kind = 'extract.preview'")[0][0]
    assert site["rita"].get(f"/jobs/{job}").status_code == 200
    assert site["ann"].get(f"/jobs/{job}").status_code == site["bob"].get(f"/jobs/{job}").status_code == 404
    assert site["rita"].post(f"{reviewed}/preview").status_code == 202
    assert previews(site) == 2  # made again, as what the requester has learnt may have changed


def test_what_cannot_be_built_is_said_to_every_reviewer(site: ConsoleSite, reviewed: str) -> None:
    site["carl"].post(f"{reviewed}/preview")
    job = site.opened.log.database.rows("SELECT id FROM job WHERE finished IS NULL ORDER BY number DESC")[0][0]
    site["carl"].post(f"/jobs/{job}/cancel")
    assert "There is no trial build yet" in site["rita"].get(f"{reviewed}/preview").text
