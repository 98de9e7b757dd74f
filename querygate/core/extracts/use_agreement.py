"""Data use agreements: what a limited data set may leave under (45 CFR 164.514(e)(4)).

The gate keeps who signed, the SHA-256 of the text that was signed and the last day it holds; the text itself stays
with the custodian. Every reviewer names the same agreement with their approval, so nobody approves under another text.

>>> signed = UseAgreement.of({"signed_by": "Ann Lee, Shelby University", "sha256": "a" * 64, "until": "2031-01-31"})
>>> signed.holds_on("2031-01-31"), signed.holds_on("2031-02-01")
(True, False)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec, invalid

KEYS = ("signed_by", "sha256", "until")
LONGEST_NAME = 200

_NAME = "Approve with the signed one: --agreement FILE --signed-by NAME --until DATE (`agreement` over HTTP)."


@dataclass(frozen=True, slots=True)
class UseAgreement:
    """Who signed for the recipient, which text by its SHA-256, and the last day it holds (YYYY-MM-DD)."""

    signed_by: str
    sha256: str
    until: str

    @classmethod
    def of(cls, body: object) -> UseAgreement:
        """From JSON; ExtractRefused QG604 names the key that is wrong."""
        if not isinstance(body, Mapping) or set(body) != set(KEYS):
            raise invalid("agreement", "must name who signed, the SHA-256 of the text, and the last day", *KEYS)
        signed_by, sha256, until = (body[key].strip() if isinstance(body[key], str) else "" for key in KEYS)
        if not signed_by or len(signed_by) > LONGEST_NAME or not signed_by.isprintable():
            raise invalid("agreement.signed_by", f"must be a name of at most {LONGEST_NAME} characters")
        if not re.fullmatch(r"[0-9a-f]{64}", sha256.lower()):
            raise invalid("agreement.sha256", "must be the SHA-256 of the signed text: 64 hexadecimal digits")
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", until) or not _is_date(until):
            raise invalid("agreement.until", "must be the last day of the agreement, as in 2031-01-31")
        return cls(signed_by, sha256.lower(), until)

    def holds_on(self, today: str) -> bool:
        return today[:10] <= self.until

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def needs_agreement(spec: ExtractSpec) -> bool:
    return spec.kind == "limited"


def check_agreed(spec: ExtractSpec, agreement: UseAgreement | None, now: str) -> None:
    """ExtractRefused QG609 where a limited data set would be approved or leave without an agreement that holds."""
    if agreement is not None and not needs_agreement(spec):
        raise invalid("agreement", "applies to limited data sets alone")
    if not needs_agreement(spec):
        return
    if agreement is None:
        raise ExtractRefused("QG609", "A limited data set needs a data use agreement, and none was named.", _NAME)
    if not agreement.holds_on(now):
        raise ExtractRefused(
            "QG609",
            f"The data use agreement ended on {agreement.until}.",
            "Sign a new one, revoke this request, and make it again.",
        )


def check_same(on_record: UseAgreement | None, agreement: UseAgreement | None) -> None:
    """ExtractRefused QG609 where two reviewers approve under different agreements."""
    if on_record is not None and on_record != agreement:
        raise ExtractRefused(
            "QG609",
            "The first reviewer approved under another data use agreement.",
            "Compare the texts and what was entered. To start the approvals again, return the request.",
        )


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
