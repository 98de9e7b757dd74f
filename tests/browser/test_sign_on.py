"""Single sign-on in a browser: to the provider's page and back, an answer, a program let in, and out again."""

from __future__ import annotations

import threading

import pytest
from werkzeug.serving import make_server

from querygate.site.open_gate import open_gate
from querygate.web import create_app
from querygate.web.routes import API
from tests.api.small_site import make_small_site
from tests.browser.test_custodian import grave_findings
from tests.oidc_provider import OidcProvider, running
from tests.sign_on_site import describe_provider
from tests.work import HANG_S


@pytest.fixture
def gate(tmp_path):
    """The small site with a provider; its application and its address."""
    small = make_small_site(tmp_path)
    apps = []
    server = make_server("127.0.0.1", 0, lambda environ, start: apps[0](environ, start), threaded=True)
    url = f"http://127.0.0.1:{server.server_port}"
    with running(OidcProvider()) as provider:
        provider.add("Zoe", "researchers")
        apps.append(create_app(open_gate(describe_provider(small.opened.site, provider, url))))
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield apps[0], url, provider
        server.shutdown()
        server.server_close()
        thread.join(HANG_S)


def test_in_through_the_provider_and_out_again(chromium, gate):
    app, url, provider = gate
    context, complaints = chromium.new_context(), []
    page = context.new_page()
    page.set_default_timeout(1000 * HANG_S)
    page.on("console", lambda message: complaints.append(message.text) if "Security" in message.text else None)
    page.goto(f"{url}/datasets/clinic")
    assert grave_findings(page, "sign in with a provider") == []
    page.click("text=Sign in with the hospital")
    page.wait_for_url(f"{provider.issuer}/**")
    page.fill("#who", "Zoe")
    page.click("button")
    page.wait_for_url(f"{url}/datasets/clinic")
    page.click("#run")
    page.wait_for_selector("#result tbody tr")

    client = app.test_client()
    device = client.post(f"{API}/device", json={"scopes": ["ask"]}).json
    page.goto(device["verification_uri_complete"])
    assert page.locator("#shown").inner_text() == device["user_code"]
    assert grave_findings(page, "a program to let in") == []
    page.click("button:has-text('Authorise')")
    page.wait_for_selector("text=The program is authorised.")
    given = client.post(f"{API}/device/token", json={"device_code": device["device_code"]}).json
    assert (given["state"], given["user"]) == ("approved", "Zoe")

    page.click("text=Sign out")
    page.wait_for_url(f"{url}/sign-in")  # by way of the provider
    assert "/logout" in provider.calls
    page.goto(f"{url}/history")
    assert page.url.startswith(f"{url}/sign-in")
    assert complaints == []
    context.close()
