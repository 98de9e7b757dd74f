"""The ledger and the log as evidence: who keeps the budgets, whether both agree, and how far the log had come."""

from __future__ import annotations

import secrets
from pathlib import Path

from querygate.control import ChainBroken, SqliteBudgets, new_query_id
from querygate.control.budgets.ledger_evidence import LedgerEvidence, compare, note_spend
from querygate.control.budgets.ledger_rebuild import Rebuilt, rebuild, replay_missing
from querygate.control.budgets.logged_spending import NotedTotals
from querygate.control.log.head_mark import MARK, check_marked, mark_problem, set_mark
from querygate.core.budget_ledger import Ledger, Spend
from querygate.core.budget_types import BudgetAccounting
from querygate.core.errors import ConfigError
from querygate.site.layout import Site
from querygate.site.open_gate import OpenSite, now


def open_ledger(opened: OpenSite, accounting: BudgetAccounting | None = None, *, marked: bool = True) -> Ledger:
    """The ledger of a site, wherever it is kept; what is spent is on record in the site's log, and `marked` after."""
    location, mark = opened.site.settings["budgets"], mark_file(opened.site) if marked else None
    if not location:
        return SqliteBudgets(opened.log.database, now, accounting, log=opened.log, mark=mark)
    try:
        from querygate_adapters.store.postgres_budgets import PostgresBudgets
    except ImportError:
        raise ConfigError(
            "QG805",
            "The setting `budgets` names a PostgreSQL server, but the PostgreSQL driver is not installed.",
            "Install it with: pip install 'querygate[postgres]'.",
        ) from None

    def note(spend: Spend) -> None:
        with opened.log.database.writing() as connection:
            note_spend(opened.log, connection, spend)
        if mark is not None:
            set_mark(opened.log, mark)

    check = NotedTotals(opened.log, mark, shared=True).check_lookup
    return PostgresBudgets(location, accounting, note=note, check=check)


def compare_ledger(opened: OpenSite) -> LedgerEvidence:
    """Does the ledger agree with the log?"""
    return compare(opened.log, open_ledger(opened), shared=bool(opened.site.settings["budgets"]))


def rebuild_ledger(opened: OpenSite, *, user: str) -> Rebuilt:
    """Put the ledger right from the log, on record. ConfigError QG807 where the log itself is broken."""
    try:
        opened.log.verify()
    except ChainBroken as broken:
        raise ConfigError(
            "QG807",
            f"The ledger cannot be rebuilt from this log. {broken}",
            "Restore the site from a backup: `querygate restore`.",
        ) from None
    found = compare_ledger(opened)
    if not found.wrong:
        return Rebuilt(found.agreed)
    if opened.site.settings["budgets"]:
        return replay_missing(opened.log, open_ledger(opened), found, _new_id, user=user)
    done = rebuild(opened.log, found, user=user)
    set_mark(opened.log, mark_file(opened.site))
    return done


def _new_id() -> str:
    return new_query_id(now, secrets.token_bytes)


# -- how far the log had come --------------------------------------------------------------------------------------


def mark_file(site: Site) -> Path:
    return site.folder / MARK


def is_behind(opened: OpenSite) -> bool:
    """Is the control database older than it was?"""
    try:
        check_anchored(opened)
    except ConfigError:
        return True
    return False


def check_mark_there(opened: OpenSite) -> None:
    """ConfigError QG807 where there was a mark, or a later one, that is not there."""
    if (odd := mark_problem(opened.log, mark_file(opened.site))) is not None:
        raise ConfigError(
            "QG807",
            odd,
            "Find out who could write to the folder. If control.db may be an old copy, see `querygate restore`; "
            "otherwise mark the log again with `querygate log anchor --anew`. Until then there are no noisy answers.",
        )


def check_anchored(opened: OpenSite) -> None:
    """ConfigError QG807 where the control database is older than its mark, or than its anchor file elsewhere."""
    elsewhere = opened.site.settings["anchor_file"]
    check_marked(opened.log, mark_file(opened.site), *([Path(elsewhere)] if elsewhere else []))
