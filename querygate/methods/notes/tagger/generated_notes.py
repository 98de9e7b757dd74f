"""Made-up notes whose identifiers are known, for a tagger that has no labelled notes of its own to learn from.

Sentences as clinicians dictate them, with names, places, days and numbers drawn from the dictionaries, and, as in life,
from outside them: a third of the names are put together of syllables, some are in capitals or in small letters.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

from querygate.methods.notes.lexicon import first_names_of, last_names, plain_cities
from querygate.methods.notes.note_text import listed
from querygate.methods.notes.spans import IdentifierKind
from querygate.methods.notes.tagger.token_labels import LabelledNote

_SENTENCES = tuple(
    """
    {NAME} is a 64 year old man with a history of hypertension and diabetes.
    Pt {NAME} seen {DATE} by Dr. {LAST} for follow up of CHF.
    {NAME} was admitted on {DATE} to {PLACE} with chest pain.
    Discussed with {NAME}, who agrees with the plan.
    Daughter {FIRST} at bedside, wife {FIRST} updated by phone at {PHONE}.
    MRN {RECORD}. DOB {DATE}. Attending: {NAME}, MD.
    Dictated by {NAME} on {DATE}.
    cc: {NAME}, {NAME}
    Lives with her son {FIRST} in {PLACE}.
    He moved here from {PLACE} in {DATE}.
    Transferred from {PLACE} for cardiac catheterization.
    Call {FIRST} at {PHONE} or {EMAIL} with results.
    The patient's sister, {NAME}, is the health care proxy.
    Echo report {RECORD} was reviewed with Dr {LAST}.
    {FIRST} reports that the pain began on {DATE} and is worse at night.
    Per {LAST}, hold Coumadin until {DATE}.
    Home address: {STREET}, {PLACE}. Tel {PHONE}.
    Mr. {LAST} denies fever, chills or night sweats.
    Mrs {LAST} tolerated the procedure well.
    spoke with {FIRST} this morning, she will bring the pills
    {LAST}, {FIRST}: chart {RECORD}, seen in clinic {DATE}.
    Follow up with {NAME} in two weeks at {PLACE}.
    Nurse {LAST} notified. Lasix 40 mg IV given.
    Signed: {NAME} {DATE}
    Social worker {FIRST} {LAST} met with the family from {PLACE}.
    {FIRST} and {FIRST} visited today.
    I had the pleasure of seeing {NAME} in the Neurology Clinic.
    Thank you for referring {FIRST}, a pleasant woman from {PLACE}.
    Records were requested from {PLACE} and Dr. {NAME}.
    The patient works for {LAST} as a driver and travels to {PLACE}.
    Blood pressure 132/84, pulse 72, weight 81 kg, Temp 98.6.
    Assessment: Parkinson's disease, stable. Continue Sinemet.
    CT of the Chest shows no Pulmonary Embolism. Zosyn and Vancomycin were stopped.
    Past Medical History: Crohn disease, COPD, CAD status post CABG.
    Labs: Hgb 10.2, WBC 8.4, Cr 1.1, Na 138. EKG with normal sinus rhythm.
    Foley catheter removed. Start Lovenox 40 mg SC daily, Tylenol prn.
    Medications: Aspirin 81 mg, Lisinopril 10 mg, Metoprolol 25 mg BID.
    Alert and oriented x 3. Babinski negative. Glasgow Coma Scale 15.
    Plan: Physical Therapy, Heparin drip per protocol, NPO after midnight.
    Allergies: Penicillin, Sulfa. Code status: Full Code.
    Will follow. Grant application for home oxygen is pending. May repeat in 4 to 6 hours.
    """.strip().splitlines()
)
_SLOT = re.compile(r"\{(\w+)\}")
_KINDS = {
    "FIRST": IdentifierKind.NAME,
    "LAST": IdentifierKind.NAME,
    "STREET": IdentifierKind.PLACE,
}
_SYLLABLES = listed("ka mo ri ter sza bel nov gar den oko lin sto bra vel mi cha dou que ian ski berg wen yu zha tor")
_MONTHS = listed("January February March April May June July August September October November December")
_HOUSES = ("Hospital", "Medical Center", "Clinic", "Nursing Home", "University Hospital", "Rehab Center")
_ROADS = listed("Street St Avenue Ave Road Rd Lane Drive Court Blvd")


def generated_notes(many: int, draw: random.Random) -> Iterator[LabelledNote]:
    """So many notes of one to five sentences."""
    for _ in range(many):
        text, marked = "", []
        for _ in range(draw.randint(1, 5)):
            sentence, found = _filled(draw.choice(_SENTENCES).strip(), draw)
            marked += [(len(text) + start, len(text) + end, kind) for start, end, kind in found]
            text += sentence + draw.choice((" ", " ", "\n"))
        yield LabelledNote(text, tuple(marked))


def _filled(sentence: str, draw: random.Random) -> tuple[str, list[tuple[int, int, IdentifierKind]]]:
    text, at, marked = "", 0, []
    for slot in _SLOT.finditer(sentence):
        text += sentence[at : slot.start()]
        value = _FILLED[slot[1]](draw)
        marked.append((len(text), len(text) + len(value), _KINDS.get(slot[1]) or IdentifierKind(slot[1])))
        text += value
        at = slot.end()
    return text + sentence[at:], marked


def _first(draw: random.Random) -> str:
    return _cased(draw.choice(_sorted(first_names_of(draw.choice(("women", "men"))))), draw)


def _last(draw: random.Random) -> str:
    if draw.random() < 0.35:
        return _cased("".join(draw.choice(_SYLLABLES) for _ in range(draw.randint(2, 3))), draw)
    name = draw.choice(_sorted(last_names()))
    return _cased(name, draw) if draw.random() < 0.9 else f"{name.title()}-{draw.choice(_SYLLABLES).title()}"


def _cased(name: str, draw: random.Random) -> str:
    chance = draw.random()
    return name.upper() if chance < 0.08 else name if chance < 0.12 else name.title()


def _name(draw: random.Random) -> str:
    first, last = _first(draw), _last(draw)
    return draw.choice((f"{first} {last}", f"{first} {last}", f"{last}, {first}", f"{first[0]}. {last}",
                        f"{first} {draw.choice('ABCDEJKLMRST')}. {last}", first, last))  # fmt: skip


def _place(draw: random.Random) -> str:
    city = draw.choice(plain_cities()).title()
    if draw.random() < 0.2:
        city = "".join(draw.choice(_SYLLABLES) for _ in range(3)).title()
    return draw.choice((city, city, f"{city} {draw.choice(_HOUSES)}", f"St. {_first(draw).title()}'s Hospital"))


def _street(draw: random.Random) -> str:
    name = draw.choice((_last(draw).title(), draw.choice(plain_cities()).title()))
    return f"{draw.randint(1, 9999)} {name} {draw.choice(_ROADS)}"


def _date(draw: random.Random) -> str:
    year, month, day = draw.randint(1950, 2030), draw.randint(1, 12), draw.randint(1, 28)
    name = _MONTHS[month - 1]
    return draw.choice((f"{month}/{day}/{year}", f"{month:02}/{day:02}/{year % 100:02}", f"{year}-{month:02}-{day:02}",
                        f"{name} {day}, {year}", f"{day} {name[:3]} {year}", f"{month}/{day}", f"{name} {day}",
                        f"{name} {year}"))  # fmt: skip


def _phone(draw: random.Random) -> str:
    a, b, c = draw.randint(200, 999), draw.randint(200, 999), draw.randint(0, 9999)
    return draw.choice((f"({a}) {b}-{c:04}", f"{a}-{b}-{c:04}", f"{a}.{b}.{c:04}", f"{b}-{c:04}", f"x{c:04}"))


def _record(draw: random.Random) -> str:
    accession = f"{draw.choice('ABEMS')}{draw.randint(10, 30)}-{draw.randint(100, 99999)}"
    return draw.choice(
        (f"{draw.randint(10**5, 10**8)}", accession, f"{draw.randint(100, 999)}-{draw.randint(1000, 9999)}")
    )


def _email(draw: random.Random) -> str:
    return f"{_first(draw).lower()}.{_last(draw).lower()}@{draw.choice(_SYLLABLES)}{draw.choice(_SYLLABLES)}.org"


def _sorted(names: frozenset[str]) -> tuple[str, ...]:
    made = _IN_ORDER.get(names)
    if made is None:
        made = _IN_ORDER[names] = tuple(sorted(names))
    return made


_IN_ORDER: dict[frozenset[str], tuple[str, ...]] = {}
_FILLED: dict[str, Callable[[random.Random], str]] = {
    "NAME": _name,
    "FIRST": _first,
    "LAST": _last,
    "PLACE": _place,
    "STREET": _street,
    "DATE": _date,
    "PHONE": _phone,
    "RECORD": _record,
    "EMAIL": _email,
}
