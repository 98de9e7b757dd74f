"""Answers that were given, to be given again to the same text: whoever asks the same again gets the same at once.

They are found by the text as it was sent, never by what it means: names, the order of columns and ORDER BY are the
text's own. The version and its policy are part of what an answer is found by, so that a new version is never answered
from an old one. Whether somebody may ask is decided before anybody looks here.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection

from querygate.core.answer_bodies import AnswerBody
from querygate.core.frozen_classes import frozen
from querygate.core.types import Answer, QueryOptions
from querygate.gate.likely_values import TOO_LONG

OBJECTS = 6
"""So many times the length of its JSON an answer takes in memory, at most."""

OVERHEAD = 2048
"""What one more answer takes, however short it is."""


@frozen
class AnswerKey:
    """Two questions with the same have the same answer. `user` is whom it was given to: nobody learns by how fast an
    answer comes what others have asked. `published`: the versions of a site that is made anew begin with one again."""

    user: str
    dataset: str
    version: int
    published: str
    policy_hash: str
    sql: str
    mode: str
    options: QueryOptions


@frozen
class KeptAnswer:
    """An answer, and the hash of what its question means, for the log."""

    body: AnswerBody
    meaning: str
    json_bytes: int


def is_lasting(answer: Answer, passing: Collection[str]) -> bool:
    """Would the same question get the same answer again? Not with a note of those that pass, or where there was no time
    for an estimate."""
    estimates = (estimate for group in answer.groups for estimate in group.estimates)
    return not set(passing).intersection(answer.notes) and all(each.note != TOO_LONG for each in estimates)


class KeptAnswers:
    """The answers of one process; the least recently used make room. Nothing is kept where `most_bytes` is 0."""

    def __init__(self, most_bytes: int = 0) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[AnswerKey, KeptAnswer] = OrderedDict()
        self._lock = threading.Lock()
        self.held_bytes = 0

    def get(self, key: AnswerKey) -> KeptAnswer | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: AnswerKey, answer: KeptAnswer) -> None:
        size = _size(key, answer)
        if size > self._most_bytes:
            return
        with self._lock:
            known = self._kept.pop(key, None)
            self.held_bytes += size - (0 if known is None else _size(key, known))
            self._kept[key] = answer
            while self.held_bytes > self._most_bytes:
                self.held_bytes -= _size(*self._kept.popitem(last=False))


def _size(key: AnswerKey, answer: KeptAnswer) -> int:
    return OVERHEAD + 4 * len(key.sql) + OBJECTS * answer.json_bytes
