"""Electronic mail, web and network addresses."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from querygate.methods.notes.finders.pattern import spans_of
from querygate.methods.notes.spans import IdentifierKind, TextSpan

_EMAIL = re.compile(r"(?<![\w.%+\-])[\w.%+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,8}")
_SPOKEN_EMAIL = re.compile(
    r"(?<![\w.])[\w.]{1,64} ?(?:\(at\)|\[at\]|\bat\b) ?[\w\-]{1,63} ?(?:\(dot\)|\[dot\]|\bdot\b) ?[a-z]{2,10}\b", re.I
)
_URL = re.compile(r"\b(?:(?:https?|ftps?|sftp)://|www\.)[^\s<>\"'、。（）]{1,2000}", re.I)
_TOP = (
    "com|org|net|edu|gov|mil|int|info|biz|io|co|ai|app|dev|me|tv|us|uk|ca|de|fr|it|es|nl|be|ch|at|dk|se|no|fi|pl|cz|pt|"
    "ie|eu|jp|cn|in|au|nz|br|mx|ru|gr|hu|ro|si|sk|ee|lt|lv|is|za|kr|il|tr"
)
_DOMAIN = re.compile(
    rf"(?<![\w.@\-/])(?:[a-z0-9][a-z0-9\-]{{1,62}}\.){{1,4}}(?:{_TOP})(?![\w\-]|\.\w)(?:/[^\s<>\"']{{0,2000}})?", re.I
)
_IP4 = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)(?:/\d{1,2}\b)?")
_IP6 = re.compile(r"(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])", re.I)
_MAC = re.compile(r"(?<![\w:\-])[0-9a-f]{2}([:\-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}(?![\w:\-])", re.I)
_TRAILING = ".,;:!?)]}"


def find_emails(text: str) -> Iterator[TextSpan]:
    if "@" in text:
        yield from spans_of(_EMAIL, text, IdentifierKind.EMAIL, "email")
    if "dot" in text.lower():
        yield from spans_of(_SPOKEN_EMAIL, text, IdentifierKind.EMAIL, "email in words")


def find_urls(text: str) -> Iterator[TextSpan]:
    """Whole addresses, and bare names of hosts under common top-level domains."""
    for pattern, rule in ((_URL, "url"), (_DOMAIN, "domain")):
        for match in pattern.finditer(text):
            end = match.start() + len(match.group().rstrip(_TRAILING))
            yield TextSpan(match.start(), end, IdentifierKind.URL, rule)


def find_network(text: str) -> Iterator[TextSpan]:
    """Network addresses that can be one: four numbers up to 255, or what reads as version 6; and hardware addresses."""
    for pattern in (_IP4, _IP6) if "." in text or ":" in text else ():
        for match in pattern.finditer(text):
            try:
                ipaddress.ip_interface(match.group())
            except ValueError:
                continue
            if sum(map(str.isalnum, match.group())) >= 3:
                yield TextSpan(match.start(), match.end(), IdentifierKind.IP, "ip")
    yield from spans_of(_MAC, text, IdentifierKind.DEVICE, "hardware address")
