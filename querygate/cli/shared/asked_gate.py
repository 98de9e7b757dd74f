"""The gate that a command asks: the one of the site in a folder, or one elsewhere (`--url`). Both give the same bodies,
so that a command prints the same of either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import click

from querygate.cli.shared.actor import acting, find_principal, presented_key
from querygate.cli.shared.output import tell_problem
from querygate.cli.shared.shared_options import open_here
from querygate.control.log.query_entries import QueryLine
from querygate.control.saved.saved_queries import SavedQuery
from querygate.core.answer_bodies import AnswerBody, DatasetBody, DescriptionBody, Verdict
from querygate.core.errors import NotPermitted
from querygate.core.types import Principal, QueryOptions, Request
from querygate.gate.answer import ask
from querygate.gate.dataset_list import make_summary, served_catalogs
from querygate.gate.description import describe_version
from querygate.gate.dry_run import check
from querygate.gate.grant_check import check_known, known_datasets
from querygate.site.open_gate import OpenSite
from querygate.site.saved_work import SavedWork

if TYPE_CHECKING:
    from querygate.gate.twin import TwinWish


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer, and the hash of the policy that it was given under."""

    body: AnswerBody
    policy_hash: str | None


class AskedGate(Protocol):
    """What commands ask of a gate."""

    place: str
    """Where it is, as a manifest or a citation may name it; "" for a folder of this machine."""

    def ask(self, dataset: str, sql: str, options: QueryOptions) -> GivenAnswer: ...
    def check(self, dataset: str, sql: str, options: QueryOptions) -> Verdict: ...
    def datasets(self) -> Sequence[DatasetBody]: ...
    def describe(self, dataset: str) -> DescriptionBody: ...
    def answer(self, answer_id: str) -> GivenAnswer: ...
    def history(self, dataset: str | None, limit: int) -> Sequence[QueryLine]: ...
    def saved(self, *, shared: bool) -> Sequence[SavedQuery]: ...
    def twin(self, wish: TwinWish, form: str) -> bytes: ...


def asked_gate(site: Path, name: str | None = None, *, noisy: bool = False) -> AskedGate:
    """The gate that the command line names; asked as this user of the site, if one is named. `noisy`: with the raw rows
    that noise is added to, where the site has them."""
    context = click.get_current_context()
    url = context.find_root().params.get("url")
    if url is None:
        opened = open_here(site)
        if noisy:
            opened = import_module("querygate.custody.use_cases.open_custody").with_vault(opened)
        return _GateHere(opened, find_principal(opened, name))
    if name is not None:
        raise click.UsageError("A key says who you are: leave out --as.")
    elsewhere = import_module("querygate.cli.shared.gate_elsewhere")  # with all that HTTP needs, which is slow to load
    return cast(AskedGate, elsewhere.open_elsewhere(url, presented_key(context) or ""))


class _GateHere:
    """The site of a folder."""

    place = ""

    def __init__(self, opened: OpenSite, principal: Principal) -> None:
        self._opened, self._gate, self._principal = opened, opened.gate, principal

    def ask(self, dataset: str, sql: str, options: QueryOptions) -> GivenAnswer:
        return self._given(ask(Request(self._principal, dataset, sql, options), self._gate))

    def _given(self, body: AnswerBody) -> GivenAnswer:
        return GivenAnswer(body, self._opened.log.policy_hash(body["query_id"]))

    def check(self, dataset: str, sql: str, options: QueryOptions) -> Verdict:
        return check(Request(self._principal, dataset, sql, options), self._gate)

    def datasets(self) -> Sequence[DatasetBody]:
        known = known_datasets(acting(), self._opened.store.datasets(), self._opened.grants)
        return list(map(make_summary, served_catalogs(self._opened.store, broken=tell_problem, among=known)))

    def describe(self, dataset: str) -> DescriptionBody:
        check_known(acting(), dataset, self._gate.grants)
        return describe_version(
            self._opened.store.current(dataset), self._gate.native, self._gate.limits, self._gate.clock_s
        )

    def answer(self, answer_id: str) -> GivenAnswer:
        found = self._opened.log.answer(answer_id)
        if found is None or not (self._principal.role == "console" or self._principal.name == found[0]):
            raise NotPermitted(
                "QG304", "There is no answer with this id, or you may not see it.", "Send the query again."
            )
        return self._given(found[1])

    def history(self, dataset: str | None, limit: int) -> Sequence[QueryLine]:
        return list(self._opened.log.queries(user=self._principal.name, dataset=dataset, limit=limit))[::-1]

    def saved(self, *, shared: bool) -> Sequence[SavedQuery]:
        work = SavedWork(self._opened)
        return work.shared(self._principal) if shared else work.own(self._principal)

    def twin(self, wish: TwinWish, form: str) -> bytes:
        twin = import_module("querygate.gate.twin")  # with pyarrow, which is slow to load
        return cast(bytes, twin.TWIN_FORMATS[form][1](twin.write_twin(wish, self._principal, self._gate)))
