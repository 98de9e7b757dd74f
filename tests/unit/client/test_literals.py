"""Values that are written into statements mean what they are, wherever a question mark stands."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pytest

from querygate.client.literals import write_value, write_values


@pytest.mark.parametrize(
    "value", [-5, -2.5, Decimal("-0.10"), np.float64(2.5), np.float32(-0.5), np.int64(-7), np.int8(3), 10**30, 1e-300]
)
def test_numbers_come_back_behind_a_minus_too(value: Any) -> None:
    statement = write_values("SELECT 40 -? AS x, ? AS y", (value, value))
    with duckdb.connect() as database:
        ((less, same),) = database.execute(statement).fetchall()
    assert (float(less), float(same)) == (float(40 - value), float(value))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity"), np.float64("nan")])
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        write_value(value)
