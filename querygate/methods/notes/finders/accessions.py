"""Accession numbers of pathology, radiology and the laboratory: a section in letters, a year and a running number.

`SH-02-22222`, `S02-12345`, `19-SP-00451`, `MGH-S19-2231-A`, `22MC-123SP00045`: every laboratory writes them in its own
way, with no word before them. What divides them from everything else in a note that has letters, digits and dashes is
the running number: it has more digits than any level of the spine, any stage, marker or class of codes, and what could
be a measured range is left where its letters or the unit behind it say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from querygate.methods.notes.finders.dates import MONTHS
from querygate.methods.notes.note_text import listed
from querygate.methods.notes.spans import IdentifierKind, TextSpan

_SECTION = r"(?P<section>[A-Z]{1,6}|[A-Z]?[a-z]{1,5})"
_YEAR = r"(?P<year>(?:19|20)\d\d|\d\d|\d(?=[\-/:]\d{5}))"
_DASH = r"[\-:/_]"
_PART = r"(?:[\-.:/_]?[A-Z]\d{0,2}|[\-.:/_]\d{1,9}){0,2}"  # specimen, block, slide
_BEGIN, _END = r"(?<![\w*])(?<!\d[\-:/.])", r"(?!\w|[\-/]\d|[.,]\d|[%>])"
_LONG = r"(?=0\d{3}|\d{5})"  # no dose
_SECTION_FIRST = re.compile(
    rf"{_BEGIN}(?:[A-Z]{{2,6}}[\-_])?{_SECTION}(?P<first>[\-:/_.#]?){_YEAR}"
    rf"(?:{_DASH}(?:[A-Z]{{1,2}}(?=\d{{4}}))?|\.(?=\d{{5}})|(?:[\-/]\s| - | ){_LONG})(?P<number>\d{{3,9}}){_PART}{_END}"
)
_SECTION_APART = re.compile(
    rf"{_BEGIN}(?P<section>[A-Z]{{1,6}})#?(?P<first> ){_YEAR}{_DASH}(?P<number>\d{{4,9}}){_PART}{_END}"
)
_YEAR_FIRST = re.compile(
    rf"{_BEGIN}{_YEAR}(?P<first>[\-:/_.](?:\d{{3}}{_DASH})?)?(?P<section>[A-Z]{{1,5}}|[a-z]{{1,2}})"
    rf"(?P<second>[\-:/_.](?:\d{{3}}[A-Z]{{1,3}})?)?(?P<number>\d{{3,9}}){_PART}{_END}"
)
_SECTION_LAST = re.compile(
    rf"{_BEGIN}{_YEAR}(?P<first>{_DASH})\d{{4,9}}(?P<second>{_DASH}?)(?P<section>[A-Z]{{1,3}}){_END}"
)
_SECTION_BETWEEN = re.compile(rf"{_BEGIN}\d{{4,7}}(?P<first>[\-/])(?P<section>[A-Z]{{1,4}})(?P<second>[\-/])\d\d{_END}")
_BY_SPACES = re.compile(
    rf"{_BEGIN}(?:AUT?|CYT?O?|GC|GYN|HIST|HS|NG|NGYN|PATH|SC|SH|SP|SU|SURG) {_YEAR} \d{{3,9}}{_PART}{_END}"
)
_WITHOUT_SECTION = re.compile(rf"{_BEGIN}(?:\d\d/|(?:19|20)\d\d[\-/])\d{{5,7}}{_END}")

_MEASURED = frozenset(
    listed(
        "HR RR BP SBP DBP MAP CVP FHR FHT FHTS PULSE SAT SATS SPO PO PCO HCO NA CL CA MG PHOS BUN CR GLU GLUC "
        "FS BS BG FSBS FSBG FBS ACCU WBC RBC HGB HCT PLT PLTS MCV INR PTT ALT AST LDH CK TSH LDL HDL CHOL UOP UO IO "
        "TV PEEP FIO EF KV KVP MA MAS TE TR TI NS LR DW IV"
    )
)
"""Letters before a measured range: `HR60-100`, `NA135-145`."""

_PATHOLOGY = frozenset(listed("S SP SH SU C CY NG GC H HS"))
"""Letters of sections that stand before no measurement, so that a short number behind an old year is no range."""

_NO_SECTION = frozenset(listed("COVID SARS HPV HSV HHV CD IL HLA IVS CHR FY AY SY ISO ICD CPT DSM AJCC WHO FIGO"))
_MONTH = re.compile(MONTHS, re.I)
_UNITS = frozenset(listed("G MG MCG UG KG ML DL MM CM KM HR HRS FR GA CC LB LBS IU MEQ AM PM X K ST ND RD TH"))
_UNIT = re.compile(
    r"\s?(?:mg|mcg|µg|ug|ng|g|kg|ml|dl|l|mm|cm|kvp?|mas?|units?|iu|meq|mmol|mmhg|bpm|cc|hz|hours?|hrs?|days?|weeks?|"
    r"months?|years?|beats|cells|copies)\b",
    re.I,
)


def find_accessions(text: str) -> Iterator[TextSpan]:
    for pattern in (_SECTION_FIRST, _SECTION_APART):
        yield from (_span(match) for match in pattern.finditer(text) if not _is_range(text, match))
    for pattern in (_YEAR_FIRST, _SECTION_LAST, _SECTION_BETWEEN):
        for match in pattern.finditer(text):
            section = match["section"].upper()
            if (match["first"] or match["second"]) and section not in _UNITS and not _MONTH.fullmatch(section):
                yield _span(match)
    for pattern in (_BY_SPACES, _WITHOUT_SECTION):
        yield from map(_span, pattern.finditer(text))


def _is_range(text: str, match: re.Match[str]) -> bool:
    """Is it no section, or are these two ends of a measurement or two years, no year and number?"""
    section, year, number = match["section"].upper(), match["year"], match["number"]
    if section in _NO_SECTION or _UNIT.match(text, match.end()):
        return True
    if match["first"] == "." and match["section"].islower():  # c.12-1234del: a change of a gene
        return True
    if len(year) == len(number) == 4 and 0 <= int(number) - int(year) <= 20:
        return True
    is_short = len(number) == 3 and number[0] != "0" and not match["first"]
    if section in _MEASURED:
        return is_short or (match["first"] == " " and len(number) == 4)
    if len(section) > 2 and not match["section"].isupper():
        return len(number) == 3 or _MONTH.fullmatch(section) is not None
    return is_short and "40" <= year <= "99" and section not in _PATHOLOGY


def _span(match: re.Match[str]) -> TextSpan:
    return TextSpan(match.start(), match.end(), IdentifierKind.RECORD, "accession number")
