"""Scrubbed notes: precision, recall and F1 by kind on annotated texts, speed with a large file, and hostile texts.

The synthetic sentences of presidio-research are made from templates. Rules were made by looking at what was missed in
sentences of even templates or even number; those of odd templates and odd number were held out: none was read, though
their scores were watched, and some share their template with one that was read. Of the Japanese reports the even ones
were read, and of the odd ones a few headers. The recall wanted is that of the design, met or not.

Accession numbers are made here in the forms of laboratories, and stand in sentences without any word for them.

The large file is made here: 100,000 people with six identifier columns, and notes of 100 words with their owner's name,
number, telephone and date of birth inside; 10,000 notes are timed, and the time for 100,000 is ten times that.
Processor time counts, since the machine may be shared.
"""

from __future__ import annotations

import random
import time
from typing import Any

from querygate.methods.notes import IdentifierKind, Scrubber, ScrubOptions
from querygate.methods.notes.finders import FINDERS, JAPANESE_FINDERS, NameFinder
from querygate.methods.notes.lexicon import _load
from tests.report import row
from tests.unit.methods.notes import test_accessions as accessions
from tests.unit.methods.notes.brute import still_there
from tests.unit.methods.notes.corpora import OWN, japanese, presidio
from tests.unit.methods.notes.detection_score import Score, score
from tests.unit.methods.notes.test_finders import HOSTILE

SECRET = b"0123456789abcdef"
PEOPLE, NOTES, WORDS = 100_000, 10_000, 100
MINUTES = 5.0
LIMITS = {IdentifierKind.NAME: 0.85, IdentifierKind.PLACE: 0.85} | dict.fromkeys(
    (
        IdentifierKind.PHONE,
        IdentifierKind.EMAIL,
        IdentifierKind.SSN,
        IdentifierKind.OTHER,
        IdentifierKind.IP,
        IdentifierKind.URL,
        IdentifierKind.DATE,
        IdentifierKind.ACCOUNT,
    ),
    0.95,
)
COLUMNS = {
    "first": IdentifierKind.NAME,
    "last": IdentifierKind.NAME,
    "mrn": IdentifierKind.RECORD,
    "phone": IdentifierKind.PHONE,
    "born": IdentifierKind.DATE,
    "address": IdentifierKind.PLACE,
}


def rows_of(
    name: str, scores: dict[IdentifierKind | None, Score], limits: dict[IdentifierKind, float]
) -> list[dict[str, Any]]:
    """One row for each measure of each kind, and the whole table in print."""
    print(f"\n{name}\nkind      marked found | overlap R P F1    | exact R P F1      | token R P F1      | same kind")
    rows = []
    for kind, s in scores.items():
        cells = (s.recall, s.precision, s.f1), (s.exact_recall, s.exact_precision, s.exact_f1)
        cells = (*cells, (s.token_recall, s.token_precision, s.token_f1))
        three = " | ".join(" ".join(f"{value:.3f}" for value in group) for group in cells)
        print(f"{kind or 'all':9} {s.annotated:6} {s.found:5} | {three} | {s.same_kind:.3f}")
        if s.annotated:
            limit = limits.get(kind) if kind else None
            met = None if limit is None else s.recall >= limit
            rows.append(row(f"{name}: {kind or 'all'} recall", s.recall, "", target=limit, met=met))
            rows.append(row(f"{name}: {kind or 'all'} precision", s.precision, ""))
    return rows


def found_in_texts() -> list[dict[str, Any]]:
    rows = []
    for options, label in ((ScrubOptions(), ""), (ScrubOptions(unknown_words=False), ", no unknown words")):
        scrubber = Scrubber(SECRET, options=options)
        texts = [
            (template % 2 == 1 and number % 2 == 1, text, marked, scrubber.find(text))
            for number, (template, text, marked) in enumerate(presidio())
        ]
        for unread, name in ((False, "presidio, read"), (True, "presidio, held out")):
            scores = score((text, marked, found) for apart, text, marked, found in texts if apart == unread)
            rows += rows_of(name + label, scores, {} if label else LIMITS)
    for columns, name in (({}, "Japanese, rules alone"), (OWN, "Japanese, with own columns")):
        scrubber = Scrubber(SECRET, columns)
        reports = [(text, marked, scrubber.find(text, record)) for text, marked, record in japanese()]
        for half, part in ((0, "read"), (1, "held out")):
            rows += rows_of(f"{name}, {part}", score(reports[half::2]), {})
    return rows


