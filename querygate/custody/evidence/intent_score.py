"""The intent score: who behaves like somebody who is probing. From texts, meanings and refusals; never from answers.

Points, counted by the hour:

    refusal          1    of any kind, and 5 if it was for disclosure (QG5xx)
    near duplicate   1    differs from an earlier statement of the user in one constant alone
    rewording        2    another text of the same meaning (equal canonical hash)
    rare condition   3    at most one class of the store can be concerned

The score of a user is that of the busiest hour. From 20 it is raised, from 60 high. A score is only a reason to look
and to talk: analysts slide windows and mistype too. It refuses nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, TypedDict

REFUSED, DISCLOSING, NEAR, REWORDED, RARE = 1, 5, 1, 2, 3
RAISED, HIGH = 20, 60

_CONSTANT = re.compile(r"'(?:[^']|'')*'|(?<![\w.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


@dataclass(slots=True)
class Intent:
    """One user's activity, with the points of each hour."""

    user: str
    queries: int = 0
    refusals: int = 0
    disclosing: int = 0
    near: int = 0
    rewordings: int = 0
    rare: int = 0
    hours: Counter[str] = field(default_factory=Counter)

    @property
    def score(self) -> int:
        return max(self.hours.values(), default=0)

    @property
    def busiest(self) -> str:
        return max(self.hours, key=lambda hour: (self.hours[hour], hour), default="")

    @property
    def level(self) -> Literal["low", "raised", "high"]:
        return "high" if self.score >= HIGH else "raised" if self.score >= RAISED else "low"


class ScoredQuery(TypedDict):
    """The parts of a logged query that are used; `code` is that of a refusal."""

    user: str
    time: str
    dataset: str | None
    version: int | None
    sql: str
    code: str | None
    canonical_hash: str | None


def score_users(
    entries: Iterable[ScoredQuery], is_rare: Callable[[ScoredQuery], bool] = lambda entry: False
) -> list[Intent]:
    """Entries have user, time, dataset, sql, code and canonical_hash (both may be None), in the order of time.

    `is_rare` says whether a readable statement concerns at most one class.
    """
    users: dict[str, Intent] = {}
    seen: defaultdict[str, _Seen] = defaultdict(_Seen)
    for entry in entries:
        one = users.setdefault(entry["user"], Intent(entry["user"]))
        said = seen[entry["user"]]
        one.queries += 1
        points = 0
        if entry["code"]:
            disclosing = entry["code"].startswith("QG5")
            one.refusals, one.disclosing = one.refusals + 1, one.disclosing + disclosing
            points += DISCLOSING if disclosing else REFUSED
        if said.is_near(entry["dataset"], entry["sql"]):
            one.near, points = one.near + 1, points + NEAR
        if entry["canonical_hash"] and said.is_rewording(entry["canonical_hash"], entry["sql"]):
            one.rewordings, points = one.rewordings + 1, points + REWORDED
        if entry["canonical_hash"] and is_rare(entry):
            one.rare, points = one.rare + 1, points + RARE
        one.hours[entry["time"][:13]] += points
    return sorted(users.values(), key=lambda one: (-one.score, one.user))


def parted(sql: str) -> tuple[str, tuple[str, ...]]:
    """A statement, divided into its form and its constants.

    >>> parted("SELECT COUNT(*) FROM t WHERE age < 51 AND ward = 'B1'")
    ('SELECT COUNT(*) FROM t WHERE age < ? AND ward = ?', ('51', "'B1'"))
    """
    return " ".join(_CONSTANT.sub("?", sql).split()), tuple(_CONSTANT.findall(sql))


class _Seen:
    """A user's earlier questions."""

    def __init__(self) -> None:
        self._texts: defaultdict[str, set[str]] = defaultdict(set)
        self._constants: dict[tuple[str | None, str, int, tuple[str, ...]], set[str]] = {}

    def is_rewording(self, meaning: str, sql: str) -> bool:
        texts = self._texts[meaning]
        new = bool(texts) and sql not in texts
        texts.add(sql)
        return new

    def is_near(self, dataset: str | None, sql: str) -> bool:
        """Is there an earlier statement that differs only in one constant?"""
        form, constants = parted(sql)
        near = again = False
        for place, constant in enumerate(constants):
            others = (*constants[:place], *constants[place + 1 :])
            held = self._constants.setdefault((dataset, form, place, others), set())
            again = again or constant in held
            near = near or bool(held - {constant})
            held.add(constant)
        return near and not again
