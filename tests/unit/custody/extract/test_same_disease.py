"""Same-disease files: parts of small instance risk against a register, counted anew on what leaves."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.core.json_body import to_json
from querygate.custody.columns.population import Population, read_register
from querygate.custody.extract import same_disease_extract as making
from querygate.custody.extract.same_disease_check import look_up
from querygate.custody.policy import load_policy
from querygate.custody.risk_report.extract_side import released_side
from querygate.custody.risk_report.sides import DiseaseScope, raw_sides
from querygate.custody.use_cases.extract_builder import make_extract
from querygate.custody.use_cases.risk_assessment import RiskOptions, assess_source
from querygate.methods.same_disease import Partition, instance_risk, partition, tightened
from querygate_adapters.sources.open_source import open_source
from tests.policies import IDENTIFIER, ILLNESS, SEX, ZIP, make_policy, quasi, sensitive

POLICY = make_policy(
    "registry",
    {
        "name": IDENTIFIER,
        "age": quasi("integer", (0, 110)),
        "sex": SEX,
        "zip": ZIP,
        "seen": quasi("date", ("2019-01-01", "2020-12-31"), grid=90),
        "stage": ILLNESS,
        "ldl": sensitive("number", (0, 400)),
    },
    release={"population": "people.parquet", "columns": ["age", "sex", "zip"]},
)
ZIPS = ["37203", "37204", "37212", "38104", "90210"]
LINKED = ["age", "sex", "zip"]
FIGURES = ("classes", "largest", "greatest_match", "average_match", "greatest_instance", "average_instance")


def people(size: int, seed: int, *, missing: float = 0.0) -> pa.Table:
    chance = np.random.default_rng(seed)

    def some(values: Any) -> pa.Array:
        return pa.array(values, mask=chance.random(size) < missing)

    return pa.table(
        {
            "age": some(chance.integers(20, 95, size)),
            "sex": some(chance.choice(["F", "M"], size)),
            "zip": some(chance.choice(ZIPS, size)),
        }
    )


def records(of: pa.Table, size: int, seed: int) -> pa.Table:
    """Some of the people, with what only their doctor knows."""
    chance = np.random.default_rng(seed)
    taken = of.take(pa.array(chance.choice(of.num_rows, size, replace=False)))
    more = {
        "name": [f"Patient {i}" for i in range(size)],
        "seen": pa.array(chance.integers(17_900, 18_600, size).astype(np.int32)).cast(pa.date32()),
        "stage": chance.choice(["I", "II", "III"], size),
        "ldl": chance.normal(120, 30, size).clip(1, 399).round(1),
    }
    return pa.table({**{name: taken[name] for name in taken.column_names}, **more})


def place(folder: Path, file: pa.Table, register: pa.Table, rules: Any = None, **release: Any) -> Path:
    folder.mkdir(exist_ok=True)
    pq.write_table(file, folder / "file.parquet")
    pq.write_table(register, folder / "people.parquet")
    (folder / "p.toml").write_text(POLICY.but(columns=rules or {}, release=release))
    return folder


def make(folder: Path, **wish: Any) -> dict[str, Any]:
    (folder / "out").mkdir()
    asked = {"dataset": "registry", "purpose": "to see", "kind": "same-disease", "columns": [*LINKED, "stage", "ldl"]}
    source = open_source(str(folder / "file.parquet"))
    made = ExtractSpec.of({**asked, **wish, "formats": ["parquet"]})
    return make_extract(load_policy(folder / "p.toml"), source, made, folder / "out", secret=b"s", base_dir=folder)


def left(folder: Path) -> pa.Table:
    return pq.read_table(folder / "out" / "extract.parquet")


def check_round_trip(folder: Path, body: dict[str, Any], where: Any = None) -> None:
    """The readers of a risk report, which know nothing of how the file was made, find the same risk in it."""
    policy, raw = load_policy(folder / "p.toml"), pq.read_table(folder / "file.parquet")
    register = read_register(policy, lambda name: open_source(name, folder))
    categories = [c for c in policy.named("quasi-identifier") if not c.is_numeric]
    texts = {c.name: sorted({*c.values, *raw[c.name].drop_null().to_pylist()}) for c in categories}
    side, unread = released_side(policy, left(folder), register, DiseaseScope(), texts=texts, rows=raw.num_rows)
    harbor = raw_sides(
        policy, raw if where is None else raw.filter(where), register, DiseaseScope(), time.gmtime().tm_year
    ).safe_harbor
    assert not unread
    own = body["risk"]["same_disease"]
    for mine, read in (("partition", side), ("safe_harbor", harbor)):
        assert read.people is not None
        told = instance_risk(read.linked_sizes, read.people).to_dict()
        assert {key: told[key] for key in own[mine]} == pytest.approx(own[mine], rel=1e-12)


def members(text: str) -> set[str]:
    """The ZIP codes that a text of the extract stands for."""
    if text == "*":
        return set(ZIPS)
    return {zip_code for part in text.split(" | ") for zip_code in ZIPS if zip_code.startswith(part)}


def matching(record: dict[str, Any], register: list[dict[str, Any]]) -> int:
    """People who match what is told of a record, one after the other."""
    sexes = {"F", "M"} if record["sex"] == "*" else set(record["sex"].split(" | "))
    return sum(
        person.get("people", 1)
        for person in register
        if record["age_low"] <= person["age"] <= record["age_high"]
        and person["sex"] in sexes
        and person["zip"] in members(record["zip"])
    )


def test_the_golden_file_through_maker_and_check(tmp_path: Path) -> None:
    """Classes of 3 of 3 and 3 of 6: R 0.75, Q 0.25."""
    register = pa.table({"age": [50] * 9, "sex": ["F"] * 3 + ["M"] * 6, "zip": ["37203"] * 9})
    body = make(place(tmp_path, records(register.slice(0, 6), 6, 1), register))
    found = body["risk"]["same_disease"]
    assert [found["partition"][key] for key in FIGURES] == [2, 3, 1 / 3, 0.25, 1.0, 0.75]
    assert found["floor"] == pytest.approx(6 / 9)
    table = pa.table({"sex": ["F"] * 3 + ["M"] * 3, "age_low": [50] * 6, "age_high": [50] * 6})
    policy = POLICY.parsed()
    kinds = Population({"age": np.array([50.0, 50]), "sex": np.array([0.0, 1])}, {"sex": ("F", "M")}, np.array([3, 6]))
    looked = look_up(table, [policy.column("age"), policy.column("sex")], kinds, {"sex": ["F", "M"]})
    assert (looked.risk.average_instance, looked.risk.average_match) == (0.75, 0.25)
    assert looked.matches.tolist() == [3, 3, 3, 6, 6, 6]


def test_a_file_keeps_its_promise_and_reads_back_the_same(tmp_path: Path) -> None:
    register = people(3000, 1)
    file = records(register, 150, 2)
    body = make(place(tmp_path, file, register, instance=0.9), models=["linear: ldl ~ age"])
    found, table = body["risk"]["same_disease"], left(tmp_path)
    ours, theirs = found["partition"], found["safe_harbor"]
    assert ours["classes"] >= theirs["classes"]
    assert found["floor"] == 0.05 <= ours["average_instance"] <= theirs["average_instance"]
    assert ours["greatest_instance"] <= min(theirs["greatest_instance"], found["bound"])
    assert [line["figure"] for line in body["guarantees"]][1:] == [
        ours["average_instance"],
        ours["greatest_instance"],
        ours["greatest_instance"],
    ]
    assert (body["kind"], body["k_asked"], body["records"]) == ("same-disease", None, 150)
    assert sorted(table["ldl"].to_pylist()) == sorted(file["ldl"].to_pylist())
    everybody = register.to_pylist()
    shares = [1 / matching(record, everybody) for record in table.to_pylist()]
    assert ours["average_match"] == pytest.approx(sum(shares) / 150)
    asked, source = (
        RiskOptions(released=tmp_path / "out", disease=DiseaseScope()),
        open_source(str(tmp_path / "file.parquet")),
    )
    report = to_json(assess_source(load_policy(tmp_path / "p.toml"), source, asked, beside=tmp_path))
    read = report["sides"]["after"]["instance"]
    assert {key: read[key] for key in ours} == pytest.approx(ours, rel=1e-12)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Being in the file, compared with Safe Harbor" in page
    assert "No way of publishing has less than 5.00 % on average" in page
    assert "Patient" not in page
    assert "class_people" not in (tmp_path / "out" / "report.json").read_text()


def test_the_order_of_records_tells_nothing(tmp_path: Path) -> None:
    register = people(2000, 1)
    file = records(register, 150, 2)
    file = file.set_column(file.schema.get_field_index("ldl"), "ldl", pa.array(np.arange(150) / 2))
    make(place(tmp_path, file, register))
    ages = [file["age"][int(2 * value)].as_py() for value in left(tmp_path)["ldl"].to_pylist()]
    pairs = [(one, two) for one, two in itertools.pairwise(ages) if one != two]
    assert 0.4 < sum(one < two for one, two in pairs) / len(pairs) < 0.6


def test_a_register_of_counts_is_one_of_people_written_out(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    kinds = people(400, 1).append_column("people", pa.array(chance.integers(0, 9, 400)))
    written_out = kinds.take(pa.array(np.repeat(np.arange(400), kinds["people"].to_numpy()))).drop(["people"])
    file = records(written_out, 100, 2)
    one = make(place(tmp_path / "counts", file, kinds, count="people"))
    other = make(place(tmp_path / "people", file, written_out))
    assert one["risk"]["same_disease"] == other["risk"]["same_disease"]
    assert left(tmp_path / "counts") == left(tmp_path / "people")
    everybody = kinds.to_pylist()
    shares = [1 / matching(record, everybody) for record in left(tmp_path / "counts").to_pylist()]
    assert one["risk"]["same_disease"]["partition"]["average_match"] == pytest.approx(np.mean(shares))
    check_round_trip(tmp_path / "counts", one)


def test_missing_values_match_as_in_a_risk_report(tmp_path: Path) -> None:
    register = people(3000, 1, missing=0.05)
    file = records(register, 200, 2)
    strange = pa.table({"age": [111, 150, 40], "sex": ["F", "M", "D"], "zip": ZIPS[:3]})  # no public age, or sex
    register = pa.concat_tables([register, strange])
    body = make(place(tmp_path, file, register))
    table, found = left(tmp_path), body["risk"]["same_disease"]
    gone = 3 + sum(any(value is None for value in person.values()) for person in register.to_pylist())
    assert found["population"]["left_out"] == gone
    assert found["population"]["people"] == 3003 - gone
    assert sum(table["age_may_be_missing"].to_pylist()) >= file["age"].null_count > 0
    assert table["age_low"].null_count == 0
    check_round_trip(tmp_path, body)


def test_a_column_without_any_value_tells_nothing(tmp_path: Path) -> None:
    register = people(1000, 1)
    file = records(register, 60, 2)
    for name, kind in (("age", pa.int64()), ("zip", pa.string())):
        file = file.set_column(file.schema.get_field_index(name), name, pa.nulls(60, kind))
    body = make(place(tmp_path, file, register))
    table = left(tmp_path)
    assert table["age_low"].null_count == table["zip"].null_count == 60
    assert body["risk"]["same_disease"]["population"]["people"] == 1000
    check_round_trip(tmp_path, body)


def test_no_range_ends_at_a_value_that_a_record_has_alone(tmp_path: Path) -> None:
    """Ages 97 and 13 and the sex X are in the file, and in no part of the register."""
    register = people(2000, 1)
    file = records(register, 98, 2)
    odd = file.slice(0, 2).set_column(0, "age", pa.array([97, 13])).set_column(1, "sex", pa.array(["X", "F"]))
    file = pa.concat_tables([file, odd])
    body = make(place(tmp_path, file, register))
    table = left(tmp_path)
    lows, highs = (table[f"age_{end}"].to_pylist() for end in ("low", "high"))
    assert (min(lows), max(highs)) == (0, 110)
    assert not {97, 13} & {*lows, *highs}
    assert any("X" in text and text != "X" for text in table["sex"].to_pylist()) or "*" in table["sex"].to_pylist()
    assert body["risk"]["same_disease"]["partition"]["unmatched"] == 0
    check_round_trip(tmp_path, body)


def test_nothing_finer_than_the_cells_of_the_policy_is_told(tmp_path: Path) -> None:
    days = np.random.default_rng(4).integers(-7300, 7300, 3000).astype(np.int32)
    register = people(3000, 1).append_column("born", pa.array(days).cast(pa.date32()))
    file, groups = records(register, 100, 2), [ZIPS[:3], ZIPS[3:4], ZIPS[4:]]
    edges = [f"{year}-{month}-01" for year in range(1950, 1990) for month in ("01", "07")]
    columns: dict[str, Any] = {
        "born": quasi("date", ("1950-01-01", "1989-12-31"), edges=edges),
        "zip": {"hierarchy": None, "groups": groups},
    }
    body = make(place(tmp_path, file, register, columns, columns=["born", "zip"]), columns=["born", "zip"])
    table = left(tmp_path)
    assert {str(day) for day in table["born_low"].to_pylist()} <= {*edges}
    assert {f"{day:%m-%d}" for day in table["born_high"].to_pylist()} <= {"06-30", "12-31"}
    told = {*table["zip"].to_pylist()}
    assert told & {" | ".join(ZIPS[:3]), "38104", "90210"}
    assert all(len(members(text) & {*group}) in (0, len(group)) for text in told for group in groups)
    check_round_trip(tmp_path, body)
    columns["born"]["edges"] = ["1970-01-01"]
    with pytest.raises(ExtractRefused, match="classes in the columns of the population") as caught:
        make(place(tmp_path / "coarse", file, register, columns, columns=["born", "zip"]), columns=["born", "zip"])
    assert "make the policy's cells of born, zip finer" in caught.value.remedy


def test_other_quasi_identifiers_leave_at_their_cells(tmp_path: Path) -> None:
    register = people(2000, 1)
    body = make(place(tmp_path, records(register, 80, 2), register), columns=[*LINKED, "seen", "stage"])
    found, table = body["risk"]["same_disease"], left(tmp_path)
    assert found["unknown"] == ["seen"]
    assert len({*table["seen_low"].to_pylist()}) <= 9
    assert body["classes"] > found["partition"]["classes"]
    assert "count as unknown to everybody" in " ".join(body["risk"]["words"])
    with pytest.raises(ExtractRefused, match="smallest class = 1, not at least 4 records that look alike"):
        make(place(tmp_path / "k", records(register, 80, 2), register), columns=[*LINKED, "seen"], k=4)


def test_k_records_and_a_selection_by_what_others_do_not_know(tmp_path: Path) -> None:
    register = people(4000, 1)
    file = records(register, 300, 2)
    body = make(place(tmp_path, file, register), k=4, where="stage = 'I'")
    found = body["risk"]["same_disease"]
    assert body["records"] == file["stage"].to_pylist().count("I")
    assert (body["k"] >= 4, body["k_asked"]) == (True, 4)
    assert body["guarantees"][-1]["promise"] == "at least 4 records that look alike"
    assert found["partition"]["average_instance"] <= found["safe_harbor"]["average_instance"]
    check_round_trip(tmp_path, body, pc.equal(file["stage"], "I"))


@pytest.mark.parametrize(
    ("release", "wish", "code", "words"),
    [
        ({}, {"method": "mondrian"}, "QG604", "method: cannot be set for a same-disease file"),
        ({}, {"suppress": 0.1}, "QG604", "suppress: cannot be set"),
        ({}, {"suppress_cells": 0.1}, "QG604", "suppress_cells: cannot be set"),
        ({}, {"tolerances": {"mean(age)": 5}}, "QG604", "tolerances: cannot be set"),
        ({}, {"where": "age > 40"}, "QG604", "a same-disease file cannot have a condition on age"),
        ({}, {"where": "stage = 'I' OR seen > DATE '2019-06-01'"}, "QG604", "cannot have a condition on seen"),
        ({}, {"columns": ["stage"]}, "QG604", "none of them is a quasi-identifier"),
        ({}, {"columns": ["seen"]}, "QG604", "none of them is in the population"),
        ({}, {"where": "ldl > 399"}, "QG605", "selects no records"),
        ({}, {"k": 101}, "QG605", "fewer than k = 101 records"),
        ({"instance": 0.05}, {}, "QG605", "0.1 of the population is in the file, above the maximum"),
        ({"instance": 0.101}, {}, "QG605", "r up to 0.1"),
        ({"population": "absent.csv"}, {}, "QG605", "The population of the policy cannot be read"),
        ({"count": "people"}, {}, "QG605", "has no column people"),
    ],
)
def test_what_is_refused(tmp_path: Path, release: dict[str, Any], wish: dict[str, Any], code: str, words: str) -> None:
    register = people(1000, 1)
    folder = place(tmp_path, records(register, 100, 2), register, **release)
    with pytest.raises(ExtractRefused) as caught:
        make(folder, **wish)
    assert (caught.value.code, words in caught.value.detail) == (code, True), caught.value.detail
    assert not [value for value in (*ZIPS, "Patient") if value in str(caught.value)]
    assert not list((folder / "out").iterdir())


@pytest.mark.parametrize("spelled", ["as it is", "otherwise"])
def test_a_register_that_the_file_is_no_part_of_is_refused(tmp_path: Path, spelled: str) -> None:
    everybody = people(300, 1)
    file = records(everybody, 100, 2)
    register = everybody.slice(0, 90)
    if spelled == "otherwise":
        register = everybody.set_column(1, "sex", pa.array(["women", "men"] * 150))
    with pytest.raises(ExtractRefused, match="people who could match, and the file has 100 records") as caught:
        make(place(tmp_path, file, register))
    assert "spelled as in the source" in caught.value.remedy


def test_a_policy_without_a_population_is_told_what_to_do(tmp_path: Path) -> None:
    folder = place(tmp_path, records(people(300, 1), 50, 2), people(300, 1))
    (folder / "p.toml").write_text(POLICY.but(release=None))
    with pytest.raises(ExtractRefused, match=r"no table \[release\], which sets the risk of a same-disease file"):
        make(folder)


def test_what_the_maker_says_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register = people(1000, 1)

    def with_changes(**changed: Any) -> Any:
        def make_wrong(*given: Any) -> Partition:
            made = tightened(*given)
            return replace(made, **{key: value(made) for key, value in changed.items()})

        return make_wrong

    for number, (changed, words) in enumerate(
        (
            ({"risk": lambda made: replace(made.risk, average_instance=0.0)}, "measured risks differ"),
            ({"part_of": lambda made: np.roll(made.part_of, 1)}, "wrong"),
            ({"parts": lambda made: (*made.parts[1:], made.parts[0])}, "wrong"),
        )
    ):
        monkeypatch.setattr(making, "tightened", with_changes(**changed))
        with pytest.raises(ExtractRefused, match=words):
            make(place(tmp_path / str(number), records(register, 60, 2), register))
        assert not list((tmp_path / str(number) / "out").iterdir())


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (None, "maximum instance risk r = 1, not at most 0.4"),
        (1, "classes in the columns of the population = 1, not"),
    ],
)
def test_a_maker_that_keeps_no_rules_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: int | None, words: str
) -> None:
    register = people(1000, 1)
    for name in ("tightened", "partition"):
        monkeypatch.setattr(making, name, lambda study, classes, rules: partition(study, parts))
    with pytest.raises(ExtractRefused, match=words):
        make(place(tmp_path, records(register, 60, 2), register, instance=0.4))
    assert not list((tmp_path / "out").iterdir())


def test_a_text_that_nobody_can_read_is_refused() -> None:
    column = POLICY.parsed().column("zip")
    kinds = Population({"zip": np.array([0.0, 1, np.nan])}, {"zip": ("37203", "38104")}, np.array([2, 5, 7]))

    def people_of(text: str | None) -> int:
        return int(look_up(pa.table({"zip": [text]}), [column], kinds, {"zip": ZIPS}).matches[0])

    assert [people_of(text) for text in ("37203", "372", "37203 | 38104", "*", None)] == [2, 2, 7, 7, 14]
    with pytest.raises(ExtractRefused, match="of zip that cannot be read back"):
        people_of("55555")
