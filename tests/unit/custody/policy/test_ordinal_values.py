"""Orders of values that are known by what they are called, and drafts that say so."""

from __future__ import annotations

import csv
import random
from pathlib import Path

from querygate.custody.policy import parse_policy
from querygate.custody.policy.ordinal_values import in_order, ladders
from querygate.custody.use_cases.policy_draft import draft_from


def test_every_spelling_is_on_one_step_of_its_ladder() -> None:
    for ladder in ladders():
        assert all(word == word.casefold().strip() for word in ladder.steps), ladder.name
        assert len(set(ladder.steps.values())) >= 3


def test_orders_that_are_known() -> None:
    cases = {
        ("education", "High School", "8th Grade", "College Grad", "Some College", "9 - 11th Grade"): (1, 4, 0, 3, 2),
        ("risk", "high", "LOW", " medium"): (1, 2, 0),
        ("asa_class", "3", "1", "2", "4"): (1, 2, 0, 3),
        ("nyha", "III", "I", "II"): (1, 2, 0),
        ("hhincome", "more 99999", "10000-14999", "5000-9999", "0-4999"): (3, 2, 1, 0),
        ("age", "65+", "under 18", "18 to 64"): (1, 2, 0),
        ("depressed", "Most", "None", "Several"): (1, 2, 0),
        ("pain", "severe", "none", "moderate", "mild"): (1, 3, 2, 0),
    }
    order = {
        ("education", "High School", "8th Grade", "College Grad", "Some College", "9 - 11th Grade"): (1, 4, 0, 3, 2)
    }
    for (name, *values), places in (cases | order).items():
        assert in_order(name, values) == tuple(values[place] for place in places), name


def test_what_has_no_order() -> None:
    for name, *values in (
        ("site", "1", "2", "3"),
        ("answer", "yes", "no"),
        ("code", "1-1", "1-2", "1.2.3-4"),
        ("risk", "low", "high"),
        ("risk", "low", "small", "high"),  # two spellings of one step
        ("risk", "low", "medium", "high", "missing"),
        ("race", "Black", "White", "Other"),
        ("stage",),
    ):
        assert in_order(name, values) == (), (name, values)


def test_a_draft_says_which_values_have_an_order(tmp_path: Path) -> None:
    rng = random.Random(1)
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["age", "severity", "ward"])
        rows.writerows(
            [rng.randint(18, 90), rng.choice(["severe", "mild", "moderate"]), rng.choice("ABC")] for _ in range(400)
        )
    policy = parse_policy(draft_from(str(tmp_path / "t.csv")).text)
    assert policy.column("severity").order == ("mild", "moderate", "severe")
    assert policy.column("ward").order == ()
