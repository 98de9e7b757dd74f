"""The ledger and the log as evidence: who keeps the budgets, whether both agree, and how far the log had come."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from querygate.control import SqliteBudgets
from querygate.control.head_mark import MARK, check_marked, set_mark
from querygate.control.ledger_evidence import LedgerEvidence, compare, note_spend
from querygate.core.budget import BudgetAccounting
from querygate.core.budget_rules import Ledger, Spend
from querygate.core.errors import ConfigError
from querygate.site.layout import Site
from querygate.site.open_gate import OpenSite, now


def open_ledger(opened: OpenSite, accounting: BudgetAccounting | None = None) -> Ledger:
    """The ledger of a site, wherever it is kept; what is spent is on record in the site's log."""
    location = opened.site.settings["budgets"]
    if not location:
        mark = partial(set_mark, opened.log, mark_file(opened.site))
        return SqliteBudgets(opened.log.database, now, accounting, log=opened.log, spent=mark)
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
        set_mark(opened.log, mark_file(opened.site))

    return PostgresBudgets(location, accounting, note=note)


def compare_ledger(opened: OpenSite) -> LedgerEvidence:
    """Does the ledger agree with the log?"""
    return compare(opened.log, open_ledger(opened), shared=bool(opened.site.settings["budgets"]))


# -- how far the log had come --------------------------------------------------------------------------------------


def mark_file(site: Site) -> Path:
    return site.folder / MARK


def check_anchored(opened: OpenSite) -> None:
    """ConfigError QG807 where the control database is older than its mark, or than its anchor file elsewhere."""
    elsewhere = opened.site.settings["anchor_file"]
    check_marked(opened.log, mark_file(opened.site), *([Path(elsewhere)] if elsewhere else []))
