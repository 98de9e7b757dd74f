"""Accession numbers without a word before them go; what has letters, digits and dashes as they do stays."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import pairwise

import pytest

from querygate.methods.code_lists.known_code_systems import LEVELS, lines_of
from querygate.methods.notes import IdentifierKind, Scrubber, ScrubOptions
from querygate.methods.notes.finders.accessions import find_accessions
from querygate.methods.notes.note_text import listed
from tests.each import each
from tests.unit.methods.notes.corpora import nursing, presidio

SCRUBBER = Scrubber(b"0123456789abcdef", options=ScrubOptions(tags="kind", dates="tag"))
AROUND = (
    "Compared with {}, margins are now free.",
    "The lesion ({}) was read as benign.",
    "Outside slides, {}: carcinoma in situ.",
    "Addendum to {}; no change.",
    "prior biopsy {} showed gliosis",
    "Reviewed with\n{}\nby two readers.",
    "{} and older material agree.",
    "margins free in {}.",
)

Draw = random.Random


def year(draw: Draw) -> str:
    return f"{draw.randrange(-15, 27) % 100:02}"


def serial(draw: Draw, digits: int) -> str:
    return str(draw.randrange(1, 10**digits)).zfill(digits)


def plain_serial(draw: Draw) -> str:
    return str(draw.randrange(100, 99_999))


FORMS: dict[str, Callable[[Draw], str]] = {
    "SH-02-22222": lambda d: f"{d.choice(('SH', 'SP', 'CY', 'HS'))}-{year(d)}-{serial(d, 5)}",
    "S02-12345": lambda d: f"{d.choice('SCNMF')}{year(d)}-{serial(d, 5)}",
    "SP-19-004512": lambda d: f"{d.choice(('SP', 'SU', 'GC', 'NG'))}-{year(d)}-{serial(d, 6)}",
    "H19-2231": lambda d: f"{d.choice('HSC')}{year(d)}-{plain_serial(d)}",
    "19-S-01234": lambda d: f"{year(d)}-{d.choice('SCHM')}-{serial(d, 5)}",
    "19S-1234": lambda d: f"{year(d)}{d.choice(('S', 'SP', 'CN'))}-{serial(d, 4)}",
    "S-2019-12345": lambda d: f"{d.choice(('S', 'CT', 'RAD'))}-20{d.randrange(27):02}-{serial(d, 5)}",
    "2019-SP-1234": lambda d: f"20{d.randrange(27):02}-{d.choice(('SP', 'AU'))}-{serial(d, 4)}",
    "SU:19:12345": lambda d: f"{d.choice(('SU', 'BS'))}:{year(d)}:{serial(d, 5)}",
    "MGH-S19-12345": lambda d: f"{d.choice(('MGH', 'UWMC'))}-S{year(d)}-{serial(d, 5)}",
    "S19-12345-A1": lambda d: f"S{year(d)}-{serial(d, 5)}{d.choice(('-A', '-A1', 'B', '.1', '-02'))}",
    "22MC-123SP00045": lambda d: f"{year(d)}MC-{serial(d, 3)}SP{serial(d, 5)}",
    "H/19/12345": lambda d: f"H/{year(d)}/{serial(d, 5)}",
    "19/H/1234": lambda d: f"{year(d)}/H/{serial(d, 4)}",
    "S19 12345": lambda d: f"S{year(d)} {serial(d, 5)}",
    "SP 19-1234": lambda d: f"SP {year(d)}-{serial(d, 4)}",
    "SP 19 1234": lambda d: f"SP {year(d)} {serial(d, 4)}",
    "sp-19-004512": lambda d: f"sp-{year(d)}-{serial(d, 6)}",
    "FNA19-0123": lambda d: f"{d.choice(('FNA', 'NGYN', 'AUT'))}{year(d)}-{serial(d, 4)}",
    "CT-19-123456": lambda d: f"{d.choice(('CT', 'MR', 'XR', 'US'))}-{year(d)}-{serial(d, 6)}",
    "SP_19_004512": lambda d: f"SP_{year(d)}_{serial(d, 6)}",
    "E19/12345": lambda d: f"E{year(d)}/{serial(d, 5)}",
    "19-085-M0123": lambda d: f"{year(d)}-{d.randrange(1, 367):03}-M{serial(d, 4)}",
    "S19-B01234": lambda d: f"S{year(d)}-B{serial(d, 5)}",
}


def gone(form: str, number: int, seed: int = 0) -> float:
    """The share of so many numbers of a form, in running text, of which no letter or digit is left."""
    draw = random.Random(f"{form}, {seed}")
    found = 0
    for _ in range(number):
        around = draw.choice(AROUND)
        left = SCRUBBER.scrub(around.format(FORMS[form](draw))).text
        found += re.sub(r"\[[A-Z]+\]", "[]", left) == around.format("[]")
    return found / number


@each("form", sorted(FORMS))
def test_accession_numbers_go(form: str) -> None:
    assert gone(form, 50) >= 0.98


@pytest.mark.parametrize("number", ["SH-02-22222", "S02-12345", "SP-19-004512", "H19-2231"])
def test_they_are_called_record_numbers(number: str) -> None:
    text = f"Compared with {number}."
    (span,) = SCRUBBER.find(text)
    assert (text[span.start : span.end], span.kind) == (number, IdentifierKind.RECORD)


def test_two_numbers_side_by_side_and_over_a_line() -> None:
    for text in ("See S19-12345/S19-12346.", "See S02-\n12345.", "See S02-12345 and H19-2231."):
        assert not re.search(r"\d", SCRUBBER.scrub(text).text), text


LOOKALIKES = listed(
    """
