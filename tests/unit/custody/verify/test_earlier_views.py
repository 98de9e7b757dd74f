"""What is read of an earlier version, beside what its file says."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from querygate.custody.policy import parse_policy
from querygate.custody.verify.earlier_disclosures import tell_more
from querygate.custody.verify.earlier_views import ABSENT, EarlierMargins, EarlierVersion, read_earlier, stacked
from querygate.methods.views.certificate_check import NO_LEAST, NO_MOST, BinnedNumber
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.duckdb_store import version_file
from querygate_adapters.vault.kept_version import KeptVersion
from querygate_adapters.vault.person_history import attach
from querygate_adapters.vault.written_store import WrittenStore
from tests.engine import reading
from tests.unit.custody.publish.publications import new_site, put
from tests.unit.custody.verify.view_stores import SURVEY, survey

ROWS = 120


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    opened = new_site(tmp_path_factory.mktemp("published"))
    put(opened, SURVEY, survey(ROWS, 1))
    return opened


@pytest.fixture(scope="module")
def earlier(published: OpenSite) -> EarlierVersion:
    """The version beside its own rows."""
    written = WrittenStore(store(published))
    with closing(attach({"v1": version_file(published.site.vault / "t", 1)}, 256)) as database:
        kept = KeptVersion(1, written, database, "v1")
        return read_earlier(kept, parse_policy(SURVEY), kept.columns, kept.raw_column)


def store(opened: OpenSite) -> Path:
    return version_file(opened.site.store / "t", 1)


def test_sums_are_read_as_they_are_written(published: OpenSite, earlier: EarlierVersion) -> None:
    catalog = WrittenStore(store(published)).catalog()
    index = next(column.index for column in catalog.columns if column.name == "sbp")
    margins = [number for number, margin in enumerate(catalog.margins) if margin.sensitive == ("sbp",)]
    told = earlier.units[frozenset({"sbp"})]
    closed = 0
    with reading(store(published)) as file:
        for number, label, least, most in zip(margins, told.labels, *told.sums["sbp"], strict=True):
            names = [
                name for (name,) in file.execute(f"SELECT DISTINCT class FROM cells WHERE margin = {number}").fetchall()
            ]
            ends = {
                name: (low, high)
                for name, low, high in file.execute(
                    f"SELECT class, sum_lo, sum_hi FROM class_moment WHERE column_id = {index}"
                ).fetchall()
            }
            for place, name in enumerate(sorted(names)):
                mine = label == place
                if mine.any() and name in ends:
                    (low,), (high,) = np.unique(least[mine]), np.unique(most[mine])
                    closed += (low != NO_LEAST) + (high != NO_MOST)
                    assert low in (NO_LEAST, ends[name][0])
                    assert high in (NO_MOST, ends[name][1])
    assert closed


def test_all_margins_of_a_unit_stand_beside_each_other(earlier: EarlierVersion) -> None:
    found = stacked([earlier, earlier], ["sbp"], ["sbp"], ROWS)
    assert found.labels.shape == (4, ROWS)
    assert found.least.shape == found.most.shape == (1, 4, ROWS)
    for part in (found.labels, found.least[0], found.most[0]):
        assert np.array_equal(part[:2], part[2:])
    nothing = stacked([earlier], ["nothing"], ["nothing"], ROWS)
    assert nothing.labels.shape == (0, ROWS)
    assert nothing.least.shape == (1, 0, ROWS)


@pytest.mark.parametrize(
    ("least", "most", "fewest", "is_more"),
    [
        (NO_LEAST, 29, 2, False),  # the very cell
        (NO_LEAST, 27, 2, False),  # narrower before
        (NO_LEAST, NO_MOST, 2, True),  # nothing of the sum before
        (21, 29, 2, False),
        (NO_LEAST, NO_MOST, 9, False),  # nothing of the sum in either
    ],
)
def test_a_sum_in_a_narrower_cell_tells_more(least: int, most: int, fewest: int, is_more: bool) -> None:
    label, bins = np.zeros((1, 4), dtype=np.int64), np.array([0, 0, 1, 1])
    number = BinnedNumber(np.array([1, 2, 10, 11]), np.array([0, 10]), np.array([9, 19]), 5, 10, fewest)
    low, high = (np.where(bins == 0, *ends)[None] for ends in ((0, 10), (9, 19)))
    before = EarlierMargins(label, bins[None], low, high, np.full((1, 1, 4), least), np.full((1, 1, 4), most))
    assert tell_more(label, bins, [number], before) is is_more
    assert tell_more(label, bins, [number], before.of(np.arange(4))) is is_more


def test_bins_that_end_farther_in_tell_more() -> None:
    label, bins = np.zeros((1, 4), dtype=np.int64), np.array([0, 0, 1, 1])
    number = BinnedNumber(np.array([1, 2, 10, 11]), np.array([0, 10]), np.array([9, 19]), 5, 0)
    low, high = (np.where(bins == 0, *ends)[None] for ends in ((0, 10), (9, 21)))
    ends = np.full((1, 1, 4), NO_LEAST), np.full((1, 1, 4), NO_MOST)
    assert tell_more(label, bins, [number], EarlierMargins(label, bins[None], low, high, *ends))
    absent = np.full((1, 4), ABSENT)
    assert not tell_more(label, bins, [number], EarlierMargins(absent, bins[None], low, high, *ends))
