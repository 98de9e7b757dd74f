"""Every margin of a version of views, read back as it was written, has all records, in classes of k."""

from __future__ import annotations

import numpy as np

from querygate.core.errors import ConfigError
from querygate.custody.policy import Policy
from querygate.custody.verify.verify import Measurement, Written


def check_totals(written: Written, policy: Policy, rows: int) -> Measurement:
    """Counts of what was written; ConfigError QG803 where a record is missing or counted twice."""
    catalog = written.catalog()
    cells = written.cells([])
    margin, label, n = (np.asarray(cells[name], dtype=np.int64) for name in ("margin", "class", "n"))
    by_margin = np.bincount(margin, n, len(catalog.margins))
    sizes = np.bincount(label, n).astype(np.int64)
    holds = (
        bool((by_margin == rows).all())
        and bool((n > 0).all())
        and bool((sizes[label] == cells["class_n"]).all())
        and int(sizes.min()) >= policy.k
    )
    if not holds:
        raise ConfigError(
            "QG803",
            "The verifier found that the release would break a promise: every record is counted once in each margin, "
            f"in classes of k = {policy.k}.",
            "Nothing was published. This is a fault of the anonymiser; please report it with the policy.",
        )
    return Measurement(int(sizes.min()), int(sizes.max()))
