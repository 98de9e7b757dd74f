"""The file of single sign-on: what it says, and what is not accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from querygate.control.grants import GroupGrant
from querygate.core.errors import ConfigError
from querygate.core.rights import MODES
from querygate.site.layout import Site
from querygate.site.settings import load_settings
from querygate.site.sign_on.sign_on_settings import SECRET_VARIABLE, SIGN_ON_KEYS, is_safe_address, load_sign_on
from tests.each import each

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "settings.md"
LEAST = 'issuer = "https://login.example.org"\nclient_id = "gate"\n'


@pytest.fixture
def load(tmp_path):
    def loaded(text, environment=None, url="https://gate.example.org/"):
        (tmp_path / "sign-on.toml").write_text(text)
        (tmp_path / "querygate.toml").write_text(f'single_sign_on = "sign-on.toml"\npublic_url = "{url}"\n')
        return load_sign_on(Site(tmp_path, load_settings(tmp_path, {})), environment or {})

    return loaded


def test_without_the_setting_there_is_none(tmp_path):
    assert load_sign_on(Site(tmp_path, load_settings(tmp_path, {}))) is None


def test_what_is_not_said_has_a_default(load):
    found = load(LEAST)
    assert (found.public_url, found.scopes, found.groups_claim) == (
        "https://gate.example.org",
        ("openid", "profile"),
        "groups",
    )
    assert (found.rules, found.client_secret) == ((), "")


def test_the_secret_is_in_a_file_or_in_the_environment_and_not_shown(load, tmp_path):
    (tmp_path / "secret").write_text("from the file\n")
    text = LEAST + 'client_secret_file = "secret"\n'
    found = load(text)
    assert found.client_secret == "from the file"
    assert "from the file" not in repr(found)
    assert load(text, {SECRET_VARIABLE: "from outside"}).client_secret == "from outside"
    assert load(LEAST, {SECRET_VARIABLE: "from outside"}).client_secret == "from outside"
    (tmp_path / "secret").unlink()
    with pytest.raises(ConfigError, match="client_secret_file"):
        load(text)


GROUPS = """
[groups."a b/ä"]
role = "auditor"
[groups.second]
role = "researcher"
grants = [{dataset = "survey", modes = ["extract", "interval"]}, {dataset = "*"}]
[groups.third]
grants = [{dataset = "*"}]
"""


def test_the_first_role_counts_and_grants_add_up(load):
    found = load(LEAST + GROUPS)
    both = found.allowance(frozenset({"third", "second", "a b/ä", "unknown"}))
    assert both.role == "auditor"
    assert both.grants == (GroupGrant("survey", ("interval", "extract")), GroupGrant("*", MODES))
    assert found.allowance(frozenset({"third"})).role is None
    assert found.allowance(frozenset()).grants == ()


@each(
    "text",
    [
        "",
        'issuer = "https://login.example.org"\n',
        'client_id = "gate"\n',
        LEAST + "issuer_ = 1\n",
        LEAST.replace("https", "http"),
        LEAST.replace("https://login", "https://me@login"),
        LEAST.replace("example.org", "example.org?x=1"),
        LEAST.replace('"gate"', '""'),
        LEAST.replace('"gate"', "7"),
        LEAST.replace('"gate"', '"a\\u0000b"'),
        LEAST + 'scopes = ["profile"]\n',
        LEAST + "scopes = []\n",
        LEAST + 'scopes = "openid"\n',
        LEAST + "clock_skew_s = -1\n",
        LEAST + "clock_skew_s = 301\n",
        LEAST + "clock_skew_s = nan\n",
        LEAST + "clock_skew_s = true\n",
        LEAST + 'timeout_s = "5"\n',
        LEAST + "timeout_s = 0\n",
        LEAST + "key_hours = inf\n",
        LEAST + "groups = 1\n",
        LEAST + "[groups]\nx = 1\n",
        LEAST + '[groups.x]\nrole = "console"\n',
        LEAST + '[groups.x]\nrole = "root"\n',
        LEAST + '[groups.x]\nrole = ["admin"]\n',
        LEAST + '[groups.x]\nroles = "admin"\n',
        LEAST + '[groups.x]\ngrants = "survey"\n',
        LEAST + '[groups.x]\ngrants = ["survey"]\n',
        LEAST + '[groups.x]\ngrants = [{dataset = "Survey"}]\n',
        LEAST + '[groups.x]\ngrants = [{dataset = "survey", modes = []}]\n',
        LEAST + '[groups.x]\ngrants = [{dataset = "survey", modes = ["exact"]}]\n',
        LEAST + '[groups.x]\ngrants = [{dataset = "survey", until = "2026-12-31"}]\n',
        "issuer = ",
        "[" * 5000,
    ],
)
def test_what_is_not_accepted(load, text):
    with pytest.raises(ConfigError) as refused:
        load(text)
    assert refused.value.code == "QG805"
    assert "sign-on.toml" in refused.value.detail
    assert refused.value.remedy


@each("url", ["", "http://gate.example.org", "gate.example.org", "https://"])
def test_browsers_come_back_over_tls(load, url):
    with pytest.raises(ConfigError, match="public_url"):
        load(LEAST, url=url)


def test_a_provider_on_this_machine_may_do_without_tls():
    here = "http://127.0.0.1:8081"
    assert is_safe_address(f"{here}/token", here)
    assert not is_safe_address("http://10.0.0.1/token", here)
    assert not is_safe_address(f"{here}/token", "https://login.example.org")
    assert is_safe_address("https://elsewhere.example/token", here)


def test_every_key_is_documented():
    text = PAGE.read_text()
    assert all(f"| `{key.name}` |" in text for key in SIGN_ON_KEYS)
