"""Certificates against everything that can be tried on tiny tables; `make soak ONLY=views` goes on with other seeds."""

from __future__ import annotations

import pytest

from tests.unit.methods.views.tiny import tried


@pytest.mark.parametrize("seed", range(0, 100, 10))
def test_certificates_hold_against_trying_everything(seed: int) -> None:
    assert [text for one in range(seed, seed + 10) for text in tried(one)] == []
