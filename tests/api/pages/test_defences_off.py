"""The attacks on the console that other tests see refused, once with the defence and once without: an attack that fails
both times would prove nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from string import ascii_lowercase

import pytest
from flask import Flask, request

from querygate.control.sessions import Sessions
from querygate.core.extracts import approval_states
from querygate.core.limits.token_bucket import Throttle
from querygate.site.extract_requests import extracts
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.web import create_app
from querygate.web.console import page_session
from querygate.web.console.console import Console
from querygate.web.console.page_session import COOKIE
from querygate.web.manual.manual_pages import Manual
from tests.api.browser import Browser
from tests.api.console_site import ConsoleSite
from tests.each import each

SCRIPT = "<script>alert(1)</script>"
PLANTED = "f" * 64
ELSEWHERE = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}

Patch = pytest.MonkeyPatch


def fresh(site: ConsoleSite) -> Flask:
    """The application anew, with the limits of a real one: templates are compiled, and failures counted, in each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QUERYGATE_LOGIN_FAILURES_PER_MINUTE", "10")
        return create_app(open_gate(open_site(site.small.folder)))


# -- attacks: whether they came through --------------------------------------------------------------------------------


def send_a_form_from_elsewhere(site: ConsoleSite, app: Flask) -> bool:
    """A page of another site has the browser of a custodian give a grant."""
    carl = Browser(app, site.small.keys["carl"])
    before = len(site.opened.grants.list_grants())
    carl.client.post("/access/grants", data={"to": "user", "name": "bob", "dataset": "clinic"}, headers=ELSEWHERE)
    return len(site.opened.grants.list_grants()) > before


def send_a_form_without_proof(site: ConsoleSite, app: Flask) -> bool:
    """The same by a browser too old to say where a form comes from."""
    carl = Browser(app, site.small.keys["carl"])
    before = len(site.opened.grants.list_grants())
    carl.client.post("/access/grants", data={"to": "user", "name": "bob", "dataset": "clinic"})
    return len(site.opened.grants.list_grants()) > before


def store_a_script(site: ConsoleSite, app: Flask) -> bool:
    ann = Browser(app, site.small.keys["ann"])
    ann.post("/saved", part=False, name=SCRIPT, dataset="clinic", sql="SELECT COUNT(*) FROM clinic", shared="true")
    return SCRIPT in Browser(app, site.small.keys["carl"]).get("/saved").text


def reflect_a_script(site: ConsoleSite, app: Flask) -> bool:
    sent = '"><script>alert(1)</script>'
    return SCRIPT in Browser(app, site.small.keys["ann"]).get("/history", query_string={"q": sent}).text


def read_the_answer_of_another(site: ConsoleSite, app: Flask) -> bool:
    asked = re.search(r"q_\w{26}", Browser(app, site.small.keys["ann"]).ask("SELECT COUNT(*) FROM clinic").text)
    assert asked
    return "40 exactly" in Browser(app, site.small.keys["bob"]).get(f"/answers/{asked[0]}").text


def read_the_request_of_another(site: ConsoleSite, app: Flask) -> bool:
    ann, bob = (Browser(app, site.small.keys[name]) for name in ("ann", "bob"))
    wish = {"purpose": "a secret plan", "kind": "k-anonymous", "formats": "csv"}
    made = ann.post("/datasets/clinic/request", part=False, **wish).headers["Location"]
    return "a secret plan" in bob.get(made).text


def climb_out_of_the_documentation(site: ConsoleSite, app: Flask) -> bool:
    (site.small.folder / "secret.txt").write_text("what nobody may read")
    depth = "%2e%2e/" * 12
    return "what nobody may read" in app.test_client().get(f"/docs/{depth}{site.small.folder}/secret.txt").text


def plant_a_session(site: ConsoleSite, app: Flask) -> bool:
    """Somebody is made to sign in with a cookie that the attacker has set, and knows."""
    victim, attacker = app.test_client(), app.test_client()
    for client in (victim, attacker):
        client.set_cookie(COOKIE, PLANTED)
    victim.post("/sign-in", data={"key": site.small.keys["ann"]})
    return attacker.get("/history").status_code == 200


def guess_keys(site: ConsoleSite, app: Flask) -> bool:
    client = app.test_client()
    tried = [
        client.post("/sign-in", data={"key": f"qg_aaaaaaaa_{'a' * 50}{ascii_lowercase[number]}b"}).status_code
        for number in range(26)
    ]
    return 429 not in tried


# -- defences, taken away ----------------------------------------------------------------------------------------------


def no_look_at_the_origin(patch: Patch, site: ConsoleSite) -> None:
    patch.setattr(page_session, "check_origin", lambda: None)
    no_proof(patch, site)  # either is enough


def no_proof(patch: Patch, site: ConsoleSite) -> None:
    patch.setattr(page_session, "check_proof", lambda session: None)


def no_escapes(patch: Patch, site: ConsoleSite) -> None:
    patch.setattr(Flask, "select_jinja_autoescape", lambda app, name: False)


def answers_of_anybody(patch: Patch, site: ConsoleSite) -> None:
    def find(self: Console, principal: object, query_id: str) -> object:
        line = site.opened.log.query(query_id)
        return line, line and line["answer"]

    patch.setattr(Console, "_find", find)


def requests_of_anybody(patch: Patch, site: ConsoleSite) -> None:
    patch.setattr(extracts, "check_seen", lambda by, found: found)
    patch.setattr(approval_states, "check_seen", lambda by, found: found)


def names_that_are_paths(patch: Patch, site: ConsoleSite) -> None:
    def show(self: Manual, name: str = "") -> str:
        return (Path(__file__).parent / name).read_text()

    patch.setattr(Manual, "show", show)


def tokens_from_outside(patch: Patch, site: ConsoleSite) -> None:
    """The session keeps the token that the browser came with, as many frameworks once did."""

    def begin(self: Sessions, whose: str, named: str) -> str:
        self._entropy, entropy = lambda size: bytes.fromhex(request.cookies[COOKIE]), self._entropy
        try:
            return real(self, whose, named)
        finally:
            self._entropy = entropy

    real = Sessions._begin
    patch.setattr(Sessions, "_begin", begin)
    patch.setattr(Sessions, "end", lambda self, token: None)


def no_throttle(patch: Patch, site: ConsoleSite) -> None:
    patch.setattr(Throttle, "left_s", lambda self, lane, now_s: 0.0)
    patch.setattr(Throttle, "wait_s", lambda self, lane, now_s: 0.0)


@contextmanager
def without(defence: Callable[[Patch, ConsoleSite], None], site: ConsoleSite) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        defence(patch, site)
        yield


CASES = (
    (send_a_form_from_elsewhere, no_look_at_the_origin),
    (send_a_form_without_proof, no_proof),
    (store_a_script, no_escapes),
    (reflect_a_script, no_escapes),
    (read_the_answer_of_another, answers_of_anybody),
    (read_the_request_of_another, requests_of_anybody),
    (climb_out_of_the_documentation, names_that_are_paths),
    (plant_a_session, tokens_from_outside),
    (guess_keys, no_throttle),
)


@each("attack, defence", CASES)
def test_an_attack_fails_for_its_defence_alone(
    site: ConsoleSite, attack: Callable[[ConsoleSite, Flask], bool], defence: Callable[[Patch, ConsoleSite], None]
) -> None:
    assert not attack(site, fresh(site))
    with without(defence, site):
        assert attack(site, fresh(site))
