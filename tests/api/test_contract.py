"""The API keeps to its own description, whoever calls. Few calls here; `make soak ONLY=api` sends many."""

from __future__ import annotations

from querygate.web import create_app
from querygate.web.routes import ROUTES
from tests.described_api import DescribedApi, described_site


def test_no_call_gives_what_is_not_described(tmp_path):
    site = described_site(tmp_path)
    tried = DescribedApi(site, create_app(site.opened), calls=1, start=7).run()
    assert tried.wrong == {}
    assert tried.calls >= 6 * len(ROUTES)
    assert {200, 400, 401, 403, 404} <= {status for _, status in tried.statuses}
