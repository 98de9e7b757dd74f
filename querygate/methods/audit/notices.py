"""Signs that isolate nobody, reported so that somebody looks: severity *notice*.

averaging  one person asks for the same number again and again, in whatever words; noise would be averaged out   (T1)
group      all of a set that was shown, or none, have a secret: whoever belongs to it is told about               (T7)
dominance  of a sum, the second largest contributor knows the largest to within ten per cent (the p% rule)        (T7)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.audit.totals import PRESENCE, Finding, Kind, QueryTotal

REPEATS = 5
PERCENT = 10

Contributions = Mapping[str, tuple[Floats, Floats, Floats]]
"""By measure, of each place, whatever their signs: the sum, the largest and the second largest value."""


def notices(
    totals: Sequence[QueryTotal], weights: Mapping[str, Ints], k: int, contributions: Contributions | None = None
) -> list[Finding]:
    """All signs of a log, each set once."""
    large = [total for total in totals if int(_weights(total, weights)[total.members].sum()) >= k]
    return [
        *_repeats(large, weights),
        *_groups(large, weights),
        *_dominated(large, weights, contributions or {}),
    ]


def _weights(total: QueryTotal, weights: Mapping[str, Ints]) -> Ints:
    return weights.get(total.measure, weights[total.system])


def _notice(kind: Kind, totals: Sequence[QueryTotal], weights: Mapping[str, Ints], note: str) -> Finding:
    first = totals[0]
    queries = tuple(dict.fromkeys(total.query for total in totals))
    users = tuple(dict.fromkeys(total.user for total in totals))
    records = int(_weights(first, weights)[first.members].sum())
    view = users[0] if len(users) == 1 else ""
    return Finding(kind, "notice", queries, users, records, first.members, (), (), view, (), note)


def _repeats(totals: Sequence[QueryTotal], weights: Mapping[str, Ints]) -> Iterator[Finding]:
    """The same set by the same person; one notice whatever the number of measures."""
    asked: dict[tuple[str, Hashable], dict[str, list[QueryTotal]]] = {}
    for total in totals:
        of_set = asked.setdefault((total.user, tuple(members for _, members in total.mark)), {})
        of_set.setdefault(f"{total.system} {total.measure} {total.extreme}", []).append(total)
    for by_measure in asked.values():
        often = max(by_measure.values(), key=len)
        if len({total.query for total in often}) >= REPEATS:
            number = len({total.query for total in often})
            note = f"{often[0].measure} of the same records was queried {number} times."
            yield _notice("averaging", often, weights, note)


def _groups(totals: Sequence[QueryTotal], weights: Mapping[str, Ints]) -> Iterator[Finding]:
    """Counts of a secret that are zero, or as many as there are records."""
    told: dict[tuple[str, Hashable], list[QueryTotal]] = {}
    for total in totals:
        if _is_count_of_secret(total) and total.low is not None and total.low == total.high:
            records = int(_weights(total, weights)[total.members].sum())
            if total.low in (0, records):
                told.setdefault((total.measure, total.mark), []).append(total)
    for same in told.values():
        who = "None" if same[0].low == 0 else "All"
        yield _notice("group", same, weights, f"{who} of the selected records have: {same[0].measure}.")


def _is_count_of_secret(total: QueryTotal) -> bool:
    """One secret condition, counted where the sizes of sets are known."""
    if total.extreme or total.measure == PRESENCE or not total.base or len(total.parts) != 1:
        return False
    return total.counted and set(total.parts[0][0]) <= {0, 1}


def _dominated(
    totals: Sequence[QueryTotal], weights: Mapping[str, Ints], contributions: Contributions
) -> Iterator[Finding]:
    told: dict[tuple[str, Hashable], list[QueryTotal]] = {}
    for total in totals:
        if not total.extreme and total.measure in contributions:
            told.setdefault((total.measure, total.mark), []).append(total)
    for (measure, _), same in told.items():
        whole, largest, second = (part[same[0].members] for part in contributions[measure])
        first, next_ = np.sort(np.concatenate([largest, second]))[:-3:-1].tolist()
        if first > 0 and np.isfinite(whole).all():
            share = 1 / float((whole / first).sum())  # each is some records times the largest at most: no overflow
            if 1 / share - 1 - next_ / first < PERCENT / 100:
                yield _notice("dominance", same, weights, f"One record makes up {share:.0%} of the sum of {measure}.")
