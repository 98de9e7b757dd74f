"""A site where extracts are made by a small builder: it writes two files from the wish, and reads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.core.types import Principal
from querygate.custody.use_cases.extract_builder import SiteExtractBuilder
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.open_gate import OpenSite

WISH: dict[str, Any] = {
    "dataset": "clinic",
    "purpose": "Does age matter?",
    "columns": ["age", "sbp"],
    "k": 5,
    "models": ["linear: sbp ~ age"],
    "tolerances": {"mean(age)": 5},
}

ANN, BOB = Principal("ann", "researcher"), Principal("bob", "researcher")
CARL, DORA = Principal("carl", "custodian"), Principal("dora", "custodian")


class CsvBuilder:
    """Rows of classes, as a real one would write. What is `impossible` is refused, `broken` fails."""

    def preview(self, wish: ExtractSpec, *, requester: str) -> Mapping[str, Any]:
        if wish.purpose == "impossible":
            raise ExtractRefused("QG605", "There are too few records.", "Ask for a smaller k.")
        return {
            "method": "mondrian",
            "k": wish.k,
            "risk": {"prosecutor": 0.2},
            "assessment": {"words": ["Found with a chance of 0.2."]} if wish.kind != "condensed" else None,
            "learnt": {"queries": 0, "by": requester},
        }

    def risk_page(self, assessment: Mapping[str, Any]) -> bytes:
        return f"<p>{assessment['words'][0]}</p>".encode()

    def build(self, wish: ExtractSpec, folder: Path, *, request_id: str, requester: str) -> Mapping[str, Any]:
        (folder / "data.csv").write_text("age,sbp\n30-34,120-130\n" * 3)
        if wish.purpose == "impossible":
            raise ExtractRefused("QG605", "There are too few records.", "Ask for a smaller k.")
        if wish.purpose == "broken":
            raise ValueError("Smith, 51")
        (folder / "report.html").write_text(f"<p>{request_id}</p>")
        (folder / "figures").mkdir()
        (folder / "figures" / "risk.txt").write_text("0.2")
        found = {"words": ["Built: 0.2."]}
        return {"method": "mondrian", "k": 5, "records": 3, "risk": {"prosecutor": 0.2}, "assessment": found}


def approve(extracts: Extracts, request_id: str, *reviewers: Principal) -> None:
    """From a draft of ann to approved."""
    extracts.act(ANN, request_id, "submit")
    extracts.act(reviewers[0], request_id, "take")
    for reviewer in reviewers:
        extracts.act(reviewer, request_id, "approve")


def release(extracts: Extracts, request_id: str) -> None:
    """From a draft of ann to released."""
    approve(extracts, request_id, CARL)
    extracts.act(CARL, request_id, "build")
    extracts.act(CARL, request_id, "release")


def open_extracts(opened: OpenSite) -> Extracts:
    """Extracts over HTTP with the builder that custodians have, in this very process."""
    return Extracts(opened, lambda: SiteExtractBuilder(opened), via="http")
