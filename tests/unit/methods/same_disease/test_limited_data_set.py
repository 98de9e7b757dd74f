"""The limited data set beside Safe Harbor: the worked example of Liu et al. (2015), tables 1 and 2."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.same_disease import Quasi, Study, limited_data_set, safe_harbor
from tests.unit.methods.same_disease.tables import COLUMNS, people, rows, some

BORN = ("1927-07-15", "1927-05-28", "1927-10-26", "1935-01-02", "1935-02-03", "1935-10-24", "1935-05-13")
POPULATION = {
    "zip": np.array(["00101"] * 3 + ["00202"] * 6),
    "born": np.array([*BORN, "1935-09-26", "1935-09-26"], dtype="datetime64[D]"),
}
FILE = np.array([0, 1, 2, 3, 6, 7])  # Alice, Bob, Charlie, Dave, Grace and Helen
STUDY = Study.within((Quasi("zip", "zip"), Quasi("born", "date")), POPULATION, FILE)


def test_the_example_of_the_paper() -> None:
    """Zip3 and the year: q of 1/3 and 1/6, r of 1 and 1/2. Zip5 and the day: all found but one, who is one of two."""
    harbor, limited = safe_harbor(STUDY).risk, limited_data_set(STUDY).risk
    assert (harbor.greatest_match, harbor.greatest_instance) == (pytest.approx(1 / 3), 1.0)
    assert (harbor.average_match, harbor.average_instance) == (pytest.approx(0.25), pytest.approx(0.75))
    assert sorted(limited.class_people) == [1, 1, 1, 1, 1, 2]
    assert (limited.greatest_match, limited.greatest_instance) == (1.0, 1.0)
    assert limited.average_match == limited.average_instance == pytest.approx(5.5 / 6)


@pytest.mark.parametrize("seed", range(4))
def test_classes_are_those_of_the_raw_values(seed: int) -> None:
    """Counted one by one, whatever is missing; a finer class never risks less than that of Safe Harbor."""
    population = people(90, seed)
    file = rows(population, some(90, 25, seed))
    study = Study.of(COLUMNS, population, file)

    def told(table: dict[str, np.ndarray]) -> list[str]:
        return [repr(row) for row in zip(*(table[column.name].tolist() for column in COLUMNS), strict=True)]

    everybody, recorded = told(population), told(file)
    found, harbor = limited_data_set(study), safe_harbor(study)
    for row, number in zip(recorded, found.class_of.tolist(), strict=True):
        assert found.risk.class_records[number] == recorded.count(row)
        assert found.risk.class_people[number] == everybody.count(row)
    assert found.risk.average_match >= harbor.risk.average_match
    assert not found.loss.any()
