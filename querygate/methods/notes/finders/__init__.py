"""The finders, each one idea: text in, spans out. Their order does not matter; `strength` says whose kind wins.

To add one: a function `(text) -> Iterator[Span]` in a file of its own, its name in FINDERS, and its rules in STRENGTH
where they meet others.
"""

from __future__ import annotations

from querygate.methods.notes.finders.accessions import find_accessions
from querygate.methods.notes.finders.addresses import find_addresses, find_postcodes
from querygate.methods.notes.finders.ages import find_ages
from querygate.methods.notes.finders.dates import find_dates, find_dates_in_words, find_days, find_japanese_dates
from querygate.methods.notes.finders.facilities import find_facilities
from querygate.methods.notes.finders.japanese import find_japanese
from querygate.methods.notes.finders.labels import find_labelled, find_long_codes
from querygate.methods.notes.finders.names import NameFinder
from querygate.methods.notes.finders.numbers import find_cards, find_ibans, find_ssn, find_vehicles
from querygate.methods.notes.finders.pattern import Finder
from querygate.methods.notes.finders.phones import find_phones
from querygate.methods.notes.finders.web import find_emails, find_network, find_urls

FINDERS: tuple[Finder, ...] = (
    find_emails,
    find_urls,
    find_network,
    find_ssn,
    find_cards,
    find_ibans,
    find_vehicles,
    find_labelled,
    find_long_codes,
    find_accessions,
    find_phones,
    find_ages,
    find_dates,
    find_dates_in_words,
    find_days,
    find_addresses,
    find_postcodes,
    find_facilities,
)
JAPANESE_FINDERS: tuple[Finder, ...] = (find_japanese, find_japanese_dates)
"""These read ideographs and kana; the others see `。` for each."""

# What is known of the person is surest, then what has a check digit or an unmistakable form, then what needs a label,
# then what is a shape only. A rule not named has strength 0.
_ORDER = (
    ("learned",),
    ("unknown capitalised word", "capitalised in a sentence", "name in small letters", "long number", "long code"),
    ("number in groups", "flat", "day and month", "domain", "japanese reading"),
    ("name in dictionary", "first and last name", "relation and name", "name or city", "city", "town and state"),
    ("weekday", "holiday", "postcode", "phone in groups", "card without check", "street", "month"),
    ("title and name", "label and name", "name and degree", "facility", "phone", "local phone", "ssn-like number"),
    ("japanese title and name", "japanese label and name", "japanese facility", "japanese name and honorific"),
    ("address", "corner of streets", "international phone", "labelled phone", "japanese town", "japanese postcode"),
    ("date in numbers", "date in words", "month and year", "compact date", "age over 89", "old year"),
    ("accession number",),
    ("labelled account", "labelled other", "labelled device", "labelled record", "labelled plan", "labelled licence"),
    ("labelled ssn", "labelled vehicle", "ssn", "card", "vin", "iso date", "japanese date", "japanese address"),
    ("iban", "ip", "hardware address", "url"),
    ("email", "email in words"),
    ("own column, misspelt", "other record"),
    ("own column",),
)
STRENGTH: dict[str, int] = {rule: strength for strength, rules in enumerate(_ORDER, 1) for rule in rules}

__all__ = ["FINDERS", "JAPANESE_FINDERS", "STRENGTH", "Finder", "NameFinder"]
