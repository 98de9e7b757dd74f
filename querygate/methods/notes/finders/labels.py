"""Numbers that a word before them makes an identifier, and codes too long to be anything else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from querygate.methods.notes.spans import IdentifierKind, TextSpan

_LABELS: tuple[tuple[IdentifierKind, str], ...] = (
    (IdentifierKind.SSN, r"ssn|social security(?: (?:no|number|num))?|last (?:four|4)(?: of (?:ssn|social))?"),
    (
        IdentifierKind.RECORD,
        r"mrn|medical record|med rec|chart|record|hospital (?:no|number|id)|patient (?:id|"
        r"no|number|identifier)|pt id|case|"
        r"accession|encounter|visit (?:id|no|number)|specimen|nhs(?: no| number)?|id",
    ),
    (
        IdentifierKind.PLAN,
        r"health plan|insurance|member|beneficiary|policy|medicare|medicaid|subscriber|group (?:no|number|id)",
    ),
    (
        IdentifierKind.ACCOUNT,
        r"account|acct|a/c|bank account|routing|sort code|invoice|reference|ref|confirmation|order",
    ),
    (
        IdentifierKind.LICENCE,
        r"(?:driver'?s? )?licen[cs]e|dl|dea|npi|certificate|permit|registration|passport|visa no",
    ),
    (IdentifierKind.VEHICLE, r"vin|licen[cs]e plate|number plate|plate|vehicle"),
    (IdentifierKind.DEVICE, r"serial|s/n|sn|device|lot|implant|imei|udi|pacemaker|model no"),
    (
        IdentifierKind.OTHER,
        r"pin|badge|employee|student|trial|study id|subject|barcode|token|username|user id|login|password",
    ),
)
_BETWEEN = (
    r"(?: ?(?:no|nr|num|number|id|code))?\.?[\"']?(?: is| was|:|#|=|\b)[ \t]{0,3}(?:is |was |no\.? |# ?|: ?){0,2}[\"']?"
)
# One digit at least; a word that merely stands behind the label has none.
_CODE = r"(?P<code>(?=[\w\-/.]{0,24}\d)[A-Z0-9][A-Z0-9\-/.]{2,28}[A-Z0-9])(?!\w)"
_ANY_LABEL = "|".join(f"(?P<{kind}>{label})" for kind, label in _LABELS)
_LABELLED = re.compile(rf"(?<!\w)(?:{_ANY_LABEL}){_BETWEEN}{_CODE}", re.I)
_LONG = re.compile(r"(?<![\w.])\d{7,40}(?![\w])(?!\.\d)")
_MIXED = re.compile(
    r"(?<![\w\-.])(?=[A-Z0-9\-]{0,30}\d{4})(?:[A-Z]{1,6}-?\d|\d{1,6}-?[A-Z])[A-Z0-9]{2,24}(?:-[A-Z0-9]{1,12})"
    r"{0,4}(?![\w\-])",
    re.I,
)
_HYPHENATED = re.compile(r"(?<![\w\-./])\d{2,6}(?:-\d{2,6}){2,4}(?![\w\-/])")
_UNIT = re.compile(
    r"\d+(?:mg|mcg|ml|cm|mm|kg|lb|lbs|iu|units?|hz|khz|mhz|ghz|cc|meq|mmol|th|st|nd|rd|am|pm|s|x\d+)", re.I
)
_BARE_DATE = re.compile(r"\d{1,4}[\-/.]\d{1,2}[\-/.]\d{1,4}|(?:19|20)\d\d")
_FEWEST_DIGITS = 3


def find_labelled(text: str) -> Iterator[TextSpan]:
    """`MRN 00112233`, `Policy no. AB-12`: the code behind the label, not the label."""
    for match in _LABELLED.finditer(text):
        code, start = match["code"].rstrip("."), match.start("code")
        if (
            sum(map(str.isdigit, code)) >= _FEWEST_DIGITS
            and not _UNIT.fullmatch(code)
            and not _BARE_DATE.fullmatch(code)
        ):
            kind = next(kind for kind in IdentifierKind if match.groupdict().get(kind))
            yield TextSpan(start, start + len(code), kind, f"labelled {kind.lower()}")


def find_long_codes(text: str) -> Iterator[TextSpan]:
    """Seven digits in a row, four within a code of letters and digits, or groups of digits: no measurement looks so."""
    for pattern, rule in ((_LONG, "long number"), (_MIXED, "long code"), (_HYPHENATED, "number in groups")):
        for match in pattern.finditer(text):
            if not _UNIT.fullmatch(match.group()):
                yield TextSpan(match.start(), match.end(), IdentifierKind.OTHER, rule)
