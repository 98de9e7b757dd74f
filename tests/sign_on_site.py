"""A site whose people come through a provider."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import requests
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from querygate.site.layout import Site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.web import create_app
from tests.oidc_provider import CLIENT, SECRET, OidcProvider
from tests.work import HANG_S

GROUPS = """
[groups.reviewers]
role = "reviewer"

[groups.researchers]
role = "researcher"
grants = [{dataset = "clinic", modes = ["interval"]}]

[groups.extra]
grants = [{dataset = "other"}, {dataset = "clinic", modes = ["interval"]}]
"""


def describe_provider(site: Site, provider: OidcProvider, public_url: str, more: str = "") -> Site:
    """Write the file of single sign-on, and register the gate at the provider."""
    lines = f'issuer = "{provider.issuer}"\nclient_id = "{CLIENT}"\nclient_secret_file = "client.secret"\n'
    (site.folder / "client.secret").write_text(SECRET + "\n")
    (site.folder / "sign-on.toml").write_text(f'{lines}name = "the hospital"\n{more}{GROUPS}')
    settings = site.folder / "querygate.toml"
    settings.write_text(f'{settings.read_text()}\nsingle_sign_on = "sign-on.toml"\npublic_url = "{public_url}"\n')
    provider.client.redirect_uris[:] = [f"{public_url}/sign-in/callback"]
    return open_site(site.folder)


@dataclass
class SignOnSite:
    opened: OpenSite
    app: Flask
    provider: OidcProvider

    def browser(self) -> Traveller:
        return Traveller(self.app.test_client(), self.provider)

    def events(self, *kinds: str) -> list[tuple[str, Any, dict[str, Any]]]:
        found = self.opened.log.events()
        return [(event["kind"], event["user"], event["body"]) for event in found if event["kind"] in kinds]


def make_sign_on_site(site: Site, provider: OidcProvider, more: str = "") -> SignOnSite:
    opened = open_gate(describe_provider(site, provider, "http://127.0.0.1", more))
    return SignOnSite(opened, create_app(opened), provider)


class Traveller:
    """A browser that goes to the provider and comes back."""

    def __init__(self, client: FlaskClient, provider: OidcProvider) -> None:
        self.client, self.provider = client, provider

    def depart(self, then: str = "/") -> str:
        """Where the gate sends it."""
        sent = self.client.get("/sign-in/provider?" + urlencode({"next": then}))
        assert sent.status_code == 303, sent.text
        return sent.headers["Location"]

    def sign_in_there(self, address: str, name: str) -> str:
        """Sign in at the provider as this person; where it sends the browser back to."""
        page = requests.get(address, timeout=HANG_S)
        assert page.status_code == 200, page.text
        sent = requests.post(address, {"who": name}, allow_redirects=False, timeout=HANG_S)
        return sent.headers["Location"]

    def arrive(self, back: str) -> TestResponse:
        parts = urlsplit(back)
        return self.client.get(f"{parts.path}?{parts.query}")

    def sign_in(self, name: str, then: str = "/") -> TestResponse:
        return self.arrive(self.sign_in_there(self.depart(then), name))

    @property
    def is_in(self) -> bool:
        return self.client.get("/history").status_code != 303

    def proof(self, page: str = "/device") -> str:
        found = re.search(r'name="proof" value="(\w+)"', self.client.get(page).text)
        assert found
        return found[1]
