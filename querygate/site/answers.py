"""One question, answered from the store alone: what a front door is given where nothing else is wanted."""

from __future__ import annotations

from typing import Any, Protocol

from querygate.core.errors import NotPermitted
from querygate.core.types import Principal, Request
from querygate.gate import answer as gateway
from querygate.gate import render
from querygate.gate.describe import make_verdict
from querygate.site.open_gate import OpenSite

NOISY = "laplace"
MODES = ("interval", NOISY)


class Answering(Protocol):
    """Who answers behind a front door. Bodies are as the contract has them; refusals and faults are raised."""

    def answer(self, request: Request) -> dict[str, Any]: ...

    def check(self, request: Request) -> dict[str, Any]:
        """Would it be accepted, and at what cost? Nothing is read, spent or logged."""
        ...

    def budget(self, principal: Principal, dataset: str) -> dict[str, Any]:
        """What is left for noisy answers about a dataset."""
        ...


class Ranges:
    """Guaranteed ranges, and nothing else."""

    def __init__(self, opened: OpenSite) -> None:
        self._opened = opened

    def answer(self, request: Request) -> dict[str, Any]:
        if self._mode(request) == NOISY:
            raise self._elsewhere()
        return render.to_dict(gateway.answer(request, self._opened.gate))

    def check(self, request: Request) -> dict[str, Any]:
        if self._mode(request) == NOISY:
            raise self._elsewhere()
        plan = gateway.check(request, self._opened.gate)
        return make_verdict(plan, self._opened.store.current(request.dataset).catalog)

    def budget(self, principal: Principal, dataset: str) -> dict[str, Any]:
        raise self._elsewhere()

    def _mode(self, request: Request) -> str:
        """What was asked for; in silence ranges, unless the policy allows nothing but noise."""
        asked = request.options.get("mode")
        if asked is None and self._opened.store.current(request.dataset).catalog.modes == (NOISY,):
            return NOISY
        return str(asked or "interval")

    @staticmethod
    def _elsewhere() -> NotPermitted:
        return NotPermitted(
            "QG310",
            "Noisy answers need the raw rows, and this gate has no access to them.",
            "Ask for guaranteed ranges, or ask the custodian.",
        )
