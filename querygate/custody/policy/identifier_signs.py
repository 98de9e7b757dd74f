"""Signs that a column identifies people: its name, and the form of its values.

The kinds follow the list of the HIPAA Privacy Rule, 45 CFR 164.514(b)(2)(i). Names are compared as words, so that
`patientFirstName`, `PATIENT_FIRST_NAME` and `patient first name` are the same; value patterns are regular expressions
that mean the same in RE2 and Python.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from querygate.core.column_profile import BLANK, UNMEASURED


@dataclass(frozen=True, slots=True)
class Detector:
    """One kind of identifier: names that suggest it, and a pattern of its values if they have one."""

    kind: str
    names: str
    pattern: str = ""
    inside: bool = False  # is the pattern specific enough to search for inside longer texts?
    least: int = 20  # a column with fewer values is not an identifier, whatever its name: `phone` may be yes or no


_PERSON = "first|last|middle|family|given|full|maiden|nick|user|patient|person|member|mother|father|parent|spouse"
_NUMBER = "id|ids|no|nr|num|number|key|code"
_STREETS = "street|st|avenue|ave|road|rd|drive|dr|lane|ln|court|ct|boulevard|blvd|place|pl|way|circle|cir"

DETECTORS = (
    Detector(
        "name of a person",
        rf"^(name|initials?)$|\b({_PERSON}|physician|doctor|nurse)s? (name|initials?)\b"
        r"|\b(sur|fore|first|last|middle|full|nick|user)name\b|\b(fname|lname|guardian|next of kin)\b"
        r"|\b(vor|nach|zu|ruf|familien|geburts|patienten|haus ?arzt)namen?\b|\b(prenom|apellidos?|nombres?|cognome)\b",
        r"[A-Z][a-z]+,? (?:[A-Z]\.? )?[A-Z][a-z]+(?:[ '-][A-Z][a-z]+)*",
        least=25,  # initials are letters of the alphabet
    ),
    Detector(
        "social security or other national number",
        r"\b(ssn|ss no|social security|national insurance|nino|nhs (no|number)|passport|tax id|tin|personnummer|cpr)\b"
        r"|\b(sozial|renten|kranken)?versichert?(en|ungs) ?(nummer|nr)\b|\bsvnr\b",
        r"[0-9]{3}-[0-9]{2}-[0-9]{4}",
        inside=True,
    ),
    Detector(
        "telephone or fax number",
        r"\b(tele|mobile|cell|home|work)?(phone|fax)s?\b|\b(tel|mobile (no|number)|cell (no|number))\b"
        r"|\b(telefon|handy|mobil)(nummer|nr)?\b",
        r"(?:\+?[0-9]{1,3}[ .-]?)?(?:\([0-9]{2,4}\) ?|[0-9]{2,4}[ .-])[0-9]{3,4}[ .-][0-9]{3,4}(?: ?x[0-9]+)?"
        r"|(?:\+[0-9]{2} ?(?:\(0\) ?)?|\b0)[0-9]{1,3}[ ./-]{1,3}"
        r"(?:[0-9]{3,4}(?:[ .-][0-9]{2}){1,3}|[0-9]{2}(?:[ .-][0-9]{2}){3})",
        inside=True,
    ),
    Detector("e-mail address", r"\be ?mails?\b", r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}", inside=True),
    Detector(
        "internet address",
        r"^ip$|\bip ?addr(ess)?\b",
        r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}|(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}",
        inside=True,
    ),
    Detector("web address", r"\b(url|website|web ?page|homepage|link)\b", r"(?:https?://|www\.)\S+", inside=True),
    Detector(
        "street address or place on the map",
        r"\b(street|address|addr(ess)? ?[0-9]?|house (no|number)|apartment|apt|unit number|po box)\b"
        r"|\b(latitude|longitude|lat|lon|lng|geo ?(code|hash)|coordinates?)\b"
        r"|\b(strasse|straße|adresse|anschrift|hausnummer)\b",
        rf"[0-9]+[A-Za-z]? (?:[A-Za-z.]+ ){{1,4}}(?i:{_STREETS})\.?(?:[ ,].*)?",
    ),
    Detector(
        "account, card or policy number",
        rf"\b(account|acct|iban|card|policy|insurance|member|beneficiary|subscriber) ({_NUMBER})\b|\b(account|iban)\b",
        r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?|(?:[0-9]{4}[ -]){3}[0-9]{4}",
    ),
    Detector(
        "licence, certificate or vehicle number",
        r"\b(licen[cs]e|certificate|plate|vin|npi|dea (no|number))\b",
    ),
    Detector(
        "device number",
        r"\b(device (id|no|number|serial)|serial( (no|number))?|imei|udi|mac( address)?)\b",
        r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}",
    ),
    Detector(
        "picture or biometric feature", r"\b(photo|image|picture|finger ?print|iris|retina|voice ?print|signature)\b"
    ),
    Detector(
        "record number",
        r"\b(mrn|seqn|uuid|guid|hadm|icustay|barcode)\b|\b(medical )?record( number)?$"
        rf"|\b(record|patient|pat|subject|person|participant|respondent|encounter|visit|stay|case|chart|study|accession"
        rf"|specimen|sample|claim|clm|episode|household|family|provider|prvdr) ({_NUMBER})\b"
        r"|\b(fall|patienten|pat|akten|aufnahme)(nummer|nr|id)\b"
        r"|\bperson source value\b|(^|(?<!concept) )(id|ident|rowid|index)$|^id (?!status)\w+",
        r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}",
    ),
)

CODES = {
    "icd9cm": r"[0-9]{3}\.?[0-9]{0,2}|[Vv][0-9]{2}\.?[0-9]{0,2}|[Ee][0-9]{3}\.?[0-9]?",
    "icd10cm": r"[A-TV-Za-tv-z][0-9][0-9A-Ba-b]\.?[0-9A-TV-Za-tv-z]{0,4}",
    "icd10": r"[A-Za-z][0-9]{2}\.?(?:[0-9]{1,2}|[Xx])?[-.]{0,2}[+*!†#]?",
}
"""Patterns of diagnosis codes, by system."""

JOINT = "icd9cm+icd10cm"
"""For records from before and after October 2015, when the United States changed."""

LISTS = {
    (system, mark): rf"\[?'?(?:{code})'?(?:\s*{re.escape(mark)}\s*'?(?:{code})'?)+\]?"
    for system, code in (CODES | {JOINT: f"{CODES['icd9cm']}|{CODES['icd10cm']}"}).items()
    for mark in (";", ",", "|")
}
"""Patterns of lists with several codes, by system and separator; columns of lists have commas."""

SLASHED = "date with slashes"
"""The pattern of dates of which somebody must say whether the day or the month comes first."""

PATTERNS = {detector.kind: detector.pattern for detector in DETECTORS if detector.pattern} | {
    **CODES,
    **{f"{system} by {mark}": pattern for (system, mark), pattern in LISTS.items()},
    "in brackets": r"\[.*\]",
    "postcode": r"[0-9]{5}(?:-[0-9]{4})?",
    "compact date": r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:\.0)?",
    SLASHED: r"\s*[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}(?: .*)?",
    "sequence": r"[ACGTRYSWKMBDHVNacgtryswkmbdhvn?-]{20,}",
    BLANK: r"(?i:na|n/a|nan|null|<na>|#n/a|#null!|\?|\.)",
    UNMEASURED: r"(?i:n\.? ?[abdn]\.?|k\.? ?a\.?|-+|not (done|detected|measured|determined|available|known|applicable)"
    r"|nicht (bestimmt|gemessen|messbar|nachweisbar|durchgef(ü|ue)hrt|verf(ü|ue)gbar|bekannt)|keine angabe|unbekannt"
    r"|unknown|missing|none|fehlt|ausstehend|pending|refused|declined|h(ä|ae)molytisch|h(a)?emoly[sz]ed|non fait"
    r"|inconnu|manquant|desconocido)",
}
"""Every pattern, by name."""

MOSTLY = 0.5
"""A pattern decides what a column is from this share of values."""

ALIKE = 100
"""Without a matching name, a pattern decides only from this many values: fewer may be words that happen to match."""


@dataclass(frozen=True, slots=True)
class Sign:
    """Evidence for an identifier. `share` of the sampled values match; `named`: so does its name."""

    kind: str
    named: bool
    share: float = 0.0


def words_of(name: str) -> str:
    """A column's name as lower-case words.

    >>> words_of("patientFirstName"), words_of("BENE_BIRTH_DT"), words_of("BPSysAve")
    ('patient first name', 'bene birth dt', 'bp sys ave')
    """
    parts = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", name)
    return " ".join(re.findall(r"[^\W_]+", parts)).lower()


def identifier_sign(name: str, matches: Mapping[str, float], distinct: int) -> Sign | None:
    """The strongest sign that a column identifies people; None if there is none.

    >>> identifier_sign("contact", {"e-mail address": 0.98}, 500)
    Sign(kind='e-mail address', named=False, share=0.98)
    >>> identifier_sign("phone", {}, 2), identifier_sign("phone", {}, 2000).kind
    (None, 'telephone or fax number')
    >>> identifier_sign("name", {"name of a person": 0.9}, 12).kind
    'name of a person'
    """
    words = words_of(name)
    told = []
    for detector in DETECTORS:
        sign = Sign(detector.kind, bool(re.search(detector.names, words)), matches.get(detector.kind, 0.0))
        is_like = sign.share >= MOSTLY
        if (sign.named and (is_like or distinct >= detector.least)) or (is_like and distinct >= ALIKE):
            told.append(sign)
    return max(told, key=lambda sign: (sign.share >= MOSTLY, sign.named, sign.share), default=None)


class KeyName(Enum):
    """What a name says about a key: that it is a person's, or just a key."""

    PERSON, ANY = range(2)


