"""Signs of identifiers: by the name of a column, by its values, and neither where neither speaks."""

from __future__ import annotations

import re

import pytest

from querygate.custody.policy.identifier_signs import (
    DETECTORS,
    JOINT,
    LISTS,
    PATTERNS,
    identifier_sign,
    traces,
    words_of,
)

BY_NAME = {
    "patientFirstName": "name of a person",
    "LAST_NAME": "name of a person",
    "surname": "name of a person",
    "SSN": "social security or other national number",
    "national insurance no": "social security or other national number",
    "home_phone": "telephone or fax number",
    "Fax": "telephone or fax number",
    "eMail": "e-mail address",
    "ip_address": "internet address",
    "homepage": "web address",
    "street_name": "street address or place on the map",
    "longitude": "street address or place on the map",
    "account_number": "account, card or policy number",
    "license_plate": "licence, certificate or vehicle number",
    "AT_PHYSN_NPI": "licence, certificate or vehicle number",
    "device serial": "device number",
    "photo": "picture or biometric feature",
    "MRN": "record number",
    "subject_id": "record number",
    "DESYNPUF_ID": "record number",
    "hadm_id": "record number",
    "Patientenname": "name of a person",
    "Vorname": "name of a person",
    "Versichertennummer": "social security or other national number",
    "Telefon": "telephone or fax number",
    "Straße": "street address or place on the map",
    "Fallnummer": "record number",
}

BY_VALUE = {
    "social security or other national number": "123-45-6789",
    "telephone or fax number": "(615) 555-0123",
    "e-mail address": "a.b@example.org",
    "internet address": "192.168.10.20",
    "web address": "https://example.org/x",
    "street address or place on the map": "12 Old Mill Road",
    "account, card or policy number": "DE89 3704 0044 0532 0130 00",
    "device number": "00:1B:44:11:3A:B7",
    "record number": "123e4567-e89b-12d3-a456-426614174000",
    "name of a person": "Grace M. Hopper",
}

INNOCENT = (
    *("Alter", "Geschlecht", "Fallzahl", "Diagnose", "Aufnahmegrund"),
    *("age", "sex", "systolic", "BPSysAve", "county", "gender_concept_id", "BENE_SEX_IDENT_CD", "MEDREIMB_IP"),
    *("idle_minutes", "drug_name", "width"),
)


@pytest.mark.parametrize(("name", "kind"), BY_NAME.items())
def test_names_that_speak_of_an_identifier(name, kind):
    sign = identifier_sign(name, {}, distinct=1000)
    assert sign is not None
    assert (sign.kind, sign.named) == (kind, True)


@pytest.mark.parametrize("name", INNOCENT)
def test_names_that_do_not(name):
    assert identifier_sign(name, {}, distinct=1000) is None


def test_a_column_of_few_values_identifies_nobody_whatever_it_is_called():
    assert identifier_sign("phone", {}, distinct=2) is None
    assert identifier_sign("patient_id", {}, distinct=4) is None


@pytest.mark.parametrize(("kind", "value"), BY_VALUE.items())
def test_values_that_look_like_an_identifier(kind, value):
    assert [other for other in BY_VALUE if re.fullmatch(PATTERNS[other], value)] == [kind]
    sign = identifier_sign("x17", {kind: 0.9}, distinct=1000)
    assert sign is not None
    assert (sign.kind, sign.named, sign.share) == (kind, False, 0.9)


@pytest.mark.parametrize("value", ["2009-10-12", "12:30:45", "34", "120.5", "<=50K", "Bachelors", "2009_10", "250.02"])
def test_values_that_do_not(value):
    assert not [d.kind for d in DETECTORS if d.pattern and re.fullmatch(d.pattern, value)]


def test_a_pattern_alone_needs_many_values():
    assert identifier_sign("ward", {"name of a person": 1.0}, distinct=30) is None


CODES = [("icd9cm", "250.02"), ("icd9cm", "V4581"), ("icd9cm", "E849")]
CODES += [("icd10cm", "E11.65"), ("icd10cm", "S72001A"), ("icd10cm", "C7A00")]


@pytest.mark.parametrize(("system", "code"), CODES)
def test_codes_of_diagnoses(system, code):
    assert re.fullmatch(PATTERNS[system], code)


@pytest.mark.parametrize("text", ["250.02; V4581;4019", "[E849, 401.9]", "['250.00', '401.9', '042']", "25002|4019"])
def test_lists_of_codes_of_diagnoses(text):
    mark = next(m for m in ";,|" if m in text)
    assert [one for one in LISTS if re.fullmatch(LISTS[one], text)] == [("icd9cm", mark), (JOINT, mark)]


def test_lists_with_codes_of_both_systems():
    assert [one for one in LISTS if re.fullmatch(LISTS[one], "250.02; E11.65")] == [(JOINT, ";")]


@pytest.mark.parametrize("text", ["250.02", "[]", "250.02 and 401.9", "fever; cough", "250;", "12; 14"])
def test_no_lists_of_codes(text):
    assert not any(re.fullmatch(pattern, text) for pattern in LISTS.values())


def test_traces_inside_texts():
    found = traces({"e-mail address": 0.02, "telephone or fax number": 0.0, "record number": 0.5})
    assert [(sign.kind, sign.share) for sign in found] == [("e-mail address", 0.02)]


def test_words_of_names():
    assert words_of("dateOfBirth") == words_of("DATE_OF_BIRTH") == words_of("date of birth") == "date of birth"
