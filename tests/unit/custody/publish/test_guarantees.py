"""Every guarantee of a policy, from the file to the measured version: kept, reported, and caught where it is broken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from querygate.cli.dataset import explain_report
from querygate.core.errors import ConfigError
from querygate.custody.policy import load_policy, parse_policy
from querygate.custody.publish import partition
from querygate.custody.publish.publish import Report
from querygate.custody.use_cases.publish_version import publish_to
from querygate.methods.anonymise import mondrian, partition_check
from querygate.site.open_gate import OpenSite
from tests.engine import reading
from tests.policies import AGE, ILLNESS, SBP, SEX, WITHHELD, ZIP, Column, PolicyText, diverse, make_policy, sensitive
from tests.unit.custody.publish.publications import ends, new_site, put, write_parquet

K = 4
TOP = make_policy("t", {"age": AGE, "sex": SEX}, k=K)
PRESSURE = SBP | {"bins": 10, "guard": 0}
IN_REGISTER = {"population": "register.csv", "k": 30}
MAPPED = TOP.but(k_map=IN_REGISTER)
ILL = ("flu", "gout", "HIV", "cancer")


def people(rows: int = 400, seed: int = 5) -> dict[str, list[Any]]:
    """Older people have higher pressure and other diseases, so that classes made by age alone are uneven."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, rows)
    sbp = (90 + age + rng.normal(0, 8, rows)).astype(int)
    disease = [ILL[min(3, int(a - 20 + rng.integers(-25, 25)) // 20)] if a else "" for a in age]
    wish = rng.choice(["none", "none", "HIV", "infection", "cancer|HIV", ""], rows)
    return {
        "age": age.tolist(),
        "sex": rng.choice(["F", "M"], rows).tolist(),
        "sbp": [None if rng.random() < 0.04 else int(v) for v in sbp],
        "disease": [None if rng.random() < 0.04 else d for d in disease],
        "drug": rng.choice(["A", "B", "C"], rows, p=[0.8, 0.15, 0.05]).tolist(),
        "wish": [w or None for w in wish.tolist()],
    }


PEOPLE = people()


def disease(kind: str, **more: Any) -> dict[str, Column]:
    return {"disease": ILLNESS | diverse(kind, **more)}


def pressure(kind: str, **more: Any) -> dict[str, Column]:
    return {"sbp": PRESSURE | diverse(kind, **more)}


GUARANTEES: dict[str, tuple[dict[str, Column], dict[str, tuple[float, float]]]] = {
    "distinct": (disease("distinct", l=3), {"distinct values of disease": (3, 5)}),
    "entropy": (disease("entropy", l=2.5), {"entropy l of disease": (2.5, 5)}),
    "recursive": (disease("recursive", c=1.5, l=2), {"recursive c of disease, l = 2": (0, 1.5)}),
    "alpha": (disease("alpha", alpha=0.6), {"largest share of disease": (0.2, 0.6)}),
    "alpha by value": (
        disease("alpha", alpha=0.7, alphas={"HIV": 0.4, "cancer": 0.5}),
        {
            "largest share of disease": (0.2, 0.7),
            "largest share of disease = HIV": (0.1, 0.4),
            "largest share of disease = cancer": (0.1, 0.5),
        },
    ),
    "range of names": (
        {"disease": ILLNESS | {"values": list(ILL)} | diverse("range", share=0.75)},
        {"narrowest range of disease, of the domain": (0.75, 1)},
    ),
    "range of an order": (
        {"disease": ILLNESS | {"values": list(ILL), "ordered": True} | diverse("range", share=0.6)},
        {"narrowest range of disease, of the domain": (0.6, 1)},
    ),
    "range of numbers": (pressure("range", share=0.12), {"narrowest range of sbp, of the domain": (0.12, 1)}),
    "t-closeness": (disease("t-closeness", t=0.3), {"equal t of disease": (0, 0.3)}),
    "distinct bins": (pressure("distinct", l=4), {"distinct values of sbp": (4, 20)}),
    "equal t of a number": (pressure("t-closeness", t=0.5, distance="equal"), {"equal t of sbp": (0, 0.5)}),
    "ordered t": (pressure("t-closeness", t=0.15), {"ordered t of sbp": (0, 0.15)}),
    "ordered t of a hull": (
        {"sbp": SBP | {"carry": "hull", "guard": 0} | diverse("t-closeness", t=0.2)},
        {"ordered t of sbp": (0, 0.2)},
    ),
    "(k,e)": (
        pressure("ke", e=25, distinct=4),
        {"narrowest range of sbp": (25, 260), "distinct numbers of sbp": (4, 400)},
    ),
    "(epsilon,m)": (pressure("em", epsilon=6, m=2), {"share within 6 of sbp": (0, 0.5)}),
    "p-sensitive": (
        disease("p-sensitive", p=2) | {"drug": sensitive("category") | diverse("p-sensitive", p=2)},
        {"distinct values of disease": (2, 5), "distinct values of drug": (2, 3)},
    ),
    "personalised": (
        disease("personalised", by="wish", share=0.7, groups={"infection": ["flu", "HIV"]}) | {"wish": WITHHELD},
        {"share that wish guards": (0, 0.7)},
    ),
    "(c,k)-safety": (
        disease("ck", share=0.8, pieces=1),
        {"surest belief in disease, 1 pieces known": (0.3, 0.8)},
    ),
    "growth": (disease("growth", share=0.3), {"growth of belief in disease": (0, 0.3)}),
    "mined": (disease("mined", l=3), {"plausible values of disease": (3, 5)}),
    "several at once": (
        {
            "disease": ILLNESS | {"diversity": [{"kind": "entropy", "l": 2}, {"kind": "t-closeness", "t": 0.4}]},
            "sbp": PRESSURE | {"diversity": [{"kind": "ke", "e": 20}, {"kind": "em", "epsilon": 3, "m": 2}]},
        },
        {
            "entropy l of disease": (2, 5),
            "equal t of disease": (0, 0.4),
            "narrowest range of sbp": (20, 260),
            "share within 3 of sbp": (0, 0.5),
        },
    ),
}


def of(kind: str) -> PolicyText:
    return TOP.but(columns=GUARANTEES[kind][0])


def blind_to_guards(table, k, guards=(), *, progress=None):
    """An anonymiser that keeps k and nothing else."""
    return mondrian(table, k)


@pytest.fixture(scope="module", params=GUARANTEES)
def published(request, tmp_path_factory) -> tuple[str, OpenSite, Report]:
    opened = new_site(tmp_path_factory.mktemp("guarantees"))
    return request.param, opened, put(opened, of(request.param), PEOPLE)


def test_it_is_kept_and_reported(published) -> None:
    kind, opened, report = published
    wanted = GUARANTEES[kind][1]

    assert set(report.measured.kept) == set(wanted)
    for measure, (least, most) in wanted.items():
        assert least <= report.measured.kept[measure] <= most + 1e-8
        assert measure in explain_report(report)
    assert report.measured.k >= K
    assert report.classes > 1
    assert ends(opened, "COUNT(*)") == (400, 400)


def test_an_anonymiser_that_ignores_it_is_stopped(published) -> None:
    kind, opened, _ = published
    with pytest.raises(ConfigError) as stopped:
        put(opened, of(kind), PEOPLE, anonymiser=blind_to_guards)

    assert stopped.value.code == "QG803"
    assert "The verifier found" in stopped.value.detail
    assert opened.store.versions("t") == (1,)


def test_a_blind_search_keeps_it_too(published, tmp_path: Path) -> None:
    kind, _, guarded = published
    blind = put(new_site(tmp_path), of(kind).but(anonymise={"search": "blind"}), PEOPLE)

    assert set(blind.measured.kept) == set(guarded.measured.kept)
    assert blind.classes <= guarded.classes


# -- measured once more, from the vault ------------------------------------------------------------------------------


def raw_by_class(opened: OpenSite, *columns: str) -> list[tuple[Any, ...]]:
    """What only the vault knows: the class and the raw values of everybody."""
    with reading(opened.site.vault / "t" / "v00001.duckdb") as vault:
        return vault.execute(f"SELECT class, {', '.join(columns)} FROM rows JOIN row_class USING (row_id)").fetchall()


def by_class(rows: list[tuple[Any, ...]]) -> Mapping[int, list[tuple[Any, ...]]]:
    return {label: [row[1:] for row in rows if row[0] == label] for label in {row[0] for row in rows}}


def test_raw_numbers_spread_in_every_class(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, of("(k,e)"), PEOPLE)
    for members in by_class(raw_by_class(opened, "sbp")).values():
        known = [value for (value,) in members if value is not None]
        assert max(known) - min(known) >= 25
        assert len(set(known)) >= 4


def test_nobody_is_in_a_crowd(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, of("(epsilon,m)"), PEOPLE)
    for members in by_class(raw_by_class(opened, "sbp")).values():
        values = [value for (value,) in members]
        for value in values:
            near = [v for v in values if (v is None) == (value is None) and (v is None or abs(v - value) <= 6)]
            assert len(near) * 2 <= len(values)


def test_everybody_is_guarded_as_wished(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, of("personalised"), PEOPLE)
    sets = {"none": set(), "HIV": {"HIV"}, "infection": {"flu", "HIV"}, "cancer|HIV": {"cancer", "HIV"}}
    wishes = set()
    for members in by_class(raw_by_class(opened, "disease", "wish")).values():
        for disease, wish in members:
            guarded = {disease} if wish is None else sets[wish]
            wishes.add(wish)
            assert sum(other in guarded for other, _ in members) <= 0.7 * len(members)
    assert wishes == {None, *sets}


def test_the_wishes_stay_in_the_vault(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, of("personalised"), PEOPLE)
    store = opened.site.store / "t" / "v00001.duckdb"

    assert [column.name for column in opened.store.current("t").catalog.columns] == ["age", "sex", "disease"]
    assert b"infection" not in store.read_bytes()


def test_a_wish_that_means_nothing_is_refused(tmp_path: Path) -> None:
    odd = {**PEOPLE, "wish": ["measles", *PEOPLE["wish"][1:]]}
    with pytest.raises(ConfigError, match="1 wish names a value that disease does not have") as refused:
        put(new_site(tmp_path), of("personalised"), odd)

    assert refused.value.code == "QG802"
    assert "measles" not in str(refused.value)


# -- hierarchies of sensitive columns ------------------------------------------------------------------------------

TREE = "flu;lung;*\nHIV;blood;*\ncancer;blood;*\ngout;joints;*\n"
TREE_OF_ILLNESS = ILLNESS | {"hierarchy": "diseases.csv"}


def publish_beside(folder: Path, policy: str, columns: dict[str, list[Any]]) -> tuple[OpenSite, Report]:
    """With files beside the policy: a hierarchy of diseases."""
    (folder / "diseases.csv").write_text(TREE, encoding="utf-8")
    (folder / "policy.toml").write_text(policy, encoding="utf-8")
    opened = new_site(folder)
    source = write_parquet(folder / "people.parquet", columns)
    read = load_policy(folder / "policy.toml")
    return opened, publish_to(opened, read, str(source), user="tester", base_dir=folder)


def test_closeness_along_a_hierarchy(tmp_path: Path) -> None:
    column = TREE_OF_ILLNESS | diverse("t-closeness", t=0.2, distance="hierarchy")
    opened, report = publish_beside(tmp_path, TOP.but(columns={"disease": column}), PEOPLE)
    branch = {"flu": "lung", "HIV": "blood", "cancer": "blood", "gout": "joints", None: None}
    groups = by_class(raw_by_class(opened, "disease"))
    everybody = [disease for members in groups.values() for (disease,) in members]

    def distance(members: list[Any]) -> float:
        """Half a step for what leaves a disease, half a step for what leaves its branch."""
        return sum(
            abs([name(m) for m in members].count(node) / len(members) - [name(m) for m in everybody].count(node) / 400)
            / 4
            for name in (lambda d: d, branch.get)
            for node in {name(d) for d in everybody}
        )

    worst = max(distance([disease for (disease,) in members]) for members in groups.values())
    assert report.measured.kept == {"hierarchy t of disease": pytest.approx(worst)}
    assert worst <= 0.2
    assert len(groups) > 1


def test_a_range_along_a_hierarchy(tmp_path: Path) -> None:
    """Diseases of one branch of three span half of the tree at most; a class of one branch alone is too narrow."""
    opened, report = publish_beside(
        tmp_path, TOP.but(columns={"disease": TREE_OF_ILLNESS | diverse("range", share=0.6)}), PEOPLE
    )
    assert report.measured.kept == {"narrowest range of disease, of the domain": 1.0}
    branches = {"flu": "lung", "HIV": "blood", "cancer": "blood", "gout": "joints"}
    groups = by_class(raw_by_class(opened, "disease")).values()
    assert len(groups) > 1
    for members in groups:
        assert len({branches[disease] for (disease,) in members if disease is not None}) > 1


def test_people_guard_nodes_of_a_hierarchy(tmp_path: Path) -> None:
    wishes = ["blood" if i % 4 == 0 else "none" for i in range(400)]
    column = TREE_OF_ILLNESS | diverse("personalised", by="wish", share=0.6)
    policy = TOP.but(columns={"disease": column, "wish": WITHHELD})
    opened, report = publish_beside(tmp_path, policy, {**PEOPLE, "wish": wishes})

    assert report.measured.kept["share that wish guards"] <= 0.6
    for members in by_class(raw_by_class(opened, "disease", "wish")).values():
        guarded = sum(disease in ("HIV", "cancer") for disease, _ in members)
        assert guarded <= 0.6 * len(members) or all(wish == "none" for _, wish in members)


def test_a_hierarchy_in_a_register(tmp_path: Path) -> None:
    """A class that shows a node is looked up among all who live under it."""
    rng = np.random.default_rng(2)
    towns = [f"{a}{b}" for a in "123" for b in "123"]
    columns = {"zip": rng.choice(towns, 300, p=[0.2] * 4 + [0.04] * 5).tolist(), "disease": ["flu", "gout"] * 150}
    people = {town: 40 if town.startswith("1") else 10 for town in towns}
    (tmp_path / "register.csv").write_text(as_csv(list(people.items()), "zip,n"), encoding="utf-8")
    policy = make_policy("t", {"zip": ZIP, "disease": ILLNESS}, k=K, k_map=IN_REGISTER | {"k": 25, "count": "n"})
    _, report = publish_beside(tmp_path, policy, columns)

    assert report.measured.kept == {"people of the population": 30}  # all towns of one first digit
    assert report.classes == 5  # 11, 12 and 13 by themselves


# -- k-map -----------------------------------------------------------------------------------------------------------


def publish_with(folder: Path, policy: str, register: str) -> tuple[OpenSite, Report]:
    opened = new_site(folder)
    (folder / "register.csv").write_text(register, encoding="utf-8")
    source = write_parquet(folder / "people.parquet", PEOPLE)
    return opened, publish_to(opened, parse_policy(policy), str(source), user="tester", base_dir=folder)


def register(people: int = 3000) -> list[tuple[int | None, str]]:
    """Few people above seventy."""
    rng = np.random.default_rng(1)
    ages = np.where(rng.random(people) < 0.99, rng.integers(18, 70, people), rng.integers(70, 100, people))
    sexes = rng.choice(["F", "M"], people)
    return [(None if rng.random() < 0.01 else int(a), str(s)) for a, s in zip(ages, sexes, strict=True)]


def as_csv(rows: list[tuple[Any, ...]], header: str) -> str:
    return "\n".join([header, *(",".join("" if v is None else str(v) for v in row) for row in rows)]) + "\n"


def boxes(opened: OpenSite) -> list[tuple[int, int, set[str]]]:
    """What the store tells of each class."""
    of_sets = "set_value s JOIN value_text v ON v.column_id = s.column_id AND v.value_id = s.value_id"
    with reading(opened.site.store / "t" / "v00001.duckdb") as store:
        found = store.execute(
            "SELECT c0_lo, c0_hi, list(DISTINCT text) "
            f"FROM cells JOIN ({of_sets}) ON s.column_id = 1 AND set_id = c1_set GROUP BY class, c0_lo, c0_hi"
        ).fetchall()
    return [(low, high, set(texts)) for low, high, texts in found]


def fewest(opened: OpenSite, people: list[tuple[int | None, str]]) -> int:
    return min(
        sum(age is not None and low <= age <= high and sex in sexes for age, sex in people)
        for low, high, sexes in boxes(opened)
    )


def test_every_box_fits_enough_of_the_population(tmp_path: Path) -> None:
    everybody = register()
    for name, policy in (("without", TOP), ("with", MAPPED)):
        (tmp_path / name).mkdir()
        opened, report = publish_with(tmp_path / name, policy, as_csv(everybody, "age,sex"))
        found = fewest(opened, everybody)
        assert (found >= 30) == (name == "with")
        assert report.measured.kept == ({"people of the population": found} if name == "with" else {})
        assert report.classes > 5


def test_parts_are_looked_up_in_the_whole_population(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cut leaves a part that too few people of the population match."""
    monkeypatch.setattr(partition, "BYTES", (4096 - round(0.4 * 4096) << 20) // 40)
    monkeypatch.setattr(partition, "BYTES_EACH", 0)
    everybody = register()
    opened, report = publish_with(tmp_path, MAPPED, as_csv(everybody, "age,sex"))
    assert "parts, cut coarsely" in report.comparison[0].note
    assert report.measured.kept == {"people of the population": fewest(opened, everybody)}
    assert fewest(opened, everybody) >= 30
    assert report.classes > 5


def test_a_population_that_is_counted_and_has_fewer_columns(tmp_path: Path) -> None:
    ages = [age for age, _ in register() if age is not None]
    counted = [(age, ages.count(age)) for age in sorted(set(ages))]
    policy = TOP.but(k_map=IN_REGISTER | {"k": 50, "columns": ["age"], "count": "n"})
    opened, report = publish_with(tmp_path, policy, as_csv(counted, "age,n"))

    assert report.measured.kept["people of the population"] >= 50
    assert min(sum(n for age, n in counted if low <= age <= high) for low, high, _ in boxes(opened)) >= 50


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("age\n20\n", "QG801", "has no column sex"),
        ("age,sex\nold,F\n", "QG802", "values of age in the population do not have its type"),
        ("age,sex\n20,F\n", "QG803", "do not satisfy 30-map"),
    ],
    ids=["a column missing", "not a number", "too few people"],
)
def test_a_population_that_will_not_do(tmp_path: Path, text: str, code: str, what: str) -> None:
    with pytest.raises(ConfigError, match=what) as refused:
        publish_with(tmp_path, MAPPED, text)

    assert refused.value.code == code
    assert "old" not in refused.value.detail.split()


@pytest.mark.parametrize("n", ["x", "-1", "1.5", ""])
def test_a_count_that_is_none(tmp_path: Path, n: str) -> None:
    policy = MAPPED.but(k_map={"count": "n"})
    with pytest.raises(ConfigError, match="k_map") as refused:
        publish_with(tmp_path, policy, f"age,sex,n\n20,F,{n}\n30,M,7\n")

    assert refused.value.code == "QG802"


def test_a_class_that_fits_too_few_is_caught(tmp_path: Path) -> None:
    """Measured on what was written, whatever the anonymiser made."""
    population = [np.array([25.0, 35.0, np.nan]), np.array([0.0, 1.0, 1.0])]
    boxes_ = [[(20.0, 30.0), frozenset({0, 1})], [(20.0, 40.0), None], [None, frozenset({1})]]
    assert partition_check.fewest_matches(boxes_[:1], population, np.array([3, 5, 7])) == 3
    assert partition_check.fewest_matches(boxes_[1:2], population, np.array([3, 5, 7])) == 8
    assert partition_check.fewest_matches(boxes_[2:], population, np.array([3, 5, 7])) == 12


def test_one_bin_is_named_as_the_cause_and_the_advice_works(tmp_path: Path) -> None:
    """Values that spread 72 with a guard of 10 are not too close together: they are one bin, wide or joined."""
    opened = new_site(tmp_path)
    few = {"age": list(range(30, 36)), "sbp": [100, 110, 120, 140, 160, 172]}

    def rules(**more: Any) -> PolicyText:
        return make_policy("t", {"age": AGE, "sbp": SBP | {"guard": 10, **more}}, k=K)

    for bins in (10, [40, 200, 300]):
        with pytest.raises(ConfigError) as refused:
            put(opened, rules(bins=bins), few)
        assert "spread far enough, but are all published as one bin" in refused.value.detail
        assert "72" not in refused.value.detail
    many = {"age": few["age"] * 3, "sbp": few["sbp"] * 3}
    assert put(opened, rules(bins=10), many).rows == 18
    assert put(opened, rules(carry="hull"), few).rows == 6
    with pytest.raises(ConfigError) as close:
        put(opened, rules(bins=10), {"age": few["age"], "sbp": [100, 101, 102, 103, 104, 105]})
    assert close.value.detail == "Even all records together do not satisfy the numeric guard of sbp."


@pytest.mark.parametrize("carry", ["bins", "hull", "univariate", "joint"])
def test_a_column_without_any_value_has_nothing_to_guard(tmp_path: Path, carry: str) -> None:
    opened = new_site(tmp_path)
    rules = make_policy("t", {"age": AGE, "blood sugar": SBP | {"guard": 10, "carry": carry}}, k=K)
    table = {"age": list(range(30, 48)), "blood sugar": pa.nulls(18, pa.int64())}
    report = put(opened, rules, table)
    assert (report.rows, report.measured.hull) == (18, {})
    assert put(opened, rules, table, handling=None).version == 2


def test_names_with_spaces_are_quoted_in_refusals(tmp_path: Path) -> None:
    rules = make_policy("t", {"age": AGE, "blood sugar": SBP | {"guard": 10, "bins": 10}}, k=K)
    with pytest.raises(ConfigError, match="the numeric guard of 'blood sugar'"):
        put(new_site(tmp_path), rules, {"age": list(range(30, 48)), "blood sugar": [100] * 18})
