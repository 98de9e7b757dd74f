"""One question, answered in the way that was asked for: a guaranteed range from the store, or a noisy number.

Only a process that may reach the vault is given this. The noisy path is loaded when it is first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from querygate.core.types import Principal, Request
from querygate.site.answers import NOISY, Ranges
from querygate.site.open_gate import OpenSite

if TYPE_CHECKING:
    from querygate.custody.noise.noisy_answer import NoisyGate


class Asking(Ranges):
    """Both paths of a site."""

    def __init__(self, opened: OpenSite) -> None:
        super().__init__(opened)
        self._noisy: NoisyGate | None = None

    def answer(self, request: Request) -> dict[str, Any]:
        if self._mode(request) != NOISY:
            return super().answer(request)
        from querygate.custody.noise.noisy_answer import answer_noisy

        return answer_noisy(request, self._noisy_gate())

    def check(self, request: Request) -> dict[str, Any]:
        if self._mode(request) != NOISY:
            return super().check(request)
        from querygate.custody.noise.noisy_answer import check_noisy

        return check_noisy(request, self._noisy_gate())

    def budget(self, principal: Principal, dataset: str) -> dict[str, Any]:
        from querygate.custody.noise.noisy_answer import tell_budget

        return tell_budget(principal, dataset, self._noisy_gate())

    def _noisy_gate(self) -> NoisyGate:
        if self._noisy is None:
            from querygate.custody.roots.noisy_gate import open_noisy  # able to open a vault

            self._noisy = open_noisy(self._opened)
        return self._noisy
