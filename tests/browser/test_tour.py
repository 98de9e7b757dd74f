"""The tour of the demo in two windows: an attack is made in one, and found and resolved in the other."""

from __future__ import annotations

from pathlib import Path

import pytest

import querygate.demo
from querygate.control import Actor, Grantee
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.demo import PEOPLE, new_site
from querygate.site.open_gate import open_gate
from tests.api.console_site import make_console
from tests.browser.conftest import serving
from tests.browser.test_custodian import grave_findings

DEMO = Path(querygate.demo.__file__).parent


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The site of the demo with its small clinic, and a worker at work."""
    opened = open_gate(new_site(tmp_path_factory.mktemp("demo")))
    publish_to(opened, load_policy(DEMO / "clinic.toml"), str(DEMO / "clinic.csv"), user="demo")
    for name, role in PEOPLE.items():
        opened.accounts.add_user(name, role)
    opened.grants.add(Grantee("user", "ada"), "clinic", by=Actor("demo"))
    keys = {name: opened.accounts.keys.new(name).secret for name in PEOPLE}
    with serving(make_console(opened, keys)) as given:
        yield given


def go_on(page):
    page.click(".tour >> text=Next")
    page.wait_for_load_state()


def test_an_attack_is_made_in_one_window_and_resolved_in_the_other(open_page):
    ada = open_page("ada", "/datasets")
    ada.click("text=Start the tour")
    for step in (1, 2):
        assert f"{step} of 4" in ada.locator(".tour").inner_text()
        ada.wait_for_selector(".cm-editor")
        ada.click("#run")
        ada.wait_for_selector("#result tbody tr")
        assert grave_findings(ada, f"step {step}") == []
        go_on(ada)
    assert ada.locator("main tbody tr, main li").count() >= 2  # both questions, in the history
    go_on(ada)
    assert "private window" in ada.locator(".tour").inner_text()

    carl = open_page("carl", "/today", is_mobile=True, has_touch=True)
    carl.click("text=Start the tour")
    go_on(carl)
    carl.click("button:text-is('Audit the log now')")
    carl.wait_for_selector(".case a")
    go_on(carl)
    carl.click("text=differencing by ada")
    assert carl.locator("mark").all_inner_texts() == ["50", "51"]
    assert carl.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    go_on(carl)
    assert "Resolve it" in carl.locator(".tour").inner_text()
    assert carl.locator("mark").count() == 2  # still at the case
    carl.fill("#note", "It was the tour.")
    carl.click("button:text-is('Resolve')")
    carl.wait_for_selector("h1 >> text=resolved")
    go_on(carl)
    assert "audit.case" in carl.locator("main").inner_text()
    carl.click("text=Finish")
    carl.wait_for_load_state()
    assert carl.locator(".tour").count() == 0
