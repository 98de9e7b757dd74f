"""The gate that a command asks, where it is elsewhere (`--url`): over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from querygate.cli.shared.asked_gate import AskedGate, GivenAnswer
from querygate.client.answer import Answer
from querygate.client.client import Client
from querygate.control.log.query_entries import QueryLine
from querygate.control.saved.saved_queries import SavedQuery
from querygate.core.answer_bodies import AnswerBody, DatasetBody, DescriptionBody, Verdict
from querygate.core.types import QueryOptions
from querygate.gate.twin import TwinWish


def open_elsewhere(url: str, key: str) -> AskedGate:
    """The gate at an address, asked with a key."""
    return _GateElsewhere(Client(url, key))


class _GateElsewhere:
    """A gate over HTTP."""

    def __init__(self, client: Client) -> None:
        self._client, self.place = client, client.url

    def ask(self, dataset: str, sql: str, options: QueryOptions) -> GivenAnswer:
        asked = {"mode": options.mode, "epsilon": options.epsilon}
        more = {"consistent": options.consistent, "explain": options.explain}
        return _told(self._client.query(sql, dataset, **asked, **more))  # type: ignore[arg-type]

    def check(self, dataset: str, sql: str, options: QueryOptions) -> Verdict:
        found = self._client.check(sql, dataset, mode=options.mode, epsilon=options.epsilon, explain=options.explain)
        return cast(Verdict, found)

    def datasets(self) -> Sequence[DatasetBody]:
        return cast(Sequence[DatasetBody], self._client.datasets())

    def describe(self, dataset: str) -> DescriptionBody:
        return cast(DescriptionBody, self._client.describe(dataset))

    def answer(self, answer_id: str) -> GivenAnswer:
        return _told(self._client.answer(answer_id))

    def history(self, dataset: str | None, limit: int) -> Sequence[QueryLine]:
        return cast(Sequence[QueryLine], self._client.history(dataset, limit))

    def saved(self, *, shared: bool) -> Sequence[SavedQuery]:
        return [SavedQuery(**one) for one in self._client.saved(shared=shared)]

    def twin(self, wish: TwinWish, form: str) -> bytes:
        return self._client.twin(wish.dataset, wish.rows, wish.seed, form)


def _told(answer: Answer) -> GivenAnswer:
    return GivenAnswer(cast(AnswerBody, answer.body), answer.policy_hash)
