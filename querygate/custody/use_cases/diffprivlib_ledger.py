"""Compares the ledger of a site with diffprivlib's accountant, for `budget show` and `doctor`."""

from __future__ import annotations

from dataclasses import dataclass

from querygate.core.count_text import counted
from querygate.custody.noisy_models.diffprivlib_account import SecondAccount, is_installed, second_accounts
from querygate.site.budget_evidence import open_ledger
from querygate.site.open_gate import OpenSite


@dataclass(frozen=True, slots=True)
class SecondLedger:
    """Every limit that was spent from, as the library adds it up, and whether all of them agree."""

    by: str
    agrees: bool
    limits: tuple[SecondAccount, ...]

    def explained(self) -> str:
        wrong = [one for one in self.limits if not one.agrees]
        if not wrong:
            return f"agrees with the ledger on {counted(len(self.limits), 'limit')}."
        first = wrong[0]
        return (
            f"differs from the ledger on {counted(len(wrong), 'limit')}; {first.scope.kind} {first.scope.name} for "
            f"{first.scope.dataset}: {first.accountant:g} against {first.ledger:g}."
        )


def second_account_of(opened: OpenSite, dataset: str | None = None) -> SecondLedger | None:
    """None if the library is not installed, or nothing was ever spent."""
    if not is_installed():
        return None
    limits = tuple(second_accounts(open_ledger(opened).spends(), dataset))
    if not limits:
        return None
    return SecondLedger("diffprivlib", all(one.agrees for one in limits), limits)
