"""What holds of every page there is, whoever made it: who may open it, that forms are one's own, that looking asks
nothing, that what people wrote is text, and that no part of an address is a path."""

from __future__ import annotations

import importlib
import pkgutil
import re
from itertools import product
from pathlib import Path

import pytest

import querygate.web.console as console_package
from querygate.core.rights import TABLE, UserRole
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from querygate.web import create_app
from querygate.web.console.page_session import PageRoute
from tests.api.browser import Browser
from tests.api.console_site import ConsoleSite
from tests.each import each
from tests.policies import AGE, SBP, make_policy

MODULES = [
    importlib.import_module(f"querygate.web.console.{one.name}")
    for one in pkgutil.iter_modules(console_package.__path__)
]
PAGES: list[PageRoute] = [page for module in MODULES for page in getattr(module, "PAGES", ())]
BEHIND = [page for page in PAGES if page.who == "session"]
PEOPLE: dict[str, UserRole] = {
    "ann": "researcher",
    "rita": "reviewer",
    "carl": "custodian",
    "olaf": "auditor",
    "dora": "admin",
}
SCRIPT = "<script>alert(1)</script>"
CLIMBS = ("..%2f..%2fcontrol.db", "%2e%2e", "..%5c..%5cx", "%00", "x" * 5000, "a%0d%0aSet-Cookie:%20a=b", "ä", "'--")


def address(page: PageRoute, filled: str = "clinic") -> str:
    """The address of a page, its parts filled in with this or with the first of those listed."""
    listed = re.sub(r"<any\((\w+)[^>]*>", r"\1", page.rule)
    return re.sub(r"<[^>]+>", filled, re.sub(r"<int:\w+>", "1", listed))


def test_there_are_pages_of_every_room(site: ConsoleSite) -> None:
    known = {rule.endpoint for rule in site.app.url_map.iter_rules() if rule.endpoint.startswith("page:")}
    assert known == {f"page:{page.name}" for page in PAGES}
    assert len(BEHIND) > 80


def test_a_page_opens_for_its_rights_alone(site: ConsoleSite) -> None:
    """Forms go without their proof: whoever may send one is told that it is out of date, others that it is not for
    them."""
    wrong = []
    for page, (name, role) in product(BEHIND, PEOPLE.items()):
        may = not page.rights or bool(TABLE[role] & {*page.rights})
        found = site[name].client.open(address(page), method=page.method, buffered=True).status_code
        refused = 400 if page.method == "POST" else 403
        if (found == 403) == may or found >= 500 or (page.method == "POST" and may and found != refused):
            wrong.append((page.name, name, found))
    assert wrong == []


def test_no_form_is_taken_from_another_site(site: ConsoleSite) -> None:
    proof, before = site["carl"].proof, len(site.kinds())
    for page in PAGES:
        if page.method == "POST":
            data = {"proof": proof, "sure": "yes", "key": site.small.keys["ann"]}
            elsewhere = {"Origin": "https://elsewhere.example"}
            assert site["carl"].client.post(address(page), data=data, headers=elsewhere).status_code == 400, page.name
    assert len(site.kinds()) == before


def test_looking_asks_nothing(site: ConsoleSite) -> None:
    """What is read may be on record as read; nothing is asked, changed or begun by it."""
    given = re.search(r"q_\w{26}", site["carl"].ask("SELECT COUNT(*) FROM clinic").text)
    assert given
    before, jobs = site.kinds(), site.opened.log.database.rows("SELECT count(*) FROM job")[0][0]
    for page, filled in product(BEHIND, ("clinic", given[0])):
        if page.method == "GET" and not page.name.startswith("follow"):
            site["carl"].get(address(page, filled))
    assert {*site.kinds()[len(before) :]} <= {"audit.read", "log.read", "answer.read", "export.read"}
    assert site.opened.log.database.rows("SELECT count(*) FROM job")[0][0] == jobs


