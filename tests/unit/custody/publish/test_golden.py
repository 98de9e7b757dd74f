"""A printed example: six patients, two releases of them, and what each can tell about "under 59".

Ages 54, 55, 60, 60, 62, 62. Release A keeps neighbours together: no class lies on both sides of 59. Release B mixes
them: from its intervals alone nobody is certain, and everybody in two classes is possible; who knows that the edges
are attained knows one patient on each side in both.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.policies import AGE, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import ask, classes_by, ends, new_site, put

POLICY = make_policy(
    "t",
    {
        "age": AGE,
        "patient": quasi("category", values=list("123456")),
        "insurance": sensitive("category", values=["HMO", "No", "PPO"]),
    },
    k=2,
)
PATIENTS = {
    "patient": ["1", "2", "3", "4", "5", "6"],
    "age": [54, 55, 60, 60, 62, 62],
    "insurance": ["No", "No", "HMO", "HMO", "HMO", "PPO"],
}
RELEASE_A = classes_by("patient", [0, 0, 1, 1, 2, 2])
RELEASE_B = classes_by("patient", [0, 1, 2, 0, 2, 1])


@pytest.mark.parametrize(
    ("release", "edges", "under_59"),
    [
        (RELEASE_A, "grid", (2, 2)),
        (RELEASE_A, "tight", (2, 2)),
        (RELEASE_B, "grid", (0, 4)),
        (RELEASE_B, "tight", (2, 2)),
    ],
    ids=["A grid", "A tight", "B grid", "B tight"],
)
def test_patients_under_59(tmp_path: Path, release, edges: str, under_59: tuple[int, int]) -> None:
    opened = new_site(tmp_path)
    put(opened, POLICY.but(anonymise={"edges": edges}), PATIENTS, anonymiser=release)

    assert ends(opened, "COUNT(*)", "age < 59") == under_59


def test_the_boxes_of_release_b(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, POLICY, PATIENTS, anonymiser=RELEASE_B)

    assert ends(opened, "MIN(age)") == (54, 60)  # [54, 60], [55, 62] and [60, 62]
    assert ends(opened, "MAX(age)") == (60, 62)
    assert ends(opened, "COUNT(*)", "age BETWEEN 54 AND 60") == (2, 6)
    insured = {
        row["insurance"]: row["_group"]["count"] for row in ask(opened, "SELECT insurance, COUNT(*) FROM t GROUP BY 1")
    }
    assert insured == {"HMO": {"low": 3, "high": 3}, "No": {"low": 2, "high": 2}, "PPO": {"low": 1, "high": 1}}
