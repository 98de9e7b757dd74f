"""The whole log checked, and the ledger against it: what an operator would see from `querygate log verify`."""

from __future__ import annotations

from querygate.control import ChainBroken
from querygate.core.json_body import JsonValue
from querygate.core.progress import Progress
from querygate.site.budget_evidence import compare_ledger, is_behind
from querygate.site.open_gate import OpenSite


def verify_record(opened: OpenSite, progress: Progress, *, with_ledger: bool) -> dict[str, JsonValue]:
    """Whether the log is unbroken, where not, and how far it goes."""
    last = max(opened.log.head().entries, 1)

    def told(entry: int) -> None:
        progress(f"entry {entry:,} of {last:,}", min(entry / last, 1.0))

    try:
        found = opened.log.verify_telling(told)
    except ChainBroken as broken:
        return {"verified": False, "entry": broken.seq, "reason": str(broken)}
    body: dict[str, JsonValue] = {"verified": True, "entries": found.entries, "head": found.head, "since": found.since}
    if with_ledger:
        progress("comparing the ledger", 1.0)
        wrong = compare_ledger(opened).wrong
        if wrong:
            body |= {"verified": False, "reason": "The ledger of budgets differs from the log.", "ledger": list(wrong)}
        if is_behind(opened):
            body |= {"verified": False, "reason": "The log is older than its mark or its anchor says."}
    return body
