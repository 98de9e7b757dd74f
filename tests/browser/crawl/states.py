"""What there is to see, and what somebody does to see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from string import ascii_lowercase

from playwright.sync_api import Page

from querygate.core.rights import TABLE, UserRole
from querygate.web.console.page_session import PageRoute
from tests.browser.crawl.crawler import CUT, State
from tests.browser.crawl.shown_site import GROUPED, STATES, ShownSite

ROLES: dict[str, UserRole] = {
    "ann": "researcher",
    "rita": "reviewer",
    "carl": "custodian",
    "olaf": "auditor",
    "dora": "admin",
}
WIDE = "SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 33 AND 57"
DOCS = ((1280, "light"), (390, "dark"))
"""Pages of the documentation are alike: each is looked at twice."""

EXAMPLES = {
    "dataset": "/datasets/survey",
    "new_request": "/datasets/trial/request",
    "work": "{draft policy}",
    "versions": "/publish/datasets/long",
    "findings": "/audits/clinic",
    "case": "{case}",
    "user": "/access/users/ann",
    "entry": "/log/3",
    "step": "/tour/1",
    "answer": "{answer survey WHO}",
    "save_asked": "{answer clinic WHO}/save",
    "model": "{model WHO}",
    "notebook": "{notebook WHO}",
    "saved_query": "{saved WHO}",
    "request": "{in_review}",
    "edit_request": "{draft}/edit",
    "preview": "{in_review}/preview",
    "job": "{job}",
}
"""Where a page with something in its address is found."""


def example(rule: str, name: str, who: str, site: ShownSite) -> str:
    """The address of a page as somebody opens it; empty where it has none of its own to be opened."""
    text = EXAMPLES.get(name, "" if "<" in rule else rule)
    for key, value in site.at.items():
        text = text.replace("{" + key.replace(f" {who}", " WHO") + "}", value)
    return "" if "{" in text else text


def states_of_roles(pages: list[PageRoute], site: ShownSite) -> Iterator[State]:
    """Every page that is looked at, for everybody who may open it; and one that they may not."""
    for who, role in ROLES.items():
        for page in pages:
            path = example(page.rule, page.name, who, site)
            is_open = not page.rights or bool(TABLE[role] & {*page.rights})
            if path and page.method == "GET" and page.who == "session" and is_open:
                yield State(f"{page.name} as {role}", path, who, statuses=MISSING.get((page.name, who), ()))
        closed = next((one for one in ("/site", "/history", "/today") if not _is_open(pages, one, role)), "")
        if closed:
            yield State(f"no right as {role}", closed, who, statuses=(403,))


MISSING: dict[tuple[str, str], tuple[int, ...]] = {
    **{("device", who): (404,) for who in ROLES},  # for those who came by single sign-on
    **{("job", who): (404,) for who in ROLES if who != "carl"},
    **{("preview", who): (403,) for who in ("ann",)},
    **{("step", who): (404,) for who in ("rita", "olaf", "dora")},  # the tour is of a researcher and a custodian
}


def _is_open(pages: list[PageRoute], path: str, role: UserRole) -> bool:
    return any(page.rule == path and TABLE[role] & {*page.rights} for page in pages)


def states_of_nobody() -> Iterator[State]:
    yield State("sign in", "/sign-in")
    yield State("session expired", "/history?q=a")
    yield State("wrong key", "/sign-in", act=lambda page: _sign_in(page, "qg_wrong"), statuses=(401,), waits=".wrong")
    yield State("no such page", "/nowhere", statuses=(404,))
    yield State("no provider", "/sign-in/provider", statuses=(404, 403, 400))
    yield State("no callback", "/sign-in/callback", statuses=(404, 403, 400))
    yield State("signed out", "/signed-out", statuses=(404,))
    for path in (
        "/docs/search?q=refused",
        "/docs/search?q=xyzzy",
        "/docs/search",
        "/docs/refusals",
        "/docs/",
    ):
        yield State(f"documentation {path}", path)
    yield State("the API, to be tried", "/docs/api", looks=DOCS)
    yield State("no such page of the documentation", "/docs/nowhere", statuses=(404,))


def throttled() -> State:
    """The last, as it keeps new keys of this address out."""

    def guess(page: Page) -> None:
        for number in range(26):
            _sign_in(page, f"qg_aaaaaaaa_{'a' * 50}{ascii_lowercase[number]}b")
            if "QG317" in page.content():
                return
        raise AssertionError("nobody was throttled")

    return State("sign in throttled", "/sign-in", act=guess, statuses=(401, 429), waits=".wrong")


def _sign_in(page: Page, key: str) -> None:
    page.fill("#key", key)
    page.press("#key", "Enter")
    page.wait_for_load_state()


def states_of_questions(site: ShownSite) -> Iterator[State]:
    def work(page: Page) -> None:
        """What the page has asked for is done, once it has asked."""
        page.wait_for_timeout(200)
        site.work()

    clinic, noisy = "/datasets/clinic", "/datasets/patients"
    yield State("answer", clinic, "ann", ask(GROUPED), waits="#result svg")
    yield State("wide answer explained", clinic, "ann", then(ask(WIDE), press("Why is it this wide?")), waits=".why")
    yield State("refusal", clinic, "ann", ask("SELECT sex, AVG(sbq) FROM clinic"), (422,), waits=".cm-lintRange-error")
    yield State("syntax error", clinic, "ann", ask("SELEC"), (422,), waits="#result .refusal")
    yield State("completion", clinic, "ann", type_sql("SELECT s"), waits=".cm-tooltip-autocomplete")
    yield State("running", clinic, "ann", then(stall, ask(GROUPED, wait=False)), waits="#running.htmx-request")
    yield State("unreachable", clinic, "ann", then(cut, ask(GROUPED, wait=False)), (CUT,), "#result .refusal")
    histogram = "SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) FROM clinic GROUP BY decade"
    yield State("histogram", clinic, "ann", ask(histogram), waits="svg.histogram")
    quantiles = "SELECT QUANTILE_CONT(sbp, [0.1, 0.5, 0.9]) FROM clinic"
    yield State("distribution", clinic, "ann", ask(quantiles), waits="svg.steps")
    yield State("ratios", clinic, "ann", ask("SELECT ODDS_RATIO(sbp > 130, sex = 'F') FROM clinic"), waits="svg.ratios")
    ribbon = "SELECT FLOOR(age / 10) * 10 AS decade, AVG(sbp) FROM clinic GROUP BY decade"
    yield State("ribbon", clinic, "ann", ask(ribbon), waits="svg.ribbon")
    yield State("model", clinic, "ann", fit("linear", "sbp ~ bands(age) + sex"), waits="svg.intervals")
    yield State("model refused", clinic, "ann", fit("linear", "sbp ~ nothing"), (422,), waits="#result .refusal")
    yield State("table built", clinic, "ann", build, waits="#built button")
    yield State("save form", clinic, "ann", press("Save …"), waits="#keep form")
    noise = then(work, choose("#mode", "laplace"))
    yield State("price", noisy, "ann", then(noise, press("What would it"), work), waits="#result h2")
    yield State("noisy answer", noisy, "ann", then(noise, press("Run"), work), waits="#result table")
    yield State("no worker", noisy, "ann", waits=".budget p")
    yield State("long names answered", "/datasets/long", "ann", ask("SELECT ward, AVG(sbp) FROM long GROUP BY ward"))
    yield State("history, nothing found", "/history?q=xyzzy", "ann")
    yield State("history, found", "/history?q=sbp", "ann")
    yield State("saved, nothing found", "/saved?q=xyzzy", "ann")


def states_of_work(site: ShownSite) -> Iterator[State]:
    """Extracts, audits, publishing, access: each step of them."""
    for state in (*STATES, "revoked", "expired"):
        for who in ("ann", "rita", "carl"):
            yield State(f"request {state}", site.at[state], who)
    for name in ("rita", "carl"):
        yield State("figures of a request", site.at["in_review"], name, waits="h3 >> text=What it preserves")
        yield State("requests in a state", "/requests?state=released", name)
    yield State("request without a purpose", "/datasets/trial/request", "ann", unpurposed, (422,), ".refusal")
    case = site.at["case"]
    yield State("case, masked", case, "olaf")
    yield State("case, resolved", site.at["case resolved"], "carl")
    yield State("case, unmasking", case, "carl", press("Unmask (logged)"), waits="h2 >> text=In progress")
    yield State("case, suspend", case, "carl", press("Suspend …"), waits="h1 >> text=Suspend")
    for name in ("draft policy", "check", "check wrong", "preview", "map", "what-if", "published", "waiting"):
        yield State(f"publish: {name}", site.at[name], "carl")
    yield State("log, nothing found", "/log?user=xyzzy", "carl")
    yield State("log, by code", "/log?kind=query", "olaf")
    yield State("log, being verified", "/log", "carl", press("Verify the log"), waits="h2 >> text=In progress")
    questions = {
        "/access/users/ann": ("Suspend …", "Remove …", "Revoke …"),
        "/publish/datasets/long": ("Withdraw the dataset …", "Serve version"),
        "/access": ("Revoke …",),
    }
    for path, buttons in questions.items():
        for button in buttons:
            who = "dora" if path.endswith("/ann") else "carl"
            yield State(f"confirm {button}", path, who, then(open_all, press(button)), waits="form.card.narrow")
    yield State(
        "a new key", "/access/users/bob", "dora", then(open_all, press("Create a key", last=True)), waits="#new-key"
    )
    yield State("user refused", "/access", "dora", then(open_all, add_nobody), (422,), waits=".refusal")
    for name in ("a" * 40, "eve"):
        yield State(f"user {name[:3]}", f"/access/users/{name}", "dora")
    for kind in ("notebook", "saved"):
        yield State(f"delete a {kind}", site.at[f"{kind} ann"], "ann", press("Delete …"), waits="form.card.narrow")
        yield State(f"{kind} of somebody else", site.at[f"{kind} carl"], "ann")


def states_of_emptiness() -> Iterator[State]:
    places = {
        "ann": ("/datasets", "/history", "/saved", "/notebooks", "/requests"),
        "carl": ("/today", "/datasets", "/audits", "/log", "/publish", "/access", "/site", "/requests"),
        "rita": ("/requests", "/datasets"),
        "olaf": ("/today", "/audits", "/log"),
        "dora": ("/access", "/site"),
    }
    for who, paths in places.items():
        for path in paths:
            yield State(f"empty {path}", path, who, host="empty")


# -- what somebody does ------------------------------------------------------------------------------------------------

Act = Callable[[Page], None]


def then(*acts: Act) -> Act:
    def all_of(page: Page) -> None:
        for act in acts:
            act(page)

    return all_of


def type_sql(sql: str) -> Act:
    def typed(page: Page) -> None:
        page.click(".cm-content")
        page.keyboard.press("Control+A")
        page.keyboard.type(sql)

    return typed


def ask(sql: str, *, wait: bool = True) -> Act:
    def asked(page: Page) -> None:
        page.wait_for_selector(".cm-editor")
        page.evaluate("text => window.querygateEditor.replace(text)", sql)
        page.click("#run")
        if wait:
            page.wait_for_selector("#result > *")

    return asked


def press(text: str, *, last: bool = False) -> Act:
    def pressed(page: Page) -> None:
        found = page.locator(f"button:has-text('{text}')")
        (found.last if last else found.first).click()

    return pressed


def choose(selector: str, value: str) -> Act:
    return lambda page: page.select_option(selector, value) and None


def fit(family: str, formula: str) -> Act:
    def fitted(page: Page) -> None:
        page.click("summary >> text=Fit a model")
        page.select_option("#m-family", family)
        page.fill("#m-formula", formula)
        page.click("text=Fit the model")
        page.wait_for_selector("#result > *")

    return fitted


def build(page: Page) -> None:
    page.click("text=Build a table")
    page.select_option("#t-rows", "sex")
    page.click("text=Write the statement")


def open_all(page: Page) -> None:
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def unpurposed(page: Page) -> None:
    page.evaluate("() => document.getElementById('purpose').removeAttribute('required')")
    page.click("text=Save as draft")


def add_nobody(page: Page) -> None:
    page.fill("#name", "ann")
    page.click("button:text-is('Add')")


def stall(page: Page) -> None:
    """Nothing comes back, for as long as the page is open."""
    page.route("**/answer", lambda route: None, times=1)


def cut(page: Page) -> None:
    page.route("**/answer", lambda route: route.abort(), times=1)
