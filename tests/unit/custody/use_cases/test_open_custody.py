"""Commands that ask for ranges do not open what noise needs; those that ask for noise do."""

from __future__ import annotations

from pathlib import Path

import pytest

from querygate.core.errors import NotPermitted
from querygate.core.types import Principal, QueryOptions, Request
from querygate.custody.use_cases.open_custody import NoiseOnDemand, with_vault
from querygate.gate.answer import ask, read_budget
from querygate.site.open_gate import open_gate
from tests.empty_site import empty_site
from tests.small_release import publish_small

CARL = Principal("carl", "custodian")


def is_opened(noise: object) -> bool:
    assert isinstance(noise, NoiseOnDemand)
    return "_noise" in vars(noise)


def test_noise_is_opened_when_it_is_asked_for(tmp_path: Path) -> None:
    opened = open_gate(empty_site(tmp_path / "site"))
    publish_small(opened, tmp_path, rows=200)
    gate = with_vault(opened).gate

    ask(Request(CARL, "patients", "SELECT COUNT(*) FROM patients"), gate)
    with pytest.raises(NotPermitted):  # the policy allows no noise
        ask(Request(CARL, "patients", "SELECT COUNT(*) FROM patients", QueryOptions(mode="laplace")), gate)
    assert not is_opened(gate.noise)


def test_a_budget_is_read_from_the_ledger(tmp_path: Path) -> None:
    opened = open_gate(empty_site(tmp_path / "site"))
    laplace = {"epsilon_per_query": 0.1, "epsilon_total": 1, "epsilon_per_user": 0.5}
    publish_small(opened, tmp_path, rows=200, answers={"modes": ["interval", "laplace"]}, laplace=laplace)
    gate = with_vault(opened).gate

    told = read_budget(CARL, "patients", gate)

    assert is_opened(gate.noise)
    assert told["epsilon_per_query"] == 0.1
