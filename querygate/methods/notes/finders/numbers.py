"""Numbers with a form or a check digit of their own: social security, bank cards, IBAN, vehicles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from querygate.methods.notes.finders.pattern import preceded_by
from querygate.methods.notes.spans import IdentifierKind, TextSpan

_SSN = re.compile(r"(?<![\w\-])(\d{3})([\- .])(\d{2})\2(\d{4})(?![\w\-])")
_CARD = re.compile(r"(?<![\w\-])\d(?:[ \-]?\d){11,18}(?![\w\-])")
_CARD_CUE = re.compile(r"\b(?:cards?|cc|visa|mastercard|amex|credit|debit)\b[^.\n]{0,30}$", re.I)
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{1,4}){3,10}(?!\w)", re.I)
_VIN = re.compile(r"(?<!\w)[A-HJ-NPR-Z0-9]{17}(?!\w)", re.I)
_VIN_VALUES = {
    **{str(d): d for d in range(10)},
    **dict(
        zip(
            "ABCDEFGHJKLMNPRSTUVWXYZ",
            [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, 2, 3, 4, 5, 6, 7, 8, 9],
            strict=True,
        )
    ),
}
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def find_ssn(text: str) -> Iterator[TextSpan]:
    """Three, two and four digits. Areas 000, 666 and 900 up were never given out: then it is some other number."""
    for match in _SSN.finditer(text):
        area, group, serial = match[1], match[3], match[4]
        given = area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
        yield TextSpan(
            match.start(),
            match.end(),
            IdentifierKind.SSN if given else IdentifierKind.OTHER,
            "ssn" if given else "ssn-like number",
        )


def find_cards(text: str) -> Iterator[TextSpan]:
    """Twelve to nineteen digits with the check digit of Luhn (ISO/IEC 7812), or without it where a "
    "card is spoken of."""
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        if luhn(digits):
            yield TextSpan(match.start(), match.end(), IdentifierKind.OTHER, "card")
        elif preceded_by(_CARD_CUE, text, match.start()):
            yield TextSpan(match.start(), match.end(), IdentifierKind.OTHER, "card without check")


def find_ibans(text: str) -> Iterator[TextSpan]:
    """International bank account numbers: ISO 13616, remainder 1 modulo 97. The match may run on into words."""
    for match in _IBAN.finditer(text):
        pieces = match.group().split(" ")
        for take in range(len(pieces), 0, -1):
            candidate = " ".join(pieces[:take])
            if 15 <= len(candidate.replace(" ", "")) <= 34 and iban(candidate):
                yield TextSpan(match.start(), match.start() + len(candidate), IdentifierKind.ACCOUNT, "iban")
                break


def find_vehicles(text: str) -> Iterator[TextSpan]:
    """Vehicle identification numbers by their check digit (49 CFR 565.15)."""
    for match in _VIN.finditer(text):
        code = match.group().upper()
        check = sum(_VIN_VALUES[c] * w for c, w in zip(code, _VIN_WEIGHTS, strict=True)) % 11
        if code[8] == "0123456789X"[check] and not code.isdigit():
            yield TextSpan(match.start(), match.end(), IdentifierKind.VEHICLE, "vin")


def luhn(digits: str) -> bool:
    """
    >>> luhn("4007070753690781"), luhn("4007070753690782")
    (True, False)
    """
    doubled = [int(d) * (2 if i % 2 else 1) for i, d in enumerate(reversed(digits))]
    return sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0


def iban(text: str) -> bool:
    """
    >>> iban("GB82 WEST 1234 5698 7654 32"), iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    code = text.replace(" ", "").upper()
    return int("".join(str(int(c, 36)) for c in code[4:] + code[:4])) % 97 == 1
