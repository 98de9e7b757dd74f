"""Tables split over gates: the pooled truth is in every range. At length: `make soak ONLY=federation`."""

from __future__ import annotations

from pathlib import Path

from tests.each import each
from tests.property.federation_cases import try_split


@each("seed", (0, 1, 3, 4))
def test_pooled_ranges_have_what_all_records_have(seed: int, tmp_path: Path) -> None:
    (tmp_path / str(seed)).mkdir()
    found = try_split(seed, tmp_path / str(seed), 8)
    assert found.answered
    assert not found.wrong


def test_a_member_without_the_group_makes_no_number_of_null(tmp_path: Path) -> None:
    """COUNT_IF is NULL where no condition is known. One member has such a group, the other knows every condition but
    may not have the group: split 3,000,288 of the soak found that its zero was added all the same."""
    found = try_split(3_000_288, tmp_path, 4)
    assert found.answered
    assert not found.wrong
