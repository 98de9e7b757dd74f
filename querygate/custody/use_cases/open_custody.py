"""Adds noisy answers to a site that has its raw rows, for the custodian's own commands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from querygate.site.budget_evidence import check_anchored
from querygate.site.open_gate import OpenSite

if TYPE_CHECKING:
    from querygate.core.answer_bodies import AnswerBody, BudgetBody, Verdict
    from querygate.core.types import Catalog, Principal
    from querygate.custody.noise.noisy_answer import Noise
    from querygate.gate.query_state import Gate, Passage


def with_vault(opened: OpenSite) -> OpenSite:
    """The site with noisy answers at its gate, for datasets whose policy allows them. Nothing is asked of a site whose
    control database is older than its mark: QG807."""
    check_anchored(opened)
    return replace(opened, gate=replace(opened.gate, noise=NoiseOnDemand(opened)))


@dataclass
class NoiseOnDemand:
    """The noisy path of a site. What it needs is loaded only when somebody asks for noise: a command that gives ranges
    would spend more time on that than on its answer."""

    opened: OpenSite

    def answer(self, passage: Passage, gate: Gate) -> AnswerBody:
        return self._noise.answer(passage, gate)

    def check(self, passage: Passage, gate: Gate) -> Verdict:
        return self._noise.check(passage, gate)

    def budget(self, principal: Principal, catalog: Catalog) -> BudgetBody:
        return self._noise.budget(principal, catalog)

    @cached_property
    def _noise(self) -> Noise:
        from querygate.custody.use_cases.open_noise import open_noise

        return open_noise(self.opened)
