"""Attacks on the classes themselves. Each succeeds against a release without the guarantee that is meant against it.

The attacker is a researcher: they know the age and the sex of everybody in the table, ask statements, or have the whole
store (anybody who asks enough has it). They never see a raw row; the tests compare what they conclude with the truth.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from querygate.custody.use_cases.publish_version import publish_to
from querygate.methods.anonymise import Attribute, Distinct, Infeasible, Sensitive, Table, blind, mondrian
from querygate.site.open_gate import OpenSite
from tests.policies import AGE, ILLNESS, SBP, SEX, Column, PolicyText, declaring, diverse, make_policy, quasi
from tests.unit.custody.publish.publications import ask, ends, new_site, put, write_parquet

K = 5
PRESSURE = SBP | {"bins": 5, "guard": 0}
Columns = dict[str, list[Any]]


def policy(**columns: Column) -> PolicyText:
    return make_policy("t", {"age": AGE, "sex": SEX, **columns}, k=K, anonymise={"method": "mondrian"})


def diseases(kind: str, **more: Any) -> PolicyText:
    return policy(disease=ILLNESS | diverse(kind, **more))


def pressures(kind: str, **more: Any) -> PolicyText:
    return policy(sbp=PRESSURE | diverse(kind, **more))


def release(folder: Path, text: PolicyText, people: Columns) -> OpenSite:
    folder.mkdir(exist_ok=True)
    opened = new_site(folder)
    put(opened, declaring(text, people), people)
    return opened


def patients(rows: int = 240) -> Columns:
    """The young have the flu and hardly anything else; the old have many diseases, and pressure rises with age."""
    rng = np.random.default_rng(11)
    age = rng.integers(20, 80, rows)
    young = age < 45
    disease = np.where(
        young & (rng.random(rows) < 0.97), "flu", rng.choice(["flu", "gout", "cancer", "stroke", "HIV"], rows)
    )
    sbp = 80 + age + rng.integers(-2, 3, rows)
    sexes = rng.choice(["F", "M"], rows)
    return {"age": age.tolist(), "sex": sexes.tolist(), "disease": disease.tolist(), "sbp": sbp.tolist()}


PATIENTS = patients()


@dataclass(frozen=True)
class Told:
    """One class as the store has it: where it is, and how many of its members have each value."""

    low: int
    high: int
    sexes: frozenset[str]
    values: Counter[Any]

    def has(self, age: int, sex: str) -> bool:
        return self.low <= age <= self.high and sex in self.sexes

    def share(self, value: Any) -> float:
        return self.values[value] / self.values.total()


def stolen(opened: OpenSite) -> duckdb.DuckDBPyConnection:
    """A copy of the store."""
    copy = opened.site.folder / "stolen.duckdb"
    shutil.copyfile(opened.site.store / "t" / "v00001.duckdb", copy)
    return duckdb.connect(str(copy), read_only=True)


def classes_told(opened: OpenSite, column: str) -> list[Told]:
    """Everything the store says of a sensitive column, by class: texts, or the lower ends of bins."""
    index = {c.name: c.index for c in opened.store.current("t").catalog.columns}
    with stolen(opened) as store:
        texts: dict[tuple[int, int], list[str]] = {}
        for number, set_id, text in store.execute(
            "SELECT column_id, set_id, text FROM set_value JOIN value_text USING (column_id, value_id)"
        ).fetchall():
            texts.setdefault((number, set_id), []).append(text)
        numeric = f"c{index[column]}_lo" in [row[0] for row in store.execute("DESCRIBE cells").fetchall()]
        value = f"c{index[column]}_lo" if numeric else f"c{index[column]}_set"
        rows = store.execute(f"SELECT class, c0_lo, c0_hi, c1_set, {value}, n FROM cells").fetchall()
    found: dict[int, Told] = {}
    for label, low, high, sexes, published, n in rows:
        told = found.setdefault(label, Told(low, high, frozenset(texts[1, sexes]), Counter()))
        told.values[published if numeric else texts[index[column], published][0]] += n
    return list(found.values())


def everybody(people: Columns, column: str) -> Iterator[tuple[int, str, Any]]:
    return zip(people["age"], people["sex"], people[column], strict=True)


# -- homogeneity: everybody in the class has the same ----------------------------------------------------------------


Answers = dict[tuple[int, str], dict[str, int]]


def possible_diseases(folder: Path, text: PolicyText) -> Answers:
    """One statement for each age and sex of the patients, released under the policy: how many may have each disease."""
    opened = release(folder, text, PATIENTS)
    answers: Answers = {}
    for age, sex in sorted({(age, sex) for age, sex, _ in everybody(PATIENTS, "disease")}):
        rows = ask(opened, f"SELECT disease, COUNT(*) AS n FROM t WHERE age = {age} AND sex = '{sex}' GROUP BY disease")
        answers[age, sex] = {row["disease"]: row["n"]["high"] for row in rows if row["n"]["high"]}
    return answers


@pytest.fixture(scope="module")
def of_two(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    return possible_diseases(tmp_path_factory.mktemp("two"), diseases("distinct", l=2))


def certain_diseases(answers: Answers, people: Columns, excluded: int = 0) -> float:
    """Share of people whose disease is certain after one statement each, and after excluding so many others.

    Whoever is left with one possible disease knows it. Which diseases a person does not have (an athlete has no gout)
    is chosen as the attacker would wish it: the commonest others.
    """
    named = 0
    for age, sex, disease in everybody(people, "disease"):
        possible = answers[age, sex]
        assert disease in possible
        others = sorted((d for d in possible if d != disease), key=lambda d: -possible[d])
        named += len(others) <= excluded
    return named / len(people["age"])


def test_homogeneity(tmp_path: Path, of_two: Answers) -> None:
    without = possible_diseases(tmp_path, policy(disease=ILLNESS))

    assert certain_diseases(without, PATIENTS) > 0.25
    assert certain_diseases(of_two, PATIENTS) == 0


# -- background knowledge: other values can be excluded ---------------------------------------------------------------


def test_background_knowledge(tmp_path: Path, of_two: Answers) -> None:
    """l different values leave at least two to who can exclude l - 2; two values do not survive one exclusion."""
    four = possible_diseases(tmp_path, diseases("distinct", l=4))

    assert certain_diseases(of_two, PATIENTS, excluded=1) > 0.25
    assert certain_diseases(four, PATIENTS, excluded=2) == 0


def surest_guess(opened: OpenSite, excluded: int) -> float:
    """How often the best guess of the commonest value is right in the worst class, once others are excluded."""
    worst = 0.0
    for told in classes_told(opened, "disease"):
        (_, first), *others = told.values.most_common()
        left = sorted((n for _, n in others), reverse=True)[excluded:]
        worst = max(worst, first / (first + sum(left)))
    return worst


def test_background_knowledge_makes_guesses_better(tmp_path: Path) -> None:
    """Recursive (c,l)-diversity: who excludes l - 2 values guesses right at most c / (c + 1) of the time."""
    distinct = release(tmp_path / "two", diseases("distinct", l=3), PATIENTS)
    guarded = release(tmp_path / "four", diseases("recursive", c=3, l=3), PATIENTS)

    assert surest_guess(distinct, excluded=1) > 0.9
    assert surest_guess(guarded, excluded=1) <= 3 / 4


# -- skewness: the class is far from the whole ------------------------------------------------------------------------


def largest_gain(opened: OpenSite, column: str, value: str) -> float:
    """By how much more than from the whole table a person's class lets the attacker believe in a value."""
    told = classes_told(opened, column)
    whole = sum((one.values for one in told), Counter())
    return max(one.share(value) for one in told) - whole[value] / whole.total()


