from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def without_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take longer than all the rest; tests that are about them draw them."""
    if "pictures" not in request.node.name:
        monkeypatch.setattr("querygate.custody.extract.extract_report.can_draw", lambda: False)