CD-20 CD20 HLA-B27 HLA-A*02:01 A*02:0101 DRB1*15:01:01 COVID-19 SARS-CoV-2 T2-weighted H1N1 H5N1 HPV-16/18 HPV-16-18
L4-5 L4-L5 S1-S2 T12-L1 C5-6 T10-12 L1-S1 pT2N0 pT1c-2 ypT0N0 T1-2 N0-1 B12 A1c D3 Ki-67 PD-L1 IL-2 IL-12 GLP-1 5-FU
CA19-9 CA-19-9 CA15-3 CA-125 22C3 28-8 SP142 SP263 MIB-1 AE1/AE3 CK20 18F-FDG ABT-199 KEYNOTE-189
C50.911 S02.110A E11.65 E880-E888 V10-V19 C00-C97 E10-E14 F10-19 F10-F19 S72.001A M80.08XA 250.00-250.93 8140/3 Z79.4
c.5266dupC c.12-1234del c.12-1234A>G IVS10-11G>A p.V600E 1p/19q del17p13.1 L858R chr7:55249 BRCA1-185delAG
10-20 120/80 120-140/70-80 HR60-100 HR80-100 BP90-100 P90-120 RR12-20 MAP65-100 FS80-120 NA135-145 K3.5-5.0 ASA81-325
2-3 10-325 5-325 800-160 25-OH 17-OHP 2-0 10-0 18G-20G 25G-1.5 20-FR 0.5-1.0 95-98% 1.5-2.3 10-100 12-145 2500/1800
02-03-2019 2019-03-02 02-MAR-2019 12-NOV-98 1990-1995 2015-16 FY19-20 FY19-2020 0700-1900 10:30-11:15 Q1-2019
718-7 2345-7 99213-25 15189-2012 G2P1 ASA-81 8-9 3+4=7 46,XY 47,XXY t(9;22) GRCh37 12-345 7B R2-103
"""
)
SPACED = (
    "vitamin B12 1000 mcg daily",
    "B12 - 1000 mcg weekly",
    "B12-1000 mcg",
    "CA 19-9 of 1200",
    "CA 15-3 37",
    "WBC 10-15",
    "PLT 150-400",
    "NS 75-1000 mL bolus",
    "IV 50-1000 mL",
    "HR 60-100",
    "P 80 1200",
    "T 36 0800",
    "C50 8140/3",
    "Norco 10-325 mg",
    "for 2-3 weeks",
    "10-20 mg",
    "BP 120-140/70-80",
    "rooms 10-12",
    "in 2015-2016",
)


def is_taken(text: str) -> bool:
    return any(
        span.rule == "accession number"
        for around in ("{}", "with {}.", "({}),", "is {}; then")
        for span in SCRUBBER.find(around.format(text))
    )


@each("text", [*LOOKALIKES, *SPACED])
def test_what_merely_looks_alike_is_no_accession_number(text: str) -> None:
    assert not is_taken(text)


def test_a_note_of_lookalikes_stays() -> None:
    note = (
        "CD-20 positive, HLA-B27 negative, after COVID-19 and H1N1. T2-weighted images: L4-5 and S1-S2, stage pT2N0. "
        "B12 low, A1c high. Take 10-20 mg for 2-3 weeks; BP 120/80, HR 60-100. C50.911, E11.65, S02.110A."
    )
    assert SCRUBBER.scrub(note).text == note


@pytest.mark.parametrize("system", sorted(LEVELS))
def test_no_diagnosis_code_and_no_range_of_them_is_one(system: str) -> None:
    codes = sorted(lines_of(system))[::7]
    pairs = [f"{one}{between}{other}" for one, other in pairwise(codes) for between in "- "]
    assert not list(find_accessions(", ".join((*codes, *pairs))))


def test_other_annotated_texts_have_none() -> None:
    texts = [text for _, text, _ in presidio()] + [raw for raw, _ in nursing()]
    assert not [span for text in texts for span in find_accessions(text)]
