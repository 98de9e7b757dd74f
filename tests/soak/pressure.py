"""An automated attacker with 10,000 adaptive statements against a survey, and one who reads the published classes.

Half of the targets are in the survey, half are people like them who are not. The figures of the table are those of
docs/explanation/measured-attacks.md.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.attack.pressed_survey import (
    Classes,
    Rows,
    draw_targets,
    load_people,
    on_a_plain_database,
    publish_survey,
    through_the_gate,
)
from tests.attack.pressure_measures import (
    Figures,
    advantage_at_membership,
    advantage_at_values,
    figures,
    more_than_published,
    press,
)
from tests.report import row

TARGETS, BUDGET = 200, 50
SEED_OF_PEOPLE, SEED_OF_ATTACK = 7, 1


def run() -> list[dict[str, Any]]:
    rng = np.random.default_rng(SEED_OF_PEOPLE)
    people = load_people(rng)
    targets = draw_targets(people, TARGETS, rng)
    asked = 0
    with tempfile.TemporaryDirectory() as folder:
        opened = publish_survey(people, Path(folder))
        gate = through_the_gate(opened)

        def ask(sql: str) -> Rows | None:
            nonlocal asked
            asked += 1
            return gate(sql)

        classes = Classes(opened, people)
        reading = [classes.about(target) for target in targets]
        asking = press(people, targets, ask, BUDGET, SEED_OF_ATTACK)
    plain = press(people, targets, on_a_plain_database(people), BUDGET, SEED_OF_ATTACK)
    more = more_than_published(people, targets, asking, reading)
    print("\n".join(more[:20]))
    read, told, bare = (figures(people, targets, known) for known in (reading, asking, plain))
    rows = [row("pressure: statements through the gate", asked, "", f"{TARGETS} targets")]
    for name, one in (("classes read", read), ("gate asked", told), ("plain database asked", bare)):
        rows += _shown(name, one)
    rows.append(row("pressure: proved beyond the published classes", len(more), "", target=0, met=not more))
    rows.append(_advantage("guessing pressures", *advantage_at_values(told, read)))
    rows.append(_advantage("guessing membership (AUC)", *advantage_at_membership(told, read, SEED_OF_ATTACK)))
    found = int((bare.width < 1).sum())
    least = 0.9 * len(bare.width)
    rows.append(row("pressure: disclosed by the plain database", found, "members", target=least, met=found >= least))
    return rows


def _shown(name: str, one: Figures) -> list[dict[str, Any]]:
    members = f"{len(one.near)} members"
    return [
        row(f"pressure, {name}: AUC of membership", one.auc, ""),
        row(f"pressure, {name}: membership guessed", 100 * one.accuracy, "%", f"{len(one.inside)} targets"),
        row(f"pressure, {name}: membership proved", one.proved, "", f"{len(one.inside)} targets"),
        row(f"pressure, {name}: pressure within 5 mmHg", 100 * float(one.near.mean()), "%", members),
        row(f"pressure, {name}: narrowest interval proved", float(one.width.min()), "mmHg", members),
        row(f"pressure, {name}: mean interval proved", float(one.width.mean()), "mmHg", members),
    ]


def _advantage(what: str, gain: float, chance: float) -> dict[str, Any]:
    told = f"chance exceeds {chance:.3f} once in 100"
    return row(f"pressure: gain by asking, {what}", gain, "", told, target=chance, met=gain <= chance)
