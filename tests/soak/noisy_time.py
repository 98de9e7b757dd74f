"""An attack by time, with a real clock: forty people, of each of whom the time of one answer should tell a secret.

The statement is dear for one person if a pressure is high. The attacker takes the slower half of the answers for the
high ones; half of such guesses are right by chance.
"""

from __future__ import annotations

import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from querygate.core.types import QueryOptions
from querygate.gate.answer import ask
from tests.attack.dear_statements import HIGH, LOW, dear, make_site
from tests.report import row

AGES = range(50, 90)
BY_CHANCE = 30
"""Right guesses of forty that chance exceeds once in a thousand times."""


def run() -> list[dict[str, Any]]:
    high = set(random.Random(11).sample(AGES, len(AGES) // 2))
    with tempfile.TemporaryDirectory() as folder:
        site = make_site(Path(folder), {age: HIGH if age in high else LOW for age in AGES}, 5_000)
        taken = {}
        for age in AGES:
            request = replace(site.request(dear("abcdefgh", age)), options=QueryOptions("laplace", epsilon=0.01))
            began = time.perf_counter()
            ask(request, site.opened.gate)
            taken[age] = time.perf_counter() - began
    slow = set(sorted(AGES, key=taken.__getitem__)[len(AGES) // 2 :])
    right = sum((age in slow) == (age in high) for age in AGES)
    told = f"answers took {min(taken.values()):.3f} to {max(taken.values()):.3f} s"
    return [row("secrets told by time", right, "of 40", told, target=BY_CHANCE, met=right <= BY_CHANCE)]
