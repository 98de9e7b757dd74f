"""The independent check of a limited data set, on the released records.

It reads column names and every text as a recipient would, and shares no code with the preset that chose them: it has
its own list of words for column names, and its own patterns for values. A single value with a forbidden pattern is too
many, whatever the column is called, because an email address in a comment is still one.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import pyarrow as pa

from querygate.core.count_text import counted
from querygate.core.errors import ExtractRefused

NAMED = {
    "a name": {"name", "names", "surname", "forename", "firstname", "lastname", "initials"},
    "a street address": {"street", "address", "addr", "latitude", "longitude", "lat", "lon", "lng", "geocode"},
    "a telephone or fax number": {"phone", "telephone", "tel", "mobile", "cell", "fax"},
    "an email address": {"email", "mail"},
    "a social security number": {"ssn"},
    "a medical record number": {"mrn"},
    "a web or internet address": {"url", "website", "homepage", "ip", "ipaddress", "ipv4", "ipv6"},
    "an account number": {"account", "acct", "iban"},
    "a licence or certificate number": {"license", "licence", "certificate"},
    "a vehicle identifier": {"vin", "plate"},
    "a device identifier": {"serial", "udi"},
    "a biometric identifier": {"fingerprint", "voiceprint", "retina", "biometric", "biometrics"},
    "a photograph": {"photo", "photograph", "portrait", "picture"},
}
"""Words in a column's name, and what the column then contains."""

WITHIN = re.compile(r"phone|email|street|surname|(first|last|full|maiden|middle)name|ipaddr|homeaddr")
"""Those that also count inside a word, as in `cellphone`."""

TEN_DIGITS = r"(?:\+?1[-. ]?)?[2-9]\d{2}[2-9]\d{6}"
"""A North American telephone number without separators. Neither of its first two parts begins with 0 or 1."""

FORMS = {
    "an email address": re.compile(r"\S+@\S+\.\w{2,}"),
    "a social security number": re.compile(r"(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)"),
    "a telephone number": re.compile(
        r"(?<!\d)(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?!\d)|"
        rf"(?<![\w.]){TEN_DIGITS}(?!\w|\.\d)|(?<![\w+])\+\d{{1,3}}(?:[-. ()]*\d){{7,12}}(?!\d)"
    ),
    "a web address": re.compile(r"(?:https?|ftp)://|\bwww\.", re.IGNORECASE),
    "an internet address": re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"),
}
"""Patterns that a text must not contain anywhere."""


def check_limited(table: pa.Table, checked: Collection[str] = ()) -> None:
    """ExtractRefused QG605 if a column is named like a direct identifier or a text contains one.

    The custodian may list a name in `checked`, but not a value.
    """
    for name in table.column_names:
        if name not in checked and (what := _named_like(name)):
            raise _held(f"{name} is named like {what}")
        if pa.types.is_integer(table.schema.field(name).type):
            _check_numbers(name, table[name])
        if not pa.types.is_string(table.schema.field(name).type):
            continue
        texts = [text for text in table[name].unique().to_pylist() if text is not None]
        for what, form in FORMS.items():
            held = sum(1 for text in texts if form.search(text))
            if held:
                raise _held(f"{counted(held, 'value')} of {name} {'has' if held == 1 else 'have'} the form of {what}")


def _named_like(column: str) -> str | None:
    words = set(re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", column).lower()))
    found = next((what for what, telling in NAMED.items() if words & telling), None)
    return found or ("a direct identifier" if any(map(WITHIN.search, words)) else None)


def _check_numbers(name: str, column: pa.ChunkedArray) -> None:
    """Telephone numbers stored as numbers. A single one may be an amount; if most of a column look like it, they are
    not."""
    numbers = [str(number) for number in column.unique().to_pylist() if number is not None]
    held = sum(1 for number in numbers if re.fullmatch(TEN_DIGITS, number))
    if 2 * held > len(numbers):
        raise _held(
            f"{counted(held, 'value')} of {name} {'has' if held == 1 else 'have'} the form of a telephone number"
        )


def _held(what: str) -> ExtractRefused:
    return ExtractRefused(
        "QG605",
        f"This is not a limited data set: {what}.",
        "Nothing was written. Leave out the column, or correct the source and publish it again.",
    )