_PEOPLE = "patient|pat|pt|subject|subj|person|participant|respondent|client|member|beneficiary|bene|resident|individual"
_PERSON_KEY = (
    rf"\b(mrn|e?mpi|ssn|seqn|nino|personnummer|pseudonym)\b|\bnhs (no|number)\b|\bmedical record\b|^(u?subjid|pid)$"
    rf"|\b({_PEOPLE}) ?({_NUMBER}|ident|identifier|uid|pseudonym)\b"
)
_KEY = r"(^|\b)(id|uid|uuid|guid|ident|identifier)$"
_NOT_PEOPLE = (
    r"\b(provider|prvdr|physician|doctor|nurse|site|ward|unit|hospital|clinic|cent(er|re)|facility|department|dept|room"
    r"|bed|batch|study|trial|plan|product|drug|item|concept|region|county|city|country|school|device|lab|code"
    r"|household|hh|haushalt|family|dwelling|address)s?\b"
)


def key_name(name: str) -> KeyName | None:
    """Whether a column is named like a key of people, or any other key; None if neither.

    >>> key_name("patientID"), key_name("encounter_id"), key_name("ward_id"), key_name("hh_id")
    (<KeyName.PERSON: 0>, <KeyName.ANY: 1>, None, None)
    """
    words = words_of(name)
    if re.search(_PERSON_KEY, words):
        return KeyName.PERSON
    return KeyName.ANY if re.search(_KEY, words) and not re.search(_NOT_PEOPLE, words) else None


SHARED = ("name of a person", "telephone or fax number", "e-mail address", "street address or place on the map")
"""Kinds of identifiers that two people may share."""


def is_shared(name: str) -> bool:
    """Is a column named like something that several people may share?

    >>> is_shared("last_name"), is_shared("mrn"), is_shared("guardian_phone")
    (True, False, True)
    """
    words = words_of(name)
    return any(detector.kind in SHARED and re.search(detector.names, words) for detector in DETECTORS)


def traces(contains: Mapping[str, float]) -> list[Sign]:
    """Identifiers inside the values of other columns, above all in texts."""
    found = [Sign(d.kind, False, contains.get(d.kind, 0.0)) for d in DETECTORS if d.inside]
    return [sign for sign in found if sign.share > 0]
