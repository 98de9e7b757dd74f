"""Texts that stand for no value: read from a policy, drafted, published as missing."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import AgeAt, ReadAs
from querygate.custody.policy import parse_policy
from querygate.custody.policy.policy_json import read_policy, write_policy
from querygate.custody.use_cases.policy_draft import draft_from
from querygate.custody.use_cases.scratch_vault import scratch_rows
from querygate_adapters.sources.amended_source import amended, with_values
from querygate_adapters.sources.open_source import open_source
from tests.policies import SEX, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import ask, new_site, put


def written(path: Path, names: list[str], rows: list[list[str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])
    return path


def test_texts_are_no_values_in_their_column_alone(tmp_path):
    path = written(tmp_path / "t.csv", ["a", "b"], [["NA", "NA"], [" ? ", "1"], ["O'NA", "?"], ["", "2"]])
    source = with_values(open_source(str(path)), ReadAs({"a": ("NA", "?"), "none of it": ("x",)}))
    assert source.columns() == ("a", "b")
    assert source.batches(["b", "a"]).read_all().to_pydict() == {
        "b": ["NA", "1", "?", "2"],
        "a": [None, None, "O'NA", None],
    }
    same = open_source(str(path))
    assert with_values(same, ReadAs({"c": ("NA",)})) is same


def test_numbers_are_compared_as_they_are_written(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"whole": [99, 7, None], "real": [99.0, 99.5, 9.0]}), path)
    source = with_values(open_source(str(path)), ReadAs({"whole": ("99",), "real": ("99",)}))
    assert source.batches(["whole", "real"]).read_all().to_pydict() == {
        "whole": [None, 7, None],
        "real": [None, 99.5, 9.0],
    }


def test_spellings_are_one_value_and_limits_are_numbers(tmp_path):
    rows = [["m", "<0,5"], ["M ", " > 100"], ["m ", "1,5"], ["w", "≤ 0.1"], ["MM", "90+"], ["O'M", "<1,000"], ["", "-"]]
    source = open_source(str(written(tmp_path / "t.csv", ["sex", "crp"], rows)))
    read = ReadAs(spelled={"sex": {"m": ("M ", "m "), "o": ("O'M",)}}, censored={"crp": "limit"})
    assert amended(source, read).batches(["crp", "sex"]).read_all().to_pydict() == {
        "sex": ["m", "m", "m", "w", "MM", "o", None],
        "crp": ["0,5", "100", "1,5", "0.1", "90", "1,000", "-"],
    }
    without = amended(source, ReadAs({"crp": ("-",)}, censored={"crp": "missing"})).batches(["crp"]).read_all()
    assert without.to_pydict() == {"crp": [None, None, "1,5", None, None, None, None]}


@pytest.mark.parametrize(
    ("key", "kind", "wrong"),
    [
        *(("spelled", "category", one) for one in ("{}", '"m"', '{ m = "M" }', '{ m = ["M"], w = ["M"] }')),
        *(("spelled", "category", one) for one in ("{ m = [] }", '{ m = ["w"], w = ["W"] }', "{ m = [1] }")),
        ("spelled", "integer", '{ m = ["M"] }'),
        ("censored", "number", '"half"'),
        ("censored", "category", '"limit"'),
    ],
)
def test_only_what_can_be_read_is_accepted(key, kind, wrong):
    domain = "" if kind == "category" else "domain = [0, 9]\n"
    head = 'dataset = "d"\nk = 2\n[columns.x]\nrole = "quasi-identifier"\n'
    with pytest.raises(ConfigError, match=rf"columns\.x\.{key}"):
        parse_policy(f'{head}type = "{kind}"\n{domain}{key} = {wrong}\n')


def test_how_values_are_read_is_part_of_what_the_policy_means():
    plain = make_policy("d", {"sex": SEX, "crp": sensitive("number", (0.0, 9.0), guard=0)}, k=2)
    crp = plain.tables["columns"]["crp"]
    others = (
        plain.but(columns={"sex": SEX | {"spelled": {"F": ["f"]}}}),
        *(plain.but(columns={"crp": crp | {"censored": how}}) for how in ("limit", "missing")),
    )
    assert len({one.parsed().hash for one in (plain, *others)}) == 4
    assert all(read_policy(write_policy(one.parsed())) == one.parsed() for one in others)


def test_a_register_with_spellings_and_limits_is_published_as_it_is_meant(tmp_path):
    """Three spellings of a sex, laboratory values below and above limits, and texts for what was not measured."""
    rng = random.Random(7)
    texts = ["<0,5", ">90", "n.d.", "k.A."]
    rows = [
        [
            rng.choice(["m", "M", "m ", "w", "w", "w"]),
            str(rng.randint(20, 89)),
            rng.choice([*texts, *["12,5", "3,2"] * 4]),
        ]
        for _ in range(300)
    ]
    for number, row in enumerate(rows):
        if row[2] == "3,2":
            row[2] = f"{number % 60},{number % 10}"
    path = written(tmp_path / "register.csv", ["Geschlecht", "Alter", "CRP mg/l"], rows)
    drafted = draft_from(str(path))
    policy = parse_policy(drafted.text)
    crp = policy.column("CRP mg/l")
    assert (crp.type, crp.censored, crp.absent) == ("number", "limit", ("k.A.", "n.d."))
    assert dict(policy.column("Geschlecht").spelled) in ({"M": ("m", "m ")}, {"m": ("M", "m ")})
    opened = new_site(tmp_path)
    assert not put(opened, drafted.text, path).warnings
    true = {"<0,5": 0.5, ">90": 90.0}
    numbers = [true.get(one[2]) or float(one[2].replace(",", ".")) for one in rows if one[2] not in texts[2:]]
    crp = '"CRP mg/l"'
    sql = f"SELECT COUNT(*) FILTER (WHERE {crp} <= 0.5) AS low, SUM({crp}) AS s, COUNT({crp}) AS n FROM register"
    (row,) = ask(opened, sql, "register")
    for name, truth in (("low", sum(x <= 0.5 for x in numbers)), ("s", sum(numbers)), ("n", len(numbers))):
        assert row[name]["low"] <= truth <= row[name]["high"], name


def test_numbers_that_stand_for_words_are_respelled_too(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"sex": [1, 2, None]}), path)
    source = amended(open_source(str(path)), ReadAs(spelled={"sex": {"m": ("1",), "w": ("2",)}}))
    assert source.batches(["sex"]).read_all().to_pydict() == {"sex": ["m", "w", None]}


def test_a_birth_that_is_not_known_gives_no_age(tmp_path):
    path = written(tmp_path / "t.csv", ["born"], [["NA"], ["1980-05-17"]])
    read = ReadAs({"born": ("NA",)}, (AgeAt("age", "born", day="2020-05-17"),))
    assert amended(open_source(str(path)), read).batches(["age"]).read_all().to_pydict() == {"age": [None, "40"]}


@pytest.mark.parametrize("wrong", ['"NA"', "[]", "[99]", '[" "]'])
def test_only_texts_are_accepted(wrong):
    text = f'dataset = "d"\nk = 2\n[columns.sex]\nrole = "quasi-identifier"\ntype = "category"\nabsent = {wrong}\n'
    with pytest.raises(ConfigError, match=r"columns\.sex\.absent"):
        parse_policy(text)


def test_what_is_absent_is_part_of_what_the_policy_means():
    plain = make_policy("d", {"sex": SEX}, k=2)
    blank, other = (plain.but(columns={"sex": SEX | {"absent": texts}}) for texts in (["NA", "?"], ["?"]))
    assert len({one.parsed().hash for one in (plain, blank, other)}) == 3


def test_a_table_written_by_r_is_drafted_and_published_untouched(tmp_path):
    rng = random.Random(5)
    names = ["id", "agea", "yrbrn", "sexe", "revenu", "fumeur"]
    rows = []
    for number in range(400):
        age = rng.randint(18, 89)
        told, income = (
            "999" if number % 90 == 1 else str(age),
            "NA" if number % 10 == 2 else str(rng.randint(900, 3000)),
        )
        person = [f"p{number}", told, str(2020 - age), rng.choice(["Homme", "Femme"])]
        rows.append([*person, income, rng.choice(["oui", "non", "NA"])])
    path = written(tmp_path / "enquete.csv", names, rows)
    drafted = draft_from(str(path))
    policy = parse_policy(drafted.text)
    assert {name: policy.column(name).absent for name in ("agea", "revenu", "fumeur", "sexe")} == {
        "agea": ("999",),
        "revenu": ("NA",),
        "fumeur": ("NA",),
        "sexe": (),
    }
    roles = {column.name: column.role for column in policy.columns}
    assert (roles["agea"], roles["sexe"], roles["revenu"]) == ("quasi-identifier", "quasi-identifier", "sensitive")
    assert roles["yrbrn"] == "withheld"
    opened = new_site(tmp_path)
    assert not put(opened, drafted.text, path).warnings
    (row,) = ask(opened, "SELECT COUNT(revenu) AS n FROM enquete", "enquete")
    assert row["n"]["low"] <= sum(one[4] != "NA" for one in rows) <= row["n"]["high"]


@pytest.mark.parametrize(
    ("name", "domain", "values", "codes"),
    [
        ("NIHSS", [0, 42], range(31), {"99": 1}),
        ("NIHSS", [0, 42], range(31), {"99": 40, "-9": 3, "NA": 2}),
        ("mRS", [0, 6], range(7), {"9": 12}),
        ("Blutdruck systolisch", [40, 300], range(85, 235), {"999": 7}),
        ("BMI", [5.0, 100.0], [f"{17 + n / 7:.2f}" for n in range(150)], {"999": 4, "-1": 2}),
    ],
)
def test_codes_beyond_its_range_do_not_hide_a_measure(tmp_path, name, domain, values, codes):
    texts = [text for text, n in codes.items() for _ in range(n)]
    shown = [*texts, *([str(value) for value in values] * 80)][:400]
    rows = [[f"p{n}", str(20 + n * 7 % 60), "mw"[n % 2], shown[n]] for n in range(400)]
    drafted = draft_from(str(written(tmp_path / "register.csv", ["id", "age", "sex", name], rows)))
    column = parse_policy(drafted.text).column(name)
    assert (column.role, [column.low, column.high], set(column.absent)) == ("sensitive", domain, set(codes))
    assert f"read as missing in {sum(codes.values())} record" in drafted.text


@pytest.mark.parametrize(
    ("name", "odd"),
    [("NIHSS", ["60"]), ("NIHSS", ["99", "60"]), ("NIHSS", ["77", "88", "99", "777", "888", "999"]), ("x", ["99"])],
)
def test_a_number_beyond_a_range_that_is_no_code_is_kept(tmp_path, name, odd):
    rows = [[f"p{n}", str(20 + n * 7 % 60), "mw"[n % 2], str(n % 31)] for n in range(300)]
    for row, text in zip(rows, odd, strict=False):
        row[3] = text
    drafted = draft_from(str(written(tmp_path / "register.csv", ["id", "age", "sex", name], rows)))
    assert parse_policy(drafted.text).column(name).absent == ()


def test_a_joined_column_can_have_them_too(tmp_path):
    written(tmp_path / "beside.csv", ["key", "region"], [[str(n), "NA" if n < 3 else "north"] for n in range(20)])
    path = written(tmp_path / "t.csv", ["key", "age"], [[str(n), str(30 + n % 5)] for n in range(20)])
    region = quasi("category", values=["north"]) | {"absent": ["NA"]}
    joined = {"beside": {"source": "beside.csv", "on": {"key": "key"}, "columns": ["region"]}}
    policy = make_policy("d", {"age": quasi("integer", (0, 99), grid=1), "region": region}, k=2, join=joined)
    with scratch_rows(policy.parsed(tmp_path), open_source(str(path)), tmp_path) as rows:
        assert rows.by_group("d", "SELECT COUNT(region) FROM d") == {(): 17}
