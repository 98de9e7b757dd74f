"""Publishing in the console: from an uploaded table to a version; and what must not come in that way."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.jobs import Job
from querygate.core.progress import no_progress
from querygate.core.types import Principal
from querygate.custody.policy.console_policy import problems_of, read_console_policy
from querygate.custody.worker.job_handlers import JobHandlers
from querygate.custody.worker.publish_handlers import PublishHandlers
from querygate.custody.worker.worker_tasks import sweep_uploads
from querygate.site.job_exchange import JobExchange
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.site.publication_sources import is_upload, known_uploads
from querygate.site.publications import Publications
from querygate.site.settings import Settings
from tests.api.console_site import ConsoleSite
from tests.api.small_site import POLICY, csv_text
from tests.each import each

SCRIPT = "<script>alert(1)</script>"
TABLE = csv_text(60).encode()
RIGHT = {"sure": "yes"}


def upload(
    site: ConsoleSite, name: str = "Visits 2026.csv", data: bytes = TABLE, by: str = "carl", proof: str = ""
) -> TestResponse:
    """A form as a browser sends it."""
    called = name.replace("\n", "%0A").replace('"', "%22")
    parts = (
        b'--x\r\nContent-Disposition: form-data; name="proof"\r\n\r\n' + (proof or site[by].proof).encode(),
        f'\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="{called}"\r\n\r\n'.encode() + data,
        b"\r\n--x--\r\n",
    )
    return site[by].client.post(
        "/publish/sources", data=b"".join(parts), content_type="multipart/form-data; boundary=x"
    )


@pytest.fixture(autouse=True)
def no_jobs(site: ConsoleSite) -> Iterator[None]:
    yield
    site.forget_jobs()


def dropped(site: ConsoleSite) -> list[Path]:
    folder = site.opened.site.dropped
    return sorted(folder.iterdir()) if folder.exists() else []


def policy_in(page: str) -> str:
    found = re.search(r"<textarea id=\"policy\"[^>]*>(.*?)</textarea>", page, re.S)
    assert found, page
    return unescape(found[1])


def step(site: ConsoleSite, name: str, **form: str) -> str:
    """The page of a step, once the worker has done it."""
    sent = site["carl"].post(f"/publish/{name}", part=False, **form)
    assert sent.status_code == 303, sent.text
    assert "In progress" in site["carl"].get(sent.headers["Location"]).text
    assert site.worker.work_off() == 1
    return unescape(site["carl"].get(sent.headers["Location"]).text)


def test_from_an_upload_to_a_version_that_is_asked(site: ConsoleSite) -> None:
    before = Counter(site.kinds())
    sent = upload(site)
    [file] = dropped(site)
    assert (is_upload(file.name), file.read_bytes(), file.stat().st_mode & 0o777) == (True, TABLE, 0o600)
    assert site.opened.site.dropped.stat().st_mode & 0o777 == 0o700
    [known] = known_uploads(site.opened.log)
    assert (known.name, known.title, known.by, known.size_bytes) == (file.name, "Visits 2026.csv", "carl", len(TABLE))
    site.worker.work_off()
    page = site["carl"].get(sent.headers["Location"]).text
    policy = policy_in(page)
    assert "60 records" in page
    assert 'dataset = "visits_2026"' in policy

    broken = policy.replace('role = "', 'role = "un', 1)
    page = step(site, "check", source=file.name, policy=broken)
    line = next(i for i, text in enumerate(broken.split("\n"), 1) if 'role = "un' in text)
    assert f'data-wrong-line="{line}"' in page
    assert policy_in(page) == broken.lstrip("\n")
    assert "The policy is valid" in step(site, "check", source=file.name, policy=policy)

    plain = POLICY.replace('dataset = "clinic"', 'dataset = "visits"')
    page = step(site, "version", source=file.name, policy=plain, **RIGHT)
    assert "Version 1 of visits is served" in page
    assert dropped(site) == known_uploads(site.opened.log) == []
    assert site["carl"].ask("SELECT COUNT(*) FROM visits", dataset="visits").status_code == 200
    kinds = Counter(site.kinds()) - before
    assert [kinds[kind] for kind in ("source.upload", "publish.draft", "source.remove")] == [1, 1, 1]
    noted = site.opened.log.last("publish", "visits")
    assert noted
    assert noted["user"] == "carl"


def test_a_preview_shows_what_would_be_usable(site: ConsoleSite) -> None:
    upload(site)
    site.worker.work_off()
    page = step(site, "preview", source=dropped(site)[0].name, policy=str(POLICY))
    assert "narrow enough to print" in page
    assert "counts, prevalences and means" in page


def test_a_publication_that_is_tried_again_makes_no_second_version(site: ConsoleSite) -> None:
    """A worker that was killed after the version was served, and before it could say so."""
    upload(site)
    site.worker.work_off()
    name = dropped(site)[0].name
    policy = POLICY.replace('dataset = "clinic"', 'dataset = "again"')
    body = {"source": name, "title": "x", "policy": policy}
    job = Job("j_1", "publish.version", "", "carl", body, "leased", "2026-01-01T00:00:00Z")
    handlers = PublishHandlers(site.opened)
    first = dict(handlers.publish(job, no_progress))
    first.pop("warnings")
    assert dict(handlers.publish(job, no_progress)) == first
    assert site.opened.store.versions("again") == (1,)


def test_a_dataset_is_withdrawn_and_served_again_with_two_clicks(site: ConsoleSite) -> None:
    path = "/publish/datasets/clinic"
    assert "Withdraw clinic?" in site["carl"].post(f"{path}/withdraw", part=False).text
    sent = site["carl"].post(f"{path}/withdraw", part=False, sure="yes")
    site.worker.work_off()
    assert "has been withdrawn" in site["carl"].get(sent.headers["Location"]).text
    page = site["carl"].get(path).text
    assert ">withdrawn</span>" in page
    asked = site["carl"].post(f"{path}/serve", part=False, version="1")
    assert 'name="version" value="1"' in asked.text
    sent = site["carl"].post(f"{path}/serve", part=False, version="1", sure="yes")
    site.worker.work_off()
    assert "Version 1 of clinic is served" in site["carl"].get(sent.headers["Location"]).text
    assert site["carl"].ask("SELECT COUNT(*) FROM clinic").status_code == 200
    for version in ("1", "9", "x", ""):
        assert site["carl"].post(f"{path}/serve", part=False, version=version, sure="yes").status_code == 400
    for missing in ("nothing", "..", "%2e%2e"):
        assert site["carl"].get(f"/publish/datasets/{missing}").status_code == 404


@each(
    "name",
    ["../../control.db", "..\\..\\x.csv", "/etc/passwd.csv", "x.csv\n", f"{SCRIPT}.csv", "u_A.csv", "." * 300 + ".csv"],
)
def test_whatever_a_file_is_called_it_lies_in_its_folder(site: ConsoleSite, name: str) -> None:
    folder = site.opened.site.folder
    before = {path for path in folder.rglob("*") if path.parent != site.opened.site.dropped}
    sent = upload(site, name)
    after = {path for path in folder.rglob("*") if path.parent != site.opened.site.dropped}
    assert {path.name for path in after - before} <= {"control.db-wal", "control.db-shm", "dropped"}
    assert all(is_upload(path.name) for path in dropped(site))
    assert SCRIPT not in site["carl"].get("/publish").text
    if sent.status_code == 303:
        assert SCRIPT not in site["carl"].get(sent.headers["Location"]).text


def test_one_table_at_a_time(site: ConsoleSite) -> None:
    """A second file would have to be kept by the application."""
    second = b'\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="b.csv"\r\n\r\n'
    before = dropped(site)
    sent = upload(site, data=TABLE + second + TABLE)
    assert (sent.status_code, dropped(site)) == (400, before)
    assert "one table at a time" in sent.text


def test_what_is_too_large_or_no_table_leaves_nothing(site: ConsoleSite) -> None:
    before = dropped(site)
    assert upload(site, data=b"x" * 1_200_000).status_code in (400, 413)
    for name in ("notes.txt", "x.exe", "x.csv.zip", ""):
        assert upload(site, name).status_code == 400
    assert upload(site, proof="0" * 64).status_code == 400  # another site's form
    assert dropped(site) == before


@each("by", ["ann", "rita", "olaf", "dora"])
def test_publishing_is_for_custodians(site: ConsoleSite, by: str) -> None:
    before = dropped(site)
    assert upload(site, by=by).status_code == 403
    assert dropped(site) == before  # not even for a moment
    for path in ("/publish", "/publish/datasets/clinic", "/publish/work/j_1"):
        assert site[by].get(path).status_code == 403
    for path in ("draft", "check", "preview", "version", "datasets/clinic/withdraw", "datasets/clinic/serve"):
        assert site[by].post(f"/publish/{path}", part=False, sure="yes", source="kept").status_code == 403


@each("source", ["", "nothing", "/etc/passwd", "u_00000000000000000000000000.csv", "kept/../x", "postgresql://x/y#z"])
def test_only_sources_of_the_site_are_published(site: ConsoleSite, source: str) -> None:
    for name in ("draft", "preview", "version"):
        assert (
            site["carl"].post(f"/publish/{name}", part=False, source=source, policy="k = 5", sure="yes").status_code
            == 400
        )
    job = Job("j_1", "publish.draft", "", "carl", {"source": source, "title": "x"}, "leased", "")
    with pytest.raises((ConfigError, NotPermitted)):
        PublishHandlers(site.opened).draft(job, no_progress)  # whatever a gate may put


@each(
    "line",
    [
        '[references.r]\nfile = "/etc/passwd"\nkey = "a"\ncolumns = { a = "category" }',
        '[join.j]\nsource = "postgresql://host/db#t"\non = { a = "b" }\ncolumns = ["x"]',
        '[k_map]\npopulation = "people.csv"\nk = 5\ncolumns = ["age"]',
        '[release]\npopulation = "people.parquet"',
    ],
)
def test_a_policy_of_the_console_names_no_files(line: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_console_policy(f"{POLICY}\n{line}\n")
    assert refused.value.code == "QG801"
    assert problems_of(f"{POLICY}\n{line}\n", refused.value)


def test_a_hierarchy_in_a_file_is_refused_as_well() -> None:
    text = POLICY.replace('values = ["F", "M"]', 'hierarchy = "/etc/sexes.csv"')
    assert "hierarchy" in text
    with pytest.raises(ConfigError):
        read_console_policy(text)


def test_a_gate_elsewhere_publishes_nothing(site: ConsoleSite) -> None:
    table = JobHandlers(site.opened).table_elsewhere()
    for kind in (
        "publish.draft",
        "publish.preview",
        "publish.version",
        "publish.serve",
        "publish.withdraw",
        "audit.reveal",
    ):
        job = Job("j_1", kind, "clinic", "carl", {"source": "kept", "version": 1, "policy": ""}, "leased", "")
        with pytest.raises(NotPermitted) as refused:
            table[kind](job, no_progress)
        assert refused.value.code == "QG309"


def test_without_the_settings_nothing_is_published_here(site: ConsoleSite) -> None:
    off = Settings({**site.opened.site.settings.values, "upload_mb": 0, "publish_sources": ""})
    plain = Publications(replace(site.opened, site=replace(site.opened.site, settings=off)), None)
    assert plain.sources() == []
    with pytest.raises(NotPermitted):
        plain.begin_upload("x.csv")


def test_jobs_about_publishing_are_ones_own(site: ConsoleSite) -> None:
    sent = site["carl"].post("/publish/check", part=False, source="kept", policy="k = 5")
    job = sent.headers["Location"].rpartition("/")[2]
    with pytest.raises(NotPermitted):
        Publications(site.opened, JobExchange(site.opened)).job(Principal("cato", "custodian"), job)
    assert site["carl"].get("/publish/work/j_nothing").status_code == 404
    site.worker.work_off()


def test_the_serving_side_never_reads_what_was_put_down(site: ConsoleSite) -> None:
    """A folder that can only be written into is enough for the gate."""
    folder = site.opened.site.dropped
    opened = open_gate(open_site(site.opened.site.folder))
    assert opened.site.dropped == folder
    if os.getuid() != 0:
        folder.chmod(0o300)
    try:
        assert upload(site).status_code == 303
        assert site["carl"].get("/publish").status_code == 200
    finally:
        folder.chmod(0o700)


def test_what_nobody_published_is_removed_after_a_while(site: ConsoleSite) -> None:
    upload(site)
    folder = site.opened.site.dropped
    stranger = folder / "keep me.txt"
    stranger.write_text("x")
    fresh = dropped(site)[-1] if is_upload(dropped(site)[-1].name) else dropped(site)[-2]
    for path in dropped(site):
        if path != fresh:
            os.utime(path, (0, 0))
    sweep_uploads(site.opened)
    assert {path.name for path in dropped(site)} == {fresh.name, stranger.name}
    assert {one.name for one in known_uploads(site.opened.log)} == {fresh.name}
    stranger.unlink()
