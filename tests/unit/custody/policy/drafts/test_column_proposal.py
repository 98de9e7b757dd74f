"""Proposals from figures: what is published, in which role, and that no value of a person is written."""

from __future__ import annotations

import datetime
import re
import tomllib

import pytest

from querygate.core.column_profile import ColumnFigures
from querygate.custody.policy import parse_policy
from querygate.custody.policy.drafts.column_proposal import choose_k
from querygate.custody.policy.drafts.draft_domains_and_cuts import date_keys, round_domain, toml_text
from querygate.custody.policy.drafts.draft_file import dataset_name, write_policy
from querygate.custody.policy.drafts.draft_person import PersonProposal, propose_person
from querygate.custody.policy.drafts.draft_table import MOST_CATEGORIES, MOST_NUMBERS, MOST_QUASI, propose
from querygate.custody.policy.drafts.draft_views_or_classes import choose_form
from querygate.custody.policy.identifier_signs import PATTERNS

ROWS = 1000


def figures(name, *, kind="", distinct=500, low=None, high=None, values=(), missing=0, **more):
    known = ROWS - missing
    also = {"integer": ("integer", "number"), "date": ("date", "timestamp"), "": ()}.get(kind, (kind,))
    more.setdefault("largest", max((n for _, n in values), default=known // max(1, distinct)))
    if kind in ("integer", "number") and low is not None:
        more = {"middle": (low + high) / 2, "spread": (high - low) / 6} | more
    return ColumnFigures(
        name, ROWS, missing, len(values) or distinct, dict.fromkeys(also, known), low, high, tuple(values), **more
    )


def only(column, k=10):
    (proposal,) = propose([column], k)
    return proposal


def text_of(columns, k=10, person=None, *, several_rows=False):
    """The file that proposes these columns."""
    form = choose_form(propose(columns, k), {c.name: c for c in columns}, k, several_rows=several_rows)
    return write_policy("t", ROWS, form, k, person or PersonProposal("", ROWS))


SEX = figures("sex", values=[("F", 480), ("M", 520)])
AGE = figures("age", kind="integer", distinct=90, low=1, high=97)
SBP = figures("sbp", kind="integer", distinct=120, low=76, high=226, middle=120, spread=18)
DIGITS = figures(
    "seen", kind="integer", distinct=300, low=20_090_131, high=20_101_231, matches={"compact date": 1.0}
)  # fmt: skip


@pytest.mark.parametrize("kind", ["integer", "number"])
def test_age_is_cut_at_majority_and_the_bands_of_papers(kind):
    found = only(figures("age", kind=kind, distinct=90, low=1, high=97))
    assert (found.role, found.type, tomllib.loads(f"x = {found.keys['domain']}")["x"]) == (
        "quasi-identifier", kind, [0, 120],
    )  # fmt: skip
    assert tomllib.loads(f"x = {found.keys['cuts']}")["x"] == [18, 25, 35, 45, 55, 65, 75, 85]


def test_a_measured_number_has_a_domain_that_is_nobodys():
    found = only(figures("x17", kind="integer", distinct=180, low=3, high=971))
    domain = tomllib.loads(f"d = {found.keys['domain']}")["d"]
    assert found.role == "sensitive"
    assert domain == [0, 1000]


def test_a_known_quantity_has_its_usual_domain_where_the_data_fits():
    assert only(figures("BPSysAve", kind="integer", distinct=120, low=76, high=226)).keys["domain"] == "[40, 300]"
    assert only(figures("sbp", kind="integer", distinct=120, low=76, high=999)).keys["domain"] != "[40, 300]"


def test_values_of_few_records_are_not_written():
    rare = only(figures("education", values=[("High School", 600), ("College", 397), ("Trapeze Academy", 3)]))
    assert (rare.keys["values"], rare.keys["rare"]) == ('["High School", "College"]', '"other"')
    assert not any("Trapeze" in reason for reason in (*rare.why, *rare.notes.values()))
    assert rare.notes["rare"].startswith("1 value with fewer than 50 records")
    finding = only(figures("diagnosis", values=[("flu", 600), ("cold", 397), ("plague", 3)]))
    assert "values" not in finding.keys
    assert finding.notes["rare"] == "1 value with fewer than 10 records"
    assert only(SEX).keys["values"] == '["F", "M"]'


@pytest.mark.parametrize(
    ("column", "role"),
    [
        (figures("contact", matches={"e-mail address": 0.97}), "identifier"),
        (figures("last_name", distinct=700), "identifier"),
        (figures("seqn", kind="integer", distinct=ROWS, low=1, high=9999), "identifier"),
        (figures("x", distinct=ROWS), "identifier"),
        (figures("counter", kind="integer", distinct=ROWS, low=1, high=9999), "identifier"),
        (figures("remarks", distinct=900, words=11.0), "withheld"),
        (figures("hvr1", distinct=ROWS, words=1.0, matches={"sequence": 1.0}), "withheld"),
        (figures("constant", values=[("a", ROWS)]), "withheld"),
        (figures("empty", distinct=0, missing=ROWS), "withheld"),
        (figures("place", distinct=800, words=1.5), "withheld"),
        (DIGITS, "quasi-identifier"),
        (figures("glucose", kind="number", distinct=300, low=2.0, high=30.5, missing=900), "withheld"),
        (figures("cost", kind="number", distinct=300, low=0.0, high=3e4, largest=950), "withheld"),
        (figures("survey weight", kind="number", distinct=ROWS, low=3e3, high=1.5e5), "withheld"),
        (figures("x9", kind="number", distinct=300, low=0.0, high=1e308), "withheld"),
        (figures("death", kind="boolean", values=[("0", 700), ("1", 300)]), "sensitive"),
        (figures("status", values=[("alive", 700), ("dead", 300)]), "sensitive"),
        (figures("cause_of_death", values=[("heart", 150), ("other", 150)], missing=700), "sensitive"),
        (figures("death_date", kind="date", distinct=200, low=14_000, high=15_000, missing=300), "sensitive"),
        (figures("death_dt", kind="date", distinct=12, low=14_000, high=15_000, missing=970), "sensitive"),
        (figures("relapse", values=[("none", 600), ("local", 200), ("distant", 200)]), "sensitive"),
        (figures("futime", kind="integer", distinct=500, low=1, high=4000), "sensitive"),
        (figures("flavour", values=[("a", 500), ("b", 300), ("c", 200)]), "quasi-identifier"),
        (figures("diabetes", kind="boolean", values=[("No", 800), ("Yes", 200)]), "sensitive"),
        (figures("hypertension", kind="boolean", values=[("no", 700), ("yes", 300)]), "sensitive"),
        (figures("mgus", values=[("absent", 700), ("present", 300)]), "sensitive"),
        (figures("mi", kind="boolean", values=[("no", 970), ("yes", 30)]), "withheld"),
        (figures("hiv", kind="boolean", values=[("no", 850), ("yes", 150)]), "sensitive"),
        (figures("hiv", kind="boolean", values=[("no", 985), ("yes", 15)]), "withheld"),
        (figures("hiv", kind="boolean", values=[("no", 975), ("yes", 25)]), "sensitive"),
        (figures("died", kind="boolean", values=[("0", 980), ("1", 20)]), "sensitive"),
        (figures("year_dx", kind="integer", low=2012, high=2020, matches={"icd9cm": 1.0}), "quasi-identifier"),
        (figures("verstorben", values=[("ja", 21), ("nein", 979)]), "sensitive"),
        (figures("died", kind="boolean", values=[("0", 981), ("1", 19)]), "withheld"),
        (figures("Geburtsdatum", kind="date", low=-9000, high=9000), "quasi-identifier"),
        (figures("patient_gender", values=[("no", 480), ("yes", 520)]), "quasi-identifier"),
        (figures("q1", values=[("Männlich", 480), ("weiblich", 520)]), "quasi-identifier"),
        (figures("married", kind="boolean", values=[("no", 480), ("yes", 520)]), "quasi-identifier"),
        (figures("visit_date", kind="date", low=14_000, high=14_900), "quasi-identifier"),
        (figures("zip", kind="integer", distinct=300, low=1001, high=99_950), "quasi-identifier"),
        (figures("dx1", distinct=450, matches={"icd10cm": 1.0}), "quasi-identifier"),
        (figures("dx", distinct=ROWS, words=9.0, matches={"icd9cm by ;": 0.8, "icd9cm": 0.15}), "codes"),
        (figures("drugs", distinct=ROWS, words=9.0, matches={"icd10cm by ,": 0.3}), "withheld"),
    ],
    ids=lambda value: value.name if isinstance(value, ColumnFigures) else value,
)  # fmt: skip
def test_roles(column, role):
    assert only(column).role == role


def test_hierarchies_are_proposed():
    assert only(figures("zip", kind="integer", distinct=300, low=1001, high=99_950)).keys == {"hierarchy": '"digits"'}
    assert only(figures("diag_1", distinct=450, matches={"icd9cm": 0.99})).keys == {"hierarchy": '"icd9cm"'}


def test_lists_of_codes_are_proposed():
    texts = only(figures("dx", distinct=ROWS, words=9.0, matches={"icd9cm by ;": 0.98}))
    assert (texts.role, texts.keys) == ("codes", {"system": '"icd9cm"', "separator": '";"'})
    lists = only(figures("dx", distinct=ROWS, words=9.0, matches={"icd10cm by ,": 0.7, "in brackets": 1.0}))
    assert lists.keys == {"system": '"icd10cm"'}
    policy = parse_policy(text_of([AGE, figures("dx", matches={"icd9cm by |": 1.0})]))
    assert policy.column("dx").codes.separator == "|"


@pytest.mark.parametrize(
    ("name", "matches", "is_list"),
    [
        ("diagnoses", {"icd10cm by ;": 0.43, "icd10cm": 0.57}, True),
        ("x17", {"icd10cm by ;": 0.05, "icd10cm": 0.95}, True),
        ("diagnoses", {"icd10cm by ;": 0.02, "icd10cm": 0.98}, False),
        ("diagnoses", {"icd10cm by ;": 0.3, "icd10cm": 0.3}, False),
        ("costs", {"icd9cm by ,": 0.3, "icd9cm": 0.7}, False),  # 123,456 is a number
    ],
)
def test_codes_of_a_known_system_are_a_list_even_if_most_people_have_one(name, matches, is_list):
    assert (only(figures(name, distinct=297, words=1.5, matches=matches)).role == "codes") == is_list


@pytest.mark.parametrize("name", ["birth_weight", "birth_weight_g", "Geburtsgewicht (g)", "poids de naissance"])
def test_a_weight_at_birth_is_published_as_a_measure_and_not_as_a_date(name):
    found = only(figures(name, kind="integer", distinct=400, low=410, high=4990, middle=3310, spread=560))
    assert (found.role, found.keys["domain"]) == ("sensitive", "[0, 8000]")
    assert not any("date" in reason for reason in found.why)


@pytest.mark.parametrize(
    ("column", "is_date"),
    [
        (figures("birth", kind="boolean", values=[("0", 400), ("1", 600)]), False),
        (figures("birth", kind="number", distinct=300, low=0.4, high=5.3), False),
        (figures("bmi_birth", kind="number", distinct=300, low=8, high=20), False),
        (figures("birth", kind="integer", distinct=60, low=1930, high=1999), True),
        (figures("birth", kind="integer", distinct=800, low=11_000, high=36_000), True),  # days, as spreadsheets count
        (figures("birth", kind="date", distinct=800, low=-9000, high=9000), True),
    ],
)
def test_a_birth_that_cannot_be_a_date_is_none(column, is_date):
    assert any("A date of birth" in reason for reason in only(column).why) == is_date


@pytest.mark.parametrize("name", ["gestational_age", "gestational_age_weeks", "ga_age_weeks", "SSW"])
def test_weeks_of_a_pregnancy_are_published_as_a_measure(name):
    found = only(figures(name, kind="integer", distinct=20, low=23, high=42, middle=39, spread=2))
    assert (found.role, found.keys["domain"]) == ("sensitive", "[15, 50]")


def test_an_age_in_months_is_withheld_unless_it_is_a_measure():
    assert only(figures("age_months", kind="integer", distinct=90, low=1, high=97)).role == "withheld"


def test_a_diagnosis_that_was_derived_needs_no_decision():
    found = only(figures("has_icd10cm_o82", kind="boolean", values=[("0", 700), ("1", 300)]))
    assert found.role == "sensitive"
    assert not any("decide" in reason for reason in found.why)


def test_bins_are_said_to_have_the_limits_by_themselves():
    found = only(figures("bmi", kind="number", distinct=300, low=14, high=60, middle=27, spread=5))
    assert found.notes["bins"].endswith("; bins of this width already have edges at 18.5, 25, 30, 35, 40")


REPEATED = [("see letter", 500), ("tel 044 123 45 67; patient's daughter", 500)]


@pytest.mark.parametrize(
    "column",
    [
        figures("remarks", values=REPEATED, words=4.5),
        figures("remarks", values=REPEATED, words=1.5),
        figures("x7", values=REPEATED, words=4.5),
        figures("region", values=REPEATED, words=3.0, contains={"telephone or fax number": 0.5}),
    ],
)
def test_texts_that_many_records_share_are_not_written(column):
    found = only(column)
    assert (found.role, found.offer) == ("withheld", "note")
    assert "daughter" not in text_of([column])
    assert any("list them in `values`" in reason for reason in found.why)


def test_categories_of_many_words_whose_name_says_what_they_are_stay():
    wordy = figures("education", values=[("High school or less than that", 500), ("Some college", 500)], words=4.2)
    assert "values" in only(wordy).keys


@pytest.mark.parametrize(
    "text", ["tel 044 123 45 67", "+41 44 123 45 67", "call 030/1234 56", "01 23 45 67 89", "(212) 555-0123"]
)
def test_telephone_numbers_of_other_countries_are_found_in_texts(text):
    assert re.search(PATTERNS["telephone or fax number"], text)


@pytest.mark.parametrize("text", ["2021-03-04 10:15", "12.5", "0.05", "10 20 30", "E11.9", "0000100"])
def test_other_figures_are_no_telephone_numbers(text):
    assert not re.search(PATTERNS["telephone or fax number"], text)


def test_views_are_proposed_and_pairs_to_link_are_offered():
    text = text_of([SEX, SBP, AGE, figures("dbp", kind="integer", distinct=90, low=40, high=120)])
    policy = parse_policy(text)
    assert policy.views is not None
    assert (policy.views.frame[0][0], policy.views.spanning) == ("age", (("age", "sex"),))
    assert policy.answers.min_group == policy.k == 10
    assert parse_policy(text.replace("# linked", "linked")).views.linked == (("sbp", "dbp"),)


@pytest.mark.parametrize(
    ("columns", "several_rows"),
    [
        ([AGE, SBP], True),
        ([AGE, SBP, figures("dx", matches={"icd9cm by ;": 1.0})], False),
        ([AGE, SBP, figures("diag", distinct=400, matches={"icd10cm": 1.0})], False),
        ([figures("zip", kind="integer", distinct=300, low=1001, high=99_950), SBP], False),
    ],
    ids=["several rows", "lists of codes", "diagnoses", "only a postcode"],
)
def test_what_views_do_not_have_is_published_as_classes(columns, several_rows):
    policy = parse_policy(text_of(columns, several_rows=several_rows))
    assert policy.views is None
    assert policy.anonymise.class_moments == ("none" if several_rows else "rounded")
    assert policy.column("sbp").bins == policy.column("sbp").guard == 5
    assert not policy.warnings


def test_a_postcode_is_left_out_of_views():
    text = text_of([AGE, figures("zip", kind="integer", distinct=300, low=1001, high=99_950)])
    assert parse_policy(text).column("zip").role == "withheld"


def test_identifiers_inside_texts_are_told():
    found = only(figures("note", distinct=900, words=12.0, contains={"telephone or fax number": 0.031}))
    assert (found.warning, found.offer) == ("free text", "note")
    assert "3.1% of the values contain a telephone or fax number." in found.why


def test_age_is_published_once():
    birth = figures("date_of_birth", kind="date", distinct=900, low=-9000, high=12_000)
    by_name = {p.name: p.role for p in propose([birth, AGE], 10)}
    assert by_name == {"date_of_birth": "withheld", "age": "quasi-identifier"}
    assert only(birth).role == "quasi-identifier"
    assert only(birth).keys["grid"] == '"year"'


def test_not_more_is_published_than_can_be_published_well():
    many = [figures(f"x{i}", values=[("a", 500), ("b", 300), ("c", 200)]) for i in range(20)]
    found = propose([*many, SEX], 10)
    assert [p.name for p in found if p.role == "quasi-identifier"] == ["sex"]  # its name says what it is
    assert len([p for p in found if p.role == "sensitive"]) == MOST_CATEGORIES
    assert found[15].offer == "sensitive"
    assert len([p for p in propose(many, 10) if p.role == "quasi-identifier"]) == MOST_QUASI  # one is needed


def test_what_researchers_ask_for_comes_first():
    """Not what comes first in the file: five names of demographic columns, and more measures than there is room for."""
    names = ("workclass", "marital_status", "education", "race", "sex")
    quasi = [figures(name, values=[("a", 600), ("b", 400)]) for name in names]
    pulse = [figures(f"lab{i}", kind="integer", distinct=90, low=40, high=130) for i in range(8)]
    found = propose([*quasi, *pulse, AGE, SBP], 10)
    published = {role: {p.name for p in found if p.role == role} for role in ("quasi-identifier", "sensitive")}
    assert published["quasi-identifier"] == {"age", "sex", "race"}
    assert "sbp" in published["sensitive"]
    assert len(published["sensitive"]) == MOST_NUMBERS


def test_several_rows_of_people_are_told_at_the_top_with_what_to_do():
    text = text_of([AGE, SEX, SBP], person=PersonProposal("mrn", 300), several_rows=True)
    top = " ".join(text[: text.index("dataset =")].replace("\n# ", " ").split())
    assert "1,000 of 300 people by mrn" in top
    assert "one row per person" in top
    assert (
        "one row per person" not in text_of([AGE, SEX, SBP], person=PersonProposal("mrn", ROWS)).partition("dataset")[0]
    )


def test_a_third_quasi_identifier_is_published_where_enough_records_are_left_for_each_combination():
    five = figures("race", values=[(letter, 200) for letter in "abcde"])
    two = figures("education", values=[("a", 600), ("b", 400)])
    found = {p.name: p for p in propose([AGE, SEX, five, two], 10)}
    assert [p.name for p in found.values() if p.role == "quasi-identifier"] == ["age", "sex", "education"]
    assert "about 8 records on average" in found["race"].why[-1]  # 1,000 by 12 bands of age, 2 sexes and 5
    assert found["race"].offer == "quasi-identifier"
    assert {p.name for p in propose([AGE, SEX, five], 4) if p.role == "quasi-identifier"} == {"age", "sex", "race"}


@pytest.mark.parametrize(("first", "kind"), [("0110", "category"), ("1100", "integer")])
def test_numbers_with_leading_zeros_are_codes(first, kind):
    """Of occupations 0110 and 1120 there is no mean."""
    values = [(first, 40), *((str(1120 + 300 * i), 40) for i in range(24))]
    [found] = propose([figures("occ", kind="integer", low=110, high=9329, values=values)], 10)
    assert found.type == kind


@pytest.mark.parametrize(
    ("columns", "person", "people"),
    [
        ([figures("visit_id", distinct=ROWS), figures("mrn", distinct=300)], "mrn", 300),
        ([figures("stay_id", distinct=ROWS), figures("encounter_id", distinct=400)], "stay_id", ROWS),
        ([figures("hh_id", distinct=400), figures("person", distinct=ROWS)], "person", ROWS),
        ([figures("mrn", distinct=300, missing=1)], "", ROWS),
        ([figures("last_name", distinct=700), SEX], "", ROWS),
        ([AGE, SEX], "", ROWS),
    ],
    ids=["named by people", "one in every row", "households", "not in every row", "names are shared", "none"],
)
def test_a_person_is_proposed(columns, person, people):
    found = propose_person(columns, propose(columns, 10))
    assert (found.column, found.people) == (person, people)
    zipped = figures("zip", kind="integer", distinct=300, low=1001, high=99_950)
    policy = parse_policy(text_of([zipped, *columns], person=found))
    assert policy.person == person


def test_the_file_is_a_policy():
    columns = [SEX, AGE, figures('a "b"\n', values=[("x", 500), ("y\x7f", 500)]), figures("note", words=12.0)]
    text = text_of(columns)
    policy = parse_policy(text)
    assert (policy.dataset, policy.k, policy.column("sex").values) == ("t", 10, ("F", "M"))
    assert policy.column('a "b"\n').values == ("x", "y\x7f")
    assert "Found: note is likely free text." in text
    offered = parse_policy(text.replace('role = "withheld"\n# role = "note"', 'role = "note"'))
    assert offered.column("note").note is not None


@pytest.mark.parametrize(
    ("source", "name"),
    [("/a/B C.csv.gz", "b_c"), ("2024.parquet", "dataset"), ("postgresql://u@h/db#public.visits", "visits"),
     ("duckdb:x.duckdb#T", "t")],
)  # fmt: skip
def test_the_dataset_is_named_after_its_source(source, name):
    assert dataset_name(source) == name


@pytest.mark.parametrize(
    ("low", "high"),
    [(72, 226), (0, 17), (-40.5, 3.25), (1e-9, 3e-9), (5, 5), (1e12, 1.5e12), (74, 90), (0, 12), (-9, -8), (0, 0)],
)
def test_domains_are_rounded_outward(low, high):
    ends = round_domain(low, high)
    assert ends[0] < low or ends[0] == low == 0
    assert ends[1] > high
    assert [float(f"{end:.3g}") for end in ends] == list(ends)  # few digits


def test_dates_end_with_years():
    keys = tomllib.loads("\n".join(f"{k} = {v}" for k, v in date_keys("date", 0, 12_000, yearly=True).items()))
    assert keys["domain"] == [datetime.date(1960, 1, 1), datetime.date(2010, 1, 1)]
    assert keys["cuts"][0] == datetime.date(1970, 1, 1)


def test_texts_are_quoted_as_toml_reads_them():
    odd = 'a"b\\c\td\x7fé\u2028'
    assert tomllib.loads(f"x = {toml_text(odd)}")["x"] == odd


def test_k_is_less_for_small_tables():
    assert [choose_k(rows) for rows in (10_000, 100, 10)] == [10, 5, 2]


# -- what a data manager would find silly ------------------------------------------------------------------------------


def test_amounts_of_many_values_are_no_codes_whatever_else_their_name_says():
    """`SexAge` is an age, although its name speaks of sex."""
    found = only(figures("SexAge", kind="integer", distinct=39, low=9, high=55))
    assert (found.role, found.type) == ("sensitive", "integer")
    assert only(figures("county_cd", kind="integer", distinct=90, low=1, high=999)).type == "category"


def test_codes_of_missing_answers_are_pointed_out_and_not_written():
    days = [(str(day), 120) for day in range(1, 8)]
    found = only(figures("PhysActiveDays", kind="integer", values=[*days, ("99", 2)], low=1, high=99))
    (said,) = [why for why in found.why if "codes for missing answers" in why]
    assert "99" in said  # as an example, whatever the code is
    for values in (days, [*days, ("77", 0), ("60", 1)], [("99", 500), ("98", 500)], [("77", 1000)]):
        low, high = int(values[0][0]), int(values[-1][0])
        plain = only(figures("PhysActiveDays", kind="integer", values=values, low=low, high=high))
        assert not [why for why in plain.why if "codes for missing answers" in why]


def test_titles_that_two_columns_would_share_name_the_column():
    kappa, again = (figures(name, kind="integer", distinct=120, low=76, high=226) for name in ("sbp", 'sbp "2"'))
    titles = [p.keys["title"] for p in propose([kappa, again], 10)]
    told = [tomllib.loads(f"t = {title}")["t"] for title in titles]
    assert told == ["Systolic blood pressure, mmHg (sbp)", 'Systolic blood pressure, mmHg (sbp "2")']
    assert "(" not in only(kappa).keys["title"]


def test_two_codes_are_not_said_to_measure_something():
    flag = only(figures("SP_CHF", kind="integer", values=[("1", 400), ("2", 600)], low=1, high=2))
    assert not [why for why in flag.why if "set type and domain" in why]
    grade = only(figures("x9", kind="integer", values=[("1", 400), ("2", 300), ("3", 300)], low=1, high=3))
    assert [why for why in grade.why if "set type and domain" in why]
