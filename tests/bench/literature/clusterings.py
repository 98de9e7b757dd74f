"""Ways to make classes that the tutorial names beside Mondrian, on 3,000 records of Adult, k = 10: what they lose.

Xu et al. (KDD 2006) report less loss for both clusterings than for Mondrian; Aggarwal et al. (PODS 2006) promise a
radius of at most twice the least; Iwuchukwu and Naughton (VLDB 2007) report R-trees at least as good as Mondrian. Our
Mondrian tries every cut by the loss of all attributes, which the Mondrian of those papers does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from querygate.methods.anonymise import ANONYMISERS, ncp
from querygate.methods.anonymise.clusters import gather
from tests.bench.literature import figure
from tests.unit.methods.anonymise.test_clustering import some_adults
from tests.unit.methods.anonymise.test_spatial import radius

K = 10
PUBLISHED = {
    "mondrian": "more than clusterings (a curve)",
    "bottom-up": "least of three (a curve)",
    "top-down": "between (a curve)",
    "top-down-greedy": "between (a curve)",
    "r-tree": "about as Mondrian (a curve)",
    "gather": "none: it is made for the radius",
}


def rows() -> list[dict[str, Any]]:
    table = some_adults(3000)
    lost = {name: 100 * ncp(table, ANONYMISERS.get(name)(table, K)) for name in PUBLISHED}
    lines = [figure(f"Adult, NCP of {name}", lost[name], "%", PUBLISHED[name]) for name in PUBLISHED]
    small = some_adults(1000)
    apart = gather.distances(small.attributes)
    reach = {name: radius(apart, ANONYMISERS.get(name)(small, K)) for name in ("mondrian", "gather")}
    least = float(np.sort(apart, axis=1)[:, K - 1].max()) / 2  # every cluster has k within twice its radius
    ratio = float(reach["gather"] / least)
    lines.append(
        figure("Adult, radius of gather over a lower bound of the best", ratio, "", "at most 2", met=ratio <= 2)
    )
    lines.append(figure("Adult, radius of mondrian over the same", float(reach["mondrian"] / least), "", "no bound"))
    return lines