def accession_numbers() -> list[dict[str, Any]]:
    """Numbers without a label in running text, by form, and what looks like one."""
    shares = {form: accessions.gone(form, 100, seed=1) for form in accessions.FORMS}
    worst = min(shares, key=lambda form: shares[form])
    recall = sum(shares.values()) / len(shares)
    alike = (*accessions.LOOKALIKES, *accessions.SPACED)
    touched = sum(accessions.is_taken(text) for text in alike)
    return [
        row(f"Accession numbers, {len(shares)} forms: recall", recall, "", target=0.98, met=recall >= 0.98),
        row(f"Accession numbers, worst form {worst}: recall", shares[worst], ""),
        row(
            f"Accession numbers: of {len(alike)} that look alike taken for one", touched, "", target=0, met=touched == 0
        ),
    ]


def person(draw: random.Random, first: list[str], last: list[str], cities: list[str]) -> dict[str, str]:
    return {
        "first": draw.choice(first).title(),
        "last": draw.choice(last).title(),
        "mrn": f"{draw.randrange(10**8):08}",
        "phone": f"({draw.randrange(200, 999)}) {draw.randrange(200, 999)}-{draw.randrange(10**4):04}",
        "born": f"{draw.randrange(1920, 2020)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}",
        "address": f"{draw.randrange(1, 9999)} {draw.choice(last).title()} Street, {draw.choice(cities).title()}",
    }


def note(draw: random.Random, words: list[str], owner: dict[str, str]) -> str:
    text = [draw.choice(words) for _ in range(WORDS - 5)]
    for at in range(10, len(text), 20):
        text[at], text[at - 1] = text[at].capitalize(), text[at - 1] + "."
    text[20] = f"{owner['first']} {owner['last']}".upper()
    text[45], text[60], text[75] = owner["mrn"], owner["phone"].replace(") ", "."), owner["born"]
    return " ".join(text)


def large_file() -> list[dict[str, Any]]:
    draw = random.Random(1)
    first, last, cities, words = (sorted(_load(name)) for name in ("first_names", "last_names", "cities", "words"))
    everyone = [person(draw, first, last, cities) for _ in range(PEOPLE)]
    common = draw.sample(words, 4000)
    notes = [note(draw, common, owner) for owner in everyone[:NOTES]]
    started = time.process_time()
    scrubber = Scrubber(SECRET, COLUMNS, people=everyone)
    indexed, started = time.process_time() - started, time.process_time()
    made = [scrubber.scrub(text, owner).text for text, owner in zip(notes, everyone, strict=False)]
    scrubbed = time.process_time() - started
    left = sum(
        still_there(value, text) for text, owner in zip(made, everyone, strict=False) for value in owner.values()
    )
    minutes = (indexed + scrubbed * PEOPLE / NOTES) / 60
    name = f"Notes, {PEOPLE:,} x {WORDS} words"
    return [
        row(f"{name}: values left in {NOTES:,}", left, "", target=0, met=left == 0),
        row(f"{name}: index of people", indexed, "CPU s"),
        row(f"{name}: one note", 1000 * scrubbed / NOTES, "CPU ms"),
        row(f"{name}: all, from {NOTES:,}", minutes, "CPU min", target=MINUTES, met=minutes <= MINUTES),
    ]


def hostile() -> list[dict[str, Any]]:
    """The slowest finder on 100,000 characters made to be slow, and a note of a million."""
    slowest, of = 0.0, ""
    for name, text in HOSTILE.items():
        longer = (text * 4)[:100_000]
        for finder in (*FINDERS, *JAPANESE_FINDERS, NameFinder()):
            started = time.process_time()
            for _ in finder(longer):
                pass
            slowest, of = max(
                (slowest, of), (time.process_time() - started, f"{name}, {getattr(finder, '__name__', 'names')}")
            )
    sentence = "Patient Jane Doe, seen on 03/12/2098 at 12 Main St by Dr. Wells, has pain in the left knee. "
    started = time.process_time()
    Scrubber(SECRET).scrub((sentence * 11_000)[:1_000_000])
    whole = time.process_time() - started
    return [
        row(f"Hostile text, 100 kB: {of}", slowest, "CPU s", target=5.0, met=slowest <= 5.0),
        row("A note of 1 MB, 55,000 identifiers", whole, "CPU s", target=60.0, met=whole <= 60.0),
    ]


def run() -> list[dict[str, Any]]:
    """One row per figure, for the bench report."""
    return [*found_in_texts(), *accession_numbers(), *large_file(), *hostile()]
