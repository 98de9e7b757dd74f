"""Order and limits over whole numbers that doubles cannot tell apart."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from querygate.core.plan import Order
from querygate.core.types import Group, Principal, Range, Request
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer
from querygate.gate.order_and_limit import arrange, term_of_keys
from querygate.site.open_gate import open_gate
from tests.empty_site import empty_site
from tests.engine import scratch
from tests.policies import make_policy, public, quasi, sensitive
from tests.unit.plans import category_key, make_plan


def test_neighbours_beyond_two_to_the_53_are_not_tied() -> None:
    plan = make_plan(keys=[category_key("g", ("a", "b", "c"))], orders=(Order(1, True, False),), limit=1)
    groups = tuple(
        Group((key,), (Range.exact(value),), Range.exact(3), certain=True)
        for key, value in (("a", 2**61 + 5), ("b", 2**61 + 6), ("c", 2**61 + 4))
    )
    shown, notes = arrange(groups, plan)
    assert [(group.keys, group.certain) for group in shown] == [(("b",), True)]
    assert notes == ()


def test_shares_of_sums_that_are_no_doubles_are_rounded_as_the_database_rounds(tmp_path: Path) -> None:
    """The part is the whole, and a hundred times the one over the other is not 100 there."""
    large = [2**53 + 1, 2**54 - 1, 2**52, 2**53 + 3, 2**53 + 9]
    rows = pa.table({"sex": ["F"] * 10, "x": pa.array(large * 2, pa.int64())})
    source = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(rows, source)
    columns = {"sex": quasi("category", values=["F"]), "x": sensitive("integer", (2**52, 2**54))}
    opened = open_gate(empty_site(tmp_path / "site"))
    publish_to(opened, make_policy("t", columns, k=2).parsed(), str(source), user="custodian")
    sql = "SELECT SUM(x) * 100 / NULLIF(SUM(SUM(x)) OVER (PARTITION BY sex), 0) AS share FROM t GROUP BY sex"
    (truth,) = scratch().execute(sql.replace("FROM t", "FROM rows")).fetchone() or ()
    ((found,),) = [
        group.ranges for group in answer(Request(Principal("ann", "researcher"), "t", sql), opened.gate).groups
    ]
    assert truth != 100
    assert found.low <= truth <= found.high


def test_keys_beyond_two_to_the_53_keep_their_order() -> None:
    keys = [2**61 + i for i in (5, -7, 6, 0, 4)]
    found = term_of_keys(keys, descending=False, nulls_first=False)
    assert sorted(keys) == [key for _, key in sorted(zip(found.low.tolist(), keys, strict=True))]
    assert found.low.tolist() == found.high.tolist()


def test_different_whole_numbers_may_be_one_double(tmp_path: Path) -> None:
    """The database takes a deviation of different doubles, of which there is one here."""
    rows = pa.table({"sex": ["F", "M"] * 5, "x": pa.array([2**60 + i for i in range(10)], pa.int64())})
    source = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(rows, source)
    columns = {"sex": quasi("category", values=["F", "M"]), "x": public("integer", (2**60, 2**60 + 9))}
    opened = open_gate(empty_site(tmp_path / "site"))
    publish_to(opened, make_policy("t", columns, k=2).parsed(), str(source), user="custodian")
    for name, null in (("STDDEV_SAMP", True), ("SUM", False)):
        sql = f"SELECT {name}(DISTINCT x) AS one FROM t"
        (truth,) = scratch().execute(sql.replace("FROM t", "FROM rows")).fetchone() or ()
        ((found,),) = [
            group.ranges for group in answer(Request(Principal("ann", "researcher"), "t", sql), opened.gate).groups
        ]
        assert (truth is None) is null
        assert found.may_be_null if null else found.low <= truth <= found.high
