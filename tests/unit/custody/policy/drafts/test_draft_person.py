"""Tables in which people have several rows: what k people have is named, what tells their rows apart is left out."""

from __future__ import annotations

import csv
import random
from pathlib import Path

from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.policy_draft import draft_from
from tests.unit.custody.publish.publications import new_site, put

VISITS = ("baseline", "week 4", "week 8")


def test_a_table_of_visits_is_drafted_by_people_and_published_untouched(tmp_path: Path) -> None:
    """Four people from Bremen have twelve rows: more than k, and yet the draft does not name the place."""
    rng = random.Random(1)
    path = tmp_path / "visits.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["patient_id", "age", "sex", "region", "visit_name", "pain"])
        for person in range(200):
            who = [
                person,
                30 + person % 50,
                rng.choice("fm"),
                "Bremen" if person < 4 else rng.choice(["North", "South"]),
            ]
            writer.writerows([*who, visit, rng.choice(["none", "some", "severe"])] for visit in VISITS)
    drafted = draft_from(str(path))
    policy = parse_policy(drafted.text)
    found = {p.name: p for p in drafted.columns}
    assert policy.person == "patient_id"
    assert found["visit_name"].role == "withheld"
    assert "the same value in some row" in found["visit_name"].why[-1]
    assert "Bremen" not in drafted.text
    assert {"f", "m"} <= set(policy.column("sex").values)
    assert put(new_site(tmp_path), drafted.text, path).measured.k >= policy.k
