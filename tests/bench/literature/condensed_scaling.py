"""Time to condense by the number of attributes, for Gal, Tucker, Gangopadhyay and Chen (2014).

They give O((m + I s) n m) for m attributes, n records, s clusters and I rounds of k-means: at most quadratic in m, and
nearer to linear as long as I s is large. Here 4,000 records, K = 50, with 10 to 320 attributes that are correlated; CPU
seconds of the process, and the exponent of their growth over the last doubling.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from querygate.methods.synthesis import Microdata, Variable, condense
from tests.bench.literature import figure

RECORDS, K = 4_000, 50
ATTRIBUTES = (10, 20, 40, 80, 160, 320)
AT_MOST = 2.0


def rows() -> list[dict[str, Any]]:
    spent = {number: _seconds(number) for number in ATTRIBUTES}
    lines = [figure(f"condensed, {number} attributes", s, "CPU s", "no seconds") for number, s in spent.items()]
    exponent = math.log2(spent[ATTRIBUTES[-1]] / spent[ATTRIBUTES[-2]])
    return [*lines, figure("condensed: exponent in attributes", exponent, "", "at most 2", met=exponent <= AT_MOST)]


def _seconds(attributes: int) -> float:
    random = np.random.default_rng(1)
    common = random.normal(size=RECORDS)
    columns = {
        f"x{i}": np.clip(common * (i % 3) + random.normal(size=RECORDS), -9.9, 9.9) for i in range(attributes - 2)
    }
    columns["time"] = np.clip(np.ceil(random.exponential(1000 * np.exp(-common / 4))), 1, 7000)
    variables = (
        *(Variable(f"x{i}", "number", -10, 10) for i in range(attributes - 2)),
        Variable("time", "integer", 1, 7000),
    )
    data = Microdata((*variables, Variable("status", "boolean")), columns | {"status": (common > 0).astype(np.int64)})
    began = time.process_time()
    made = condense(data, K, response="time", status="status", rng=np.random.default_rng(2))
    spent = time.process_time() - began
    assert int(np.bincount(made.labels).min()) >= K
    return spent