def test_the_page_of_patterns_shows_every_part_that_pages_are_made_of(site: ConsoleSite) -> None:
    """Parts are the templates that are no page of their own; what is drawn is what is asked for while it is drawn."""
    folder = Path(console_package.__file__).parents[1] / "templates" / "console"
    templates = {path: path.read_text() for path in (*folder.rglob("*.html"), *folder.rglob("*.svg"))}
    parts = {f"console/{path.relative_to(folder)}" for path, text in templates.items() if "{% extends" not in text}
    environment, drawn = site.app.jinja_env, set()
    get_template = environment.get_template

    def note(name: str, *more: object, **others: object) -> object:
        drawn.add(name)
        return get_template(name, *more, **others)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(environment, "get_template", note)
        shown = site["carl"].get("/-/patterns")
    assert shown.status_code == 200
    only_in_files = {"console/charts/style.svg"}
    assert parts - drawn == only_in_files
    for seen in ('id="sql"', 'svg class="chart ratios"', 'class="limits"'):  # the editor, and a forest plot
        assert seen in shown.text


@each("climb", CLIMBS)
def test_no_part_of_an_address_is_a_path(site: ConsoleSite, climb: str) -> None:
    for page in BEHIND:
        if page.method == "GET" and climb in address(page, climb):
            shown = site["carl"].get(address(page, climb))
            assert shown.status_code in (303, 400, 403, 404, 410), (page.name, shown.status_code)
            assert "Set-Cookie" not in shown.headers
            assert b"SQLite format" not in shown.data


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """A dataset whose title, column titles and values are script, and somebody who may do everything with it."""
    folder: Path = tmp_path_factory.mktemp("hostile")
    values = [SCRIPT, '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}"]
    rows = [f'{30 + i},"{values[i % 3].replace(chr(34), 2 * chr(34))}",{100 + i}' for i in range(40)]
    (folder / "t.csv").write_text("\n".join(["age,ward,sbp", *rows]) + "\n")
    ward = {"role": "quasi-identifier", "type": "category", "values": values, "title": SCRIPT}
    policy = make_policy("t", {"age": AGE, "ward": ward, "sbp": SBP | {"title": SCRIPT}}, title=SCRIPT, unit="person")
    opened = open_gate(init_site(folder / "site"))
    publish_to(opened, policy.parsed(), str(folder / "t.csv"), user="local")
    opened.accounts.add_user("carl", "custodian")
    return Browser(create_app(opened), opened.accounts.keys.new("carl").secret)


def test_what_people_wrote_is_text_everywhere(hostile: Browser) -> None:
    asked = hostile.ask("SELECT ward, COUNT(*), AVG(sbp) FROM t GROUP BY ward", dataset="t")
    assert asked.status_code == 200, asked.text
    query = re.search(r"q_\w{26}", asked.text)
    assert query
    fitted = hostile.post("/datasets/t/model", family="linear", formula="sbp ~ ward")
    wish = {"purpose": SCRIPT, "columns": "ward", "kind": "microdata", "formats": "csv"}
    made = hostile.post("/datasets/t/request", part=False, **wish).headers.get("Location", "/requests")
    hostile.post(f"{made}/submit", part=False, comment=SCRIPT)
    book = hostile.post("/notebooks", part=False, name=SCRIPT, dataset="t").headers["Location"]
    hostile.post(f"{book}/cells", part=False, kind="query", text="SELECT ward, COUNT(*) FROM t GROUP BY ward")
    saved = hostile.post("/saved", part=False, name=SCRIPT, description=SCRIPT, dataset="t", sql=f"-- {SCRIPT}")
    kept = saved.headers["Location"]
    answer = f"/answers/{query[0]}"
    addresses = ("/datasets", "/datasets/t", "/history", "/today", "/log", "/log/8", "/access", made, "/requests", book)
    pages = [asked, fitted, *map(hostile.get, (*addresses, "/notebooks", f"{book}/html", "/saved", kept, answer))]
    pages += [hostile.get(f"{answer}/chart-{number}.svg") for number in (0, 1)]
    for page in pages:
        assert page.status_code == 200, page.request.path
        assert SCRIPT not in page.text, page.request.path
        assert "<img src=x" not in page.text, page.request.path
    assert "&lt;script&gt;" in asked.text
    assert "{{ 7 * 7 }}" in asked.text


def test_a_session_is_never_taken_over_from_a_cookie_that_was_planted(site: ConsoleSite) -> None:
    client = site.app.test_client()
    client.set_cookie("querygate_session", "f" * 64)
    client.post("/sign-in", data={"key": site.small.keys["ann"]})
    given = client.get_cookie("querygate_session")
    assert given
    assert given.value != "f" * 64
    planted = site.app.test_client()
    planted.set_cookie("querygate_session", "f" * 64)
    assert planted.get("/history").status_code == 303
