"""A draft is tried: a quasi-identifier that makes most answers too wide to print is left out, with both figures."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.policy_draft import draft_from

SEXES = ("m", "w", "M", "w ")
WINDS = ("north", "south", "east", "west")


def drafted(folder: Path, regions: list[str], people: int) -> dict[str, tuple[str, str]]:
    """Roles and last reasons of a survey whose regions are drawn from a list."""
    rng = random.Random(3)
    path = folder / "survey.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "sex", "region", "smoker"])
        for _ in range(people):
            who = [rng.randint(18, 89), rng.choice("fm"), rng.choice(regions)]
            writer.writerow([*who, rng.choice(["yes", "no"])])
    return {p.name: (p.role, p.why[-1]) for p in draft_from(str(path)).columns}


def test_a_column_with_which_too_little_can_be_printed_is_left_out(tmp_path):
    role, why = drafted(tmp_path, [*["north", "south"] * 6, ""], 1_200)["region"]  # missing for many
    assert role == "withheld"
    assert "can be printed with it" in why


def test_a_column_of_which_most_can_be_printed_stays(tmp_path):
    found = drafted(tmp_path, ["north", "south"], 6_000)
    assert {found[name][0] for name in ("age", "sex", "region")} == {"quasi-identifier"}


def test_four_columns_are_proposed_with_few_values_of_each_where_most_can_be_printed(tmp_path):
    """In one view all of them, and in another the first three."""
    rng = random.Random(5)
    path = tmp_path / "survey.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "sex", "race", "education", "smoker"])
        for _ in range(6_000):
            race, school = rng.choice(["white", "white", "black", "ü"]), rng.choice(["none", "high", "high", "college"])
            writer.writerow([rng.randint(40, 69), rng.choice("fm"), race, school, rng.choice(["yes", "no"])])
    policy = parse_policy(draft_from(str(path)).text)
    quasi = ("age", "sex", "race", "education")
    assert tuple(column.name for column in policy.named("quasi-identifier")) == quasi
    assert policy.views is not None
    assert policy.views.spanning == (quasi, quasi[:3])


def test_two_columns_are_tried_too_where_one_has_rare_values(tmp_path):
    """No third column could take part, and yet the frame is what makes answers narrow."""
    rng = random.Random(4)
    path = tmp_path / "registry.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "sex", "diabetes"])
        writer.writerows(
            [min(95, max(19, int(rng.gauss(58, 16)))), ("d" if i < 14 else "") if i < 32 else rng.choice(SEXES), i % 2]
            for i in range(1_500)
        )
    policy = parse_policy(draft_from(str(path)).text)
    assert policy.views is not None
    assert [name for name, _ in policy.views.frame] == ["sex"]


@pytest.mark.parametrize(("rare", "people"), [("d", 14), ("", 18)])
def test_a_rare_sex_or_none_leaves_sex_in_the_draft_and_the_draft_says_what_it_cost(tmp_path, rare, people):
    """Four regions beside it: little of what is about the rare sex can be printed, and that is no reason."""
    rng = random.Random(2)
    path = tmp_path / "registry.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "sex", "region", "diabetes"])
        for i in range(3_000):
            sex = rare if i < people else rng.choice("mw")
            age = min(95, max(19, int(rng.gauss(58, 16))))
            region = rng.choices(["BY", "BW", "NW", "HH"], [4, 3, 2, 1])[0]
            writer.writerow([age, sex, region, rng.choice(["ja", "nein"])])
    text = draft_from(str(path)).text
    policy = parse_policy(text)
    assert policy.column("sex").role == "quasi-identifier"
    assert policy.views is not None
    assert [name for name, _ in policy.views.frame] == ["sex"]
    assert "A few people have rare values of sex" in text


def test_rare_values_go_into_the_frame_of_a_draft_that_tells_enough_without(tmp_path):
    """Twelve people live on an island. In the frame they widen no answer about the other regions."""
    rng = random.Random(4)
    path = tmp_path / "registry.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "region", "diabetes"])
        for i in range(4_000):
            age = min(95, max(19, int(rng.gauss(58, 16))))
            writer.writerow([age, "island" if i < 12 else rng.choice(WINDS), rng.choice(["no", "yes"])])
    policy = parse_policy(draft_from(str(path)).text)
    assert policy.views is not None
    assert [name for name, _ in policy.views.frame] == ["region"]
    assert {column.name for column in policy.named("quasi-identifier")} == {"age", "region"}
