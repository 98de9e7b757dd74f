"""Proposals from figures: what is published, in which role, and that no value of a person is written."""

from __future__ import annotations

import datetime
import re
import tomllib

import pytest

from querygate.core.column_figures import ColumnFigures
from querygate.custody.policy import parse_policy
from querygate.custody.policy.identifier_signs import PATTERNS
from querygate.custody.policy.proposal import MOST_QUASI, choose_k, propose
from querygate.custody.policy.proposal_domains import date_keys, rounded_outward, toml_text
from querygate.custody.policy.proposal_file import dataset_name, write_policy
from querygate.custody.policy.proposal_person import PersonProposal, propose_person

ROWS = 1000


def figures(name, *, kind="", distinct=500, low=None, high=None, values=(), missing=0, **more):
    known = ROWS - missing
    also = {"integer": ("integer", "number"), "date": ("date", "timestamp"), "": ()}.get(kind, (kind,))
    more.setdefault("largest", max((n for _, n in values), default=known // max(1, distinct)))
    return ColumnFigures(
        name, ROWS, missing, len(values) or distinct, dict.fromkeys(also, known), low, high, tuple(values), **more
    )


def only(column, k=10):
    (proposal,) = propose([column], k)
    return proposal


SEX = figures("sex", values=[("F", 480), ("M", 520)])
AGE = figures("age", kind="integer", distinct=90, low=1, high=97)


def test_age_is_cut_at_decades():
    found = only(AGE)
    assert (found.role, found.type, found.keys["domain"]) == ("quasi-identifier", "integer", "[0, 120]")
    assert found.keys["cuts"].startswith("[10, 20")


def test_a_measured_number_has_a_domain_that_is_nobodys():
    found = only(figures("x17", kind="integer", distinct=180, low=3, high=971))
    domain = tomllib.loads(f"d = {found.keys['domain']}")["d"]
    assert found.role == "sensitive"
    assert domain == [0, 1050]


def test_a_known_quantity_has_its_usual_domain_where_the_data_fits():
    assert only(figures("BPSysAve", kind="integer", distinct=120, low=76, high=226)).keys["domain"] == "[40, 300]"
    assert only(figures("sbp", kind="integer", distinct=120, low=76, high=999)).keys["domain"] != "[40, 300]"


def test_values_of_few_records_are_not_written():
    rare = only(figures("education", values=[("High School", 600), ("College", 397), ("Trapeze Academy", 3)]))
    assert "values" not in rare.keys
    assert rare.keys["rare"] == '"other"'
    assert not any("Trapeze" in reason for reason in rare.why)
    assert "1 of its values have fewer than 10 records" in " ".join(rare.why)
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
        (figures("seen", kind="integer", distinct=300, low=2e7, high=2.1e7, matches={"compact date": 1.0}), "withheld"),
        (figures("glucose", kind="number", distinct=300, low=2.0, high=30.5, missing=900), "withheld"),
        (figures("cost", kind="number", distinct=300, low=0.0, high=3e4, largest=950), "withheld"),
        (figures("survey weight", kind="number", distinct=ROWS, low=3e3, high=1.5e5), "sensitive"),
        (figures("diabetes", kind="boolean", values=[("No", 800), ("Yes", 200)]), "sensitive"),
        (figures("hypertension", kind="boolean", values=[("no", 700), ("yes", 300)]), "sensitive"),
        (figures("mgus", values=[("absent", 700), ("present", 300)]), "sensitive"),
        (figures("mi", kind="boolean", values=[("no", 970), ("yes", 30)]), "withheld"),
        (figures("hiv", kind="boolean", values=[("no", 970), ("yes", 30)]), "sensitive"),
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
    policy = parse_policy(
        write_policy(
            "t", ROWS, propose([AGE, figures("dx", matches={"icd9cm by |": 1.0})], 10), 10, PersonProposal("", ROWS)
        )
    )
    assert policy.column("dx").codes.separator == "|"


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
    assert "daughter" not in write_policy("t", ROWS, (found,), 10, PersonProposal("", ROWS))
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


def test_the_file_says_how_to_publish_views_and_is_a_policy_with_them():
    columns = propose([SEX, AGE, figures("sbp", kind="integer", distinct=120, low=76, high=226)], 10)
    text = write_policy("t", ROWS, columns, 10, PersonProposal("", ROWS))
    assert parse_policy(text).views is None
    assert parse_policy(text.replace("# [views]", "[views]").replace("# mode", "mode")).views is not None
    assert "two sensitive columns at once" in text.replace("\n# ", " ")


def test_identifiers_inside_texts_are_told():
    found = only(figures("note", distinct=900, words=12.0, contains={"telephone or fax number": 0.031}))
    assert (found.warning, found.offer) == ("free text", "note")
    assert "3.1% of the values contain a telephone or fax number." in found.why


def test_age_is_published_once():
    birth = figures("date_of_birth", kind="date", distinct=900, low=-9000, high=12_000)
    by_name = {p.name: p.role for p in propose([birth, AGE], 10)}
    assert by_name == {"date_of_birth": "withheld", "age": "quasi-identifier"}
    assert only(birth).role == "quasi-identifier"
    assert only(birth).keys["grid"] == "365"


def test_not_more_is_published_than_can_be_published_well():
    many = [figures(f"x{i}", values=[("a", 500), ("b", 300), ("c", 200)]) for i in range(20)]
    found = propose([*many, SEX], 10)
    published = [p.name for p in found if p.role == "quasi-identifier"]
    assert len(published) == MOST_QUASI
    assert "sex" in published  # its name says what it is
    assert found[15].offer == "quasi-identifier"


@pytest.mark.parametrize(
    ("columns", "person", "people"),
    [
        ([figures("visit_id", distinct=ROWS), figures("mrn", distinct=300)], "mrn", 300),
        ([figures("stay_id", distinct=ROWS), figures("encounter_id", distinct=400)], "stay_id", ROWS),
        ([figures("mrn", distinct=300, missing=1)], "", ROWS),
        ([figures("last_name", distinct=700), SEX], "", ROWS),
        ([AGE, SEX], "", ROWS),
    ],
    ids=["named by people", "one in every row", "not in every row", "names are shared", "none"],
)
def test_a_person_is_proposed(columns, person, people):
    found = propose_person(columns, propose(columns, 10))
    assert (found.column, found.people) == (person, people)
    zipped = figures("zip", kind="integer", distinct=300, low=1001, high=99_950)
    policy = parse_policy(write_policy("t", ROWS, propose([zipped, *columns], 10), 10, found))
    assert policy.person == person


def test_the_file_is_a_policy():
    columns = [SEX, AGE, figures('a "b"\n', values=[("x", 500), ("y\x7f", 500)]), figures("note", words=12.0)]
    text = write_policy("study", ROWS, propose(columns, 10), 10, PersonProposal("", ROWS))
    policy = parse_policy(text)
    assert (policy.dataset, policy.k, policy.column("sex").values) == ("study", 10, ("F", "M"))
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


@pytest.mark.parametrize(("low", "high"), [(72, 226), (0, 17), (-40.5, 3.25), (1e-9, 3e-9), (5, 5), (1e12, 1.5e12)])
def test_domains_are_rounded_outward(low, high):
    ends = rounded_outward(low, high)
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