def test_skewness(tmp_path: Path) -> None:
    """One in twenty is positive. A class of half positives has both values, and tells ten times the risk."""
    rng = np.random.default_rng(3)
    ages = rng.integers(20, 80, 400)
    positive = rng.random(400) < np.where((ages > 50) & (ages < 56), 0.6, 0.01)
    people = {
        "age": ages.tolist(),
        "sex": rng.choice(["F", "M"], 400).tolist(),
        "test": np.where(positive, "positive", "negative").tolist(),
    }
    two = release(tmp_path / "two", policy(test=ILLNESS | diverse("distinct", l=2)), people)
    close = release(tmp_path / "close", policy(test=ILLNESS | diverse("t-closeness", t=0.1)), people)

    assert largest_gain(two, "test", "positive") > 0.4
    assert largest_gain(close, "test", "positive") <= 0.1


# -- similarity: different values that mean the same ------------------------------------------------------------------

WINDOW = 10


def best_window(opened: OpenSite) -> list[float]:
    """For each class the largest share of it that two neighbouring bins hold: a pressure to within 10 mmHg."""
    return [
        max(told.share(low) + told.share(low + WINDOW // 2) for low in range(40, 295, WINDOW // 2))
        for told in classes_told(opened, "sbp")
    ]


def test_similarity(tmp_path: Path) -> None:
    """Bins that differ may be neighbours. (epsilon,m)-anonymity counts the part of a class that is near anybody."""
    distinct = release(tmp_path / "distinct", pressures("distinct", l=2), PATIENTS)
    guarded = release(tmp_path / "guarded", pressures("em", epsilon=WINDOW, m=2), PATIENTS)

    assert np.mean(best_window(distinct)) > 0.8
    assert max(best_window(guarded)) <= 0.5


def farthest(opened: OpenSite) -> tuple[float, int]:
    """How far the mean of a class is from that of the whole, in mmHg, and how many bins there are."""
    told = classes_told(opened, "sbp")
    whole = sum((one.values for one in told), Counter())
    return max(abs(_mean(one.values) - _mean(whole)) for one in told), len(whole)


def test_similarity_against_the_whole(tmp_path: Path) -> None:
    """Ordered closeness bounds how far a class may lie along the axis: t times the way from first to last bin."""
    distinct = release(tmp_path / "distinct", pressures("distinct", l=2), PATIENTS)
    close = release(tmp_path / "close", pressures("t-closeness", t=0.15), PATIENTS)
    allowed = 0.15 * (WINDOW / 2) * (farthest(close)[1] - 1)

    assert farthest(distinct)[0] > 2 * allowed
    assert farthest(close)[0] <= allowed
    assert len(classes_told(close, "sbp")) > 1


def _mean(values: Counter[int]) -> float:
    return sum(low * n for low, n in values.items()) / values.total()


# -- k-map: k in the table, fewer in the world ------------------------------------------------------------------------


def test_a_register(tmp_path: Path) -> None:
    """Ten very old people live there, and all are in the table: k = 5 holds, and each of them is known to be in it."""
    rng = np.random.default_rng(8)
    old = list(range(96, 106))
    people = {"age": [*rng.integers(20, 80, 290).tolist(), *old], "sex": ["F"] * 300, "disease": ["flu", "gout"] * 150}
    register = [*rng.integers(18, 95, 5000).tolist(), *old]
    for name, k_map, most in (("without", None, 1 / 5), ("with", {"population": "register.csv", "k": 50}, 1 / 50)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "register.csv").write_text("age,sex\n" + "".join(f"{age},F\n" for age in register), encoding="utf-8")
        source = write_parquet(folder / "people.parquet", people)
        opened = new_site(folder)
        publish_to(opened, policy(disease=ILLNESS).but(k_map=k_map).parsed(), str(source), user="c", base_dir=folder)
        fits = [
            (one.values.total(), sum(one.has(age, "F") for age in register)) for one in classes_told(opened, "disease")
        ]
        named, present = max(1 / there for _, there in fits), max(n / there for n, there in fits)
        assert named <= most
        assert (present == 1.0, named > 1 / 50) == ((True, True) if name == "without" else (False, False))


# -- edges that name a value ------------------------------------------------------------------------------------------


def test_an_edge_names_a_real_value(tmp_path: Path) -> None:
    """Incomes: a tight edge is somebody's, to the dollar. An edge on the grid is hardly ever."""
    rng = np.random.default_rng(6)
    income = [int(v) for v in np.exp(rng.normal(10.5, 0.5, 200))]
    people = {"income": income, "sex": rng.choice(["F", "M"], 200).tolist()}
    columns = {"income": quasi("integer", (0, 200_000), grid=1000), "sex": SEX}
    right, whole = {}, {}
    for edges in ("tight", "grid"):
        text = make_policy("t", columns, k=K, anonymise={"method": "mondrian", "edges": edges})
        opened = release(tmp_path / edges, text, people)
        with stolen(opened) as store:
            told = {end for row in store.execute("SELECT c0_lo, c0_hi FROM cells").fetchall() for end in row}
        right[edges] = sum(edge in people["income"] for edge in told) / len(told)
        whole[edges] = ends(opened, "MAX(income)")

    assert right["tight"] == 1.0
    assert whole["tight"][1] == max(people["income"])
    assert right["grid"] < 0.05
    assert whole["grid"][1] > max(people["income"])


# -- minimality: the algorithm is known, and it did not divide --------------------------------------------------------


@dataclass(frozen=True)
class Accomplice:
    """Knows everybody's age, the policy and the code: tries every table that the release could come from."""

    ages: np.ndarray
    search: str

    def classes(self, ill: np.ndarray) -> list[int] | None:
        """The class of each person, had these been ill; None where nothing could have been published."""
        age = Attribute("age", np.arange(len(self.ages)), len(self.ages), True, 120.0, self.ages, self.ages)
        disease = Sensitive("disease", np.arange(len(ill)), ill, np.ones_like(ill), 2)
        method = blind(mondrian) if self.search == "blind" else mondrian
        try:
            return method(Table((age,), np.ones_like(ill)), 2, [Distinct(disease, 2)]).tolist()
        except Infeasible:
            return None

    def beliefs(self, told: list[Told]) -> tuple[np.ndarray, np.ndarray]:
        """Per person how probable the illness is, by the class alone and by all tables that give this release."""
        members = [[i for i, age in enumerate(self.ages) if one.has(age, "F")] for one in told]
        label = np.zeros(len(self.ages), dtype=int)
        naive = np.zeros(len(self.ages))
        for number, (one, inside) in enumerate(zip(told, members, strict=True)):
            label[inside], naive[inside] = number, one.share("ill")
        tables = []
        for chosen in product(
            *(combinations(inside, one.values["ill"]) for one, inside in zip(told, members, strict=True))
        ):
            ill = np.zeros(len(self.ages), dtype=int)
            ill[[i for part in chosen for i in part]] = 1
            found = self.classes(ill)
            if found is not None and _same(found, label.tolist()):
                tables.append(ill)
        return naive, np.mean(tables, axis=0)


def _same(one: list[int], other: list[int]) -> bool:
    return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))


