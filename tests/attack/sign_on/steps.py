"""What a program or a browser does at a site with single sign-on, and what the site then holds."""

from __future__ import annotations

from querygate.control import Actor
from querygate.control.sign_on.identities import Identities
from querygate.site.account_changes import RESERVED
from querygate.web.routes import API

ADMIN = Actor("dora")


def users(site):
    return {user.name: (user.role, user.source) for user in site.opened.accounts.list_users()}


def grants(site, source="oidc"):
    return sorted(
        (one.name, one.dataset, one.modes) for one in site.opened.grants.list_grants() if one.source == source
    )


def identities(site):
    return Identities(site.opened.log, site.opened.grants, RESERVED)


def begin_device(site, **body):
    return site.app.test_client().post(f"{API}/device", json=body).json


def redeem(site, device):
    return site.app.test_client().post(f"{API}/device/token", json={"device_code": device["device_code"]})


def own_keys(site, key):
    return site.app.test_client().get(f"{API}/keys/own", headers={"Authorization": f"Bearer {key}"})


def decide(browser, code, decision="yes"):
    return browser.client.post("/device", data={"proof": browser.proof(), "code": code, "decision": decision})
