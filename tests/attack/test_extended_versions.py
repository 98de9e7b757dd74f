"""Somebody compares two versions, of which the later one takes classes of the earlier one over.

Which classes are new tells whose data has changed: whoever knows that one person left, came or was ill between the two
looks at the difference. With the guard off it tells this person's ward; with it on, nothing is published.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.publish import extension, republication_guard
from querygate.custody.use_cases.publish_version import publish_to
from querygate.methods.anonymise.stable_classes import stay_together
from querygate.site.open_gate import OpenSite
from tests.policies import REGISTER
from tests.unit.custody.publish.publications import ask, new_site, write_parquet

K = 5
POLICY = REGISTER.but(k=K, republish={"on_overlap": "extend"})


def register(people: int = 400) -> dict[str, list[Any]]:
    rng = np.random.default_rng(7)
    return {
        "mrn": [f"m{i}" for i in range(people)],
        "age": rng.integers(18, 90, people).tolist(),
        "zip": rng.integers(0, 1000, people).tolist(),
        "ward": [f"w{ward:02d}" for ward in rng.integers(0, 12, people)],
    }


def put(opened: OpenSite, columns: dict[str, list[Any]]) -> None:
    path = write_parquet(opened.site.folder.parent / "people.parquet", columns)
    publish_to(opened, POLICY.parsed(), str(path), user="custodian")


def wards(opened: OpenSite) -> Counter[str]:
    return Counter(
        {row["ward"]: row["n"]["low"] for row in ask(opened, "SELECT ward, COUNT(*) AS n FROM t GROUP BY ward")}
    )


def difference(before: Counter[str], after: Counter[str]) -> Counter[str]:
    return (before - after) + (after - before)


@pytest.mark.parametrize("who", ["leaves", "comes", "falls ill"])
def test_the_difference_tells_of_one_person_unless_the_guard_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    everybody = register()
    fewer = {name: values[:-1] for name, values in everybody.items()}
    ill = everybody | {"ward": [*everybody["ward"][:-1], "w00" if everybody["ward"][-1] != "w00" else "w01"]}
    first, second = {"leaves": (everybody, fewer), "comes": (fewer, everybody), "falls ill": (everybody, ill)}[who]
    opened = new_site(tmp_path)
    put(opened, first)
    before = wards(opened)

    with pytest.raises(ConfigError) as refused:
        put(opened, second)
    assert refused.value.code == "QG803"
    assert wards(opened) == before

    monkeypatch.setattr(extension, "goes_with", lambda *_: True)
    monkeypatch.setattr(republication_guard, "goes_with", lambda *_: True)
    if who == "comes":  # one newcomer has no class of their own, and nobody else's class was opened for them
        _open_a_class(monkeypatch)
    put(opened, second)
    told = difference(before, wards(opened))
    assert set(told) == {first["ward"][-1], second["ward"][-1]} if who == "falls ill" else {everybody["ward"][-1]}
    assert sum(told.values()) == (2 if who == "falls ill" else 1)


def _open_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    def together(table: Any, history: Any, k: int, guards: Any, *, apart: bool, progress: Any) -> Any:
        return stay_together(table, history, k, guards, apart=False, progress=progress)

    monkeypatch.setattr(republication_guard, "stay_together", together)