def minimality(folder: Path, search: str, tables: int = 3) -> tuple[int, float]:
    """In how many of some small tables somebody's illness becomes certain, and the mean of the largest gain."""
    certain, gains = 0, []
    for seed in range(tables):
        rng = np.random.default_rng(100 + seed)
        ages = np.sort(rng.choice(60, 12, replace=False)) + 20
        ill = (np.arange(12) < 4)[rng.permutation(12)]
        people = {"age": ages.tolist(), "sex": ["F"] * 12, "disease": np.where(ill, "ill", "well").tolist()}
        text = diseases("distinct", l=2).but(k=2, anonymise={"search": search})
        told = classes_told(release(folder / f"{search}{seed}", text, people), "disease")
        naive, informed = Accomplice(ages.astype(float), search).beliefs(told)
        certain += bool((np.maximum(informed, 1 - informed) > 0.999).any())
        gains.append(float(np.abs(informed - naive).max()))
    return certain, float(np.mean(gains))


def test_minimality(tmp_path: Path) -> None:
    """A search that asks the guard tells, by what it left whole, who is ill. A blind one hardly tells anything."""
    certain, gain = minimality(tmp_path, "guarded")
    assert certain > 0
    assert gain > 0.2

    certain, gain = minimality(tmp_path, "blind")
    assert certain == 0
    assert gain < 0.1


