"""The annotated notes: what each corpus marks, as kinds of the Safe Harbor rule."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator

from querygate.methods.notes import IdentifierKind
from querygate.methods.notes.lexicon import is_state_or_country
from tests.places import DATA
from tests.unit.methods.notes.detection_score import Annotation

FOLDER = DATA / "phi_text"

PRESIDIO = {
    "PERSON": IdentifierKind.NAME,
    "STREET_ADDRESS": IdentifierKind.PLACE,
    "ZIP_CODE": IdentifierKind.PLACE,
    "GPE": IdentifierKind.PLACE,
    "CREDIT_CARD": IdentifierKind.OTHER,
    "DATE_TIME": IdentifierKind.DATE,
    "PHONE_NUMBER": IdentifierKind.PHONE,
    "EMAIL_ADDRESS": IdentifierKind.EMAIL,
    "DOMAIN_NAME": IdentifierKind.URL,
    "IBAN_CODE": IdentifierKind.ACCOUNT,
    "US_SSN": IdentifierKind.SSN,
    "IP_ADDRESS": IdentifierKind.IP,
    "US_DRIVER_LICENSE": IdentifierKind.LICENCE,
}
"""Not here: ages (none over 89), nationalities and job titles. Safe Harbor lets them stand: removed, they are wrong."""

JAPANESE = (
    (r"PHONE|TEL|CONTACT(?!NAME)", IdentifierKind.PHONE),
    (r"ADDRESS|LOCATION|HOSPITAL|FACILITY|POSTAL|INSTITUTION|CLINIC", IdentifierKind.PLACE),
    (r"NAME|DOCTOR|TECHNICIAN|RADIOLOGIST|PHYSICIAN|REPORTER|PERSON", IdentifierKind.NAME),
    (r"FAX", IdentifierKind.FAX),
    (r"EMAIL", IdentifierKind.EMAIL),
    (r"DATE|BIRTH", IdentifierKind.DATE),
    (r"ID|NUMBER", IdentifierKind.RECORD),
)


def presidio() -> Iterator[tuple[int, str, list[Annotation]]]:
    """Template, sentence and annotations of the synthetic sentences of presidio-research (MIT)."""
    for entry in json.loads(gzip.decompress((FOLDER / "presidio_synth_dataset_v2.json.gz").read_bytes())):
        yield entry["template_id"], entry["full_text"], list(_presidio_spans(entry["spans"]))


def _presidio_spans(spans: list[dict[str, str | int]]) -> Iterator[Annotation]:
    for span in spans:
        kind, value = str(span["entity_type"]), str(span["entity_value"])
        start, end = int(span["start_position"]), int(span["end_position"])
        large = kind == "GPE" and (is_state_or_country(value.lower()) or value == "nan")
        if kind == "ORGANIZATION" or large or (re.fullmatch(r"\d{4}", value) and kind == "DATE_TIME"):
            yield Annotation(start, end, None)  # an employer, a state or country, a bare year: may go or stay
        elif kind in PRESIDIO:
            yield Annotation(start, end, PRESIDIO[kind])


def japanese() -> Iterator[tuple[str, list[Annotation], dict[str, str]]]:
    """Report, annotations, and the patient's own identifiers, of the synthetic radiology reports (GPL-3).

    The file is a collection of answers of a language model, no two in quite the same form and few in valid JSON, so
    the marked words are read by their keys. Places are not marked reliably: wherever the words stand counts.
    """
    csv.field_size_limit(1 << 24)
    content = gzip.decompress((FOLDER / "ja_radiology_phi_100.csv.gz").read_bytes()).decode("utf-8-sig")
    rows = csv.reader(io.StringIO(content))
    next(rows)
    for report, marked in rows:
        text = re.sub(r"\\{1,2}n", "\n", report)
        pairs = list(_marked(marked))
        found = [one for value, name in pairs for one in _japanese_spans(text, value, name)]
        record: dict[str, str] = {}
        for value, name in pairs:
            if value in text and name in OWN:
                record.setdefault(name, value)
        if found:
            yield text, found, record


OWN = {
    "PATIENTNAME": IdentifierKind.NAME,
    "PATIENTID": IdentifierKind.RECORD,
    "DATEOFBIRTH": IdentifierKind.DATE,
    "PHONENUMBER": IdentifierKind.PHONE,
}
"""What a file with these reports would have in identifier columns."""


def _marked(annotations: str) -> Iterator[tuple[str, str]]:
    for part in re.findall(r"\{[^{}]*\}", annotations):
        value, name = re.search(r'"(?:text|value)": *"([^"]+)"', part), re.search(r'"type": *"([^"]+)"', part)
        if value and name:
            yield value[1], re.sub(r"[^A-Z]", "", name[1].upper())


def _japanese_spans(text: str, value: str, name: str) -> Iterator[Annotation]:
    kind = next((kind for pattern, kind in JAPANESE if re.search(pattern, name)), None)
    if kind is None or re.search("TIME$|AGE$|DEPARTMENT|DEVICE|EQUIPMENT", name):
        return
    for match in re.finditer(re.escape(value), text):
        yield Annotation(match.start(), match.end(), kind)


def nursing() -> Iterator[tuple[str, str]]:
    """The tiny nursing notes: raw and redacted lines (MIT)."""
    raw = (FOLDER / "mini_deid.text").read_text(encoding="utf-8").splitlines()
    redacted = (FOLDER / "mini_deid.res").read_text(encoding="utf-8").splitlines()
    for one, other in zip(raw, redacted, strict=True):
        if "||||" not in one:
            yield one, other
