"""The demo site, published once: what the documentation's examples are run against."""

from __future__ import annotations

from pathlib import Path

import pytest

from querygate import demo
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate


@pytest.fixture(scope="session")
def demo_site(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    """The two demo datasets, as `querygate demo` publishes them."""
    opened = open_gate(init_site(tmp_path_factory.mktemp("demo") / "site"))
    for dataset in demo.DATASETS:
        policy: Path = demo.HERE / f"{dataset}.toml"
        publish_to(opened, load_policy(policy), str(policy.with_suffix(".csv")), user="tester")
    return opened


@pytest.fixture(scope="session")
def classes_site(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    """The demo study by classes over all quasi-identifiers."""
    opened = open_gate(init_site(tmp_path_factory.mktemp("classes") / "site"))
    publish_to(opened, load_policy(demo.HERE / "survey_by_classes.toml"), str(demo.HERE / "survey.csv"), user="tester")
    return opened


@pytest.fixture(scope="session")
def ann(demo_site: OpenSite) -> OpenSite:
    """The demo site with a researcher whom several pages are about."""
    demo_site.accounts.add_user("ann", "researcher")
    return demo_site