def test_without_a_guard_the_algorithm_tells_nothing(tmp_path: Path) -> None:
    """Classes that depend on quasi-identifiers alone are the same whoever is ill."""
    answers = set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(PATIENTS["age"]))
        shuffled = {**PATIENTS, "disease": [PATIENTS["disease"][i] for i in order]}
        opened = release(tmp_path / str(seed), policy(disease=ILLNESS), shuffled)
        answers.add(frozenset((one.low, one.high, one.sexes) for one in classes_told(opened, "disease")))
    assert len(answers) == 1


@pytest.mark.parametrize("search", ["guarded", "blind"])
def test_the_accomplice_knows_what_the_publisher_does(tmp_path: Path, search: str) -> None:
    """What proves the attack: on the true table the accomplice makes the very classes that were published."""
    ages = [21, 25, 30, 34, 40, 41, 47, 52, 58, 63, 70, 77]
    ill = np.array([1, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0])
    people = {"age": ages, "sex": ["F"] * 12, "disease": np.where(ill == 1, "ill", "well").tolist()}
    text = diseases("distinct", l=2).but(k=2, anonymise={"search": search})
    told = classes_told(release(tmp_path / "site", text, people), "disease")
    labels = Accomplice(np.array(ages, dtype=float), search).classes(ill)

    assert labels is not None
    assert _same(labels, [next(n for n, one in enumerate(told) if one.has(age, "F")) for age in ages])
    assert 1 < len(told) <= 6
