"""A small study with lists of diagnoses, published as views that tell of groups of them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from querygate.custody.policy import Policy
from querygate.custody.publish.publish import Report
from tests.policies import PolicyText, code_list, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import new_site, put
from tests.unit.custody.publish.view_stores import ViewStore

Rows = dict[str, list[Any]]

TREE = {"250.00": "250", "250.01": "250", "401.1": "401", "401.9": "401", "007": "007x", "V10": "V", "Ä 1": "V"}
SYSTEM = "".join(f"{code};{group};*\n" for code, group in TREE.items())
GROUPS: dict[str, list[str]] = {"diabetes": ["250"], "high pressure": ["4011", "401.9"], "giardia": ["007"]}
POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 100), grid=1, cuts=[50]),
        "sex": quasi("category", values=["F", "M"]),
        "town": quasi("category", values=["A", "B"]),
        "job": quasi("category", values=["x", "y"]),
        "sbp": sensitive("integer", (40, 300), guard=10),
        "dx": code_list("codes.csv", separator=";"),
    },
    k=3,
    views={"spanning": [["age", "sex", "town"], ["age", "sex", "job"]], "codes": {"dx": GROUPS}},
)
CODES = ["250.00", "25001", "401.1", "401.9", "007", "v10", "Ä 1"]
"""As somebody types them."""


def people(number: int = 120, seed: int = 1) -> Rows:
    """Lists of every length, missing and empty ones, codes twice, spaces, other spellings."""
    rng = random.Random(seed)

    def diagnoses() -> str | None:
        found = rng.choices(CODES, k=rng.choice([0, 1, 1, 2, 3, 7]))
        return None if rng.random() < 0.1 else " ; ".join([*found, *found[:1], *([""] * rng.randint(0, 1))])

    return {
        "age": [rng.choice([20, 30, 49, 50, 51, 99]) for _ in range(number)],
        "sex": [rng.choice(["F", "M"]) for _ in range(number)],
        "town": [rng.choice(["A", "B"]) for _ in range(number)],
        "job": [rng.choice(["x", "y"]) for _ in range(number)],
        "sbp": [rng.randint(90, 180) for _ in range(number)],
        "dx": [diagnoses() for _ in range(number)],
    }


def parsed(folder: Path, policy: PolicyText = POLICY) -> Policy:
    (folder / "codes.csv").write_text(SYSTEM, encoding="utf-8")
    return policy.parsed(folder)


def published(folder: Path, rows: Rows, policy: PolicyText = POLICY) -> tuple[ViewStore, Report]:
    opened = new_site(folder)
    return ViewStore(opened), put(opened, parsed(folder, policy), rows)


def held(text: str | None) -> set[str]:
    """The groups of a list, by the test's own reading."""
    group = {
        "250.00": "diabetes",
        "25001": "diabetes",
        "401.1": "high pressure",
        "401.9": "high pressure",
        "007": "giardia",
    }
    return {group[code.strip()] for code in (text or "").split(";") if code.strip() in group}
