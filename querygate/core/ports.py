"""What the serving plane's inner layers need from the outer ones. Adapters and `control` implement these ports; one
root connects them. The ports for the custodian's jobs are in `vault_ports`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired, Protocol, TypedDict, Unpack

from querygate.core.answer_bodies import AnswerBody
from querygate.core.block import Block
from querygate.core.types import Catalog, SqlValue

Outcome = Literal["answered", "refused", "failed"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The resources that one statement may use."""

    timeout_s: float = 10.0
    memory_mb: int = 1024
    max_groups: int = 10_000
    max_sql_chars: int = 20_000
    max_nesting: int = 30
    max_answer_bytes: int = 8 * 2**20


@dataclass(frozen=True, slots=True)
class SqlReading:
    """Whether the database reads a statement as the gate does, and the character at which it stops, if it stops."""

    alike: bool
    position: int | None = None


@dataclass(frozen=True, slots=True)
class TabulatedValues:
    """Results of an expression, one for each value it was given, and their type."""

    type: str
    results: tuple[SqlValue, ...]


class Native(Protocol):
    """The database whose SQL the gate accepts, without any data: it parses texts and evaluates public values."""

    def read(self, sql: str, own: str) -> SqlReading:
        """Whether it reads the statement the same way as the gate's own wording of it."""
        ...

    def tabulate(self, text: str, kind: str, values: Sequence[SqlValue]) -> TabulatedValues:
        """What an expression over the column `x` makes of each value, in order; None stands for NULL."""
        ...

    def __hash__(self) -> int: ...


class PublishedVersion(Protocol):
    """One version of a dataset, open for reading."""

    @property
    def catalog(self) -> Catalog: ...

    def project(
        self,
        names: Collection[str],
        limits: Limits,
        moments: Collection[str] = (),
        margin: int | None = None,
        by_class: bool = False,
    ) -> Block:
        """The cells grouped by these columns: one aggregate read, in a fixed order.

        With `moments` (columns that have them, among the names) classes stay apart, and the block has their moments;
        with `by_class` they stay apart in any case.
        Of a version that is published as views, the cells of one margin by its place in the catalog, frame cells
        apart; columns that are not in it may have any value of their domain there.
        """
        ...


class InlineAuditor(Protocol):
    """Says before an answer whether it could, combined with earlier answers, reveal something about fewer than k
    records.

    It sees statements, the log, and what an attacker may know about people; never an answer and never a secret. The
    gate does not know how: the implementation may read the vault, which a gate may not.
    """

    def judge(self, query_id: str, catalog: Catalog, user: str, sql: str) -> bool:
        """Whether the answer could single people out. The result is logged when this returns.

        From now on the query counts as answered until it is settled.
        """
        ...

    def settle(self, query_id: str) -> None:
        """The query has ended. Whether it was answered is in the log."""
        ...


class Store(Protocol):
    """The published plane. No implementation of this port can open a vault."""

    def datasets(self) -> tuple[str, ...]:
        """The datasets that are served."""
        ...

    def versions(self, dataset: str) -> tuple[int, ...]: ...

    def current(self, dataset: str) -> PublishedVersion:
        """The version being served; NotPermitted QG303 if there is none, QG312 if the dataset was withdrawn;
        ConfigError QG804 if it cannot be opened.
        """
        ...


class AskedQuery(TypedDict):
    """What the log has about a question before it is answered."""

    user: str
    dataset: str
    version: int
    sql: str
    mode: str
    canonical_hash: str
    policy_hash: str
    method: NotRequired[int]  # see `gate/query_record.py`


class QueryLog(Protocol):
    """The append-only log, as the pipeline needs it. Each call returns once its entry is on disk."""

    def intend(self, query_id: str, **asked: Unpack[AskedQuery]) -> None:
        """Log a query before it is computed."""
        ...

    def repeat(self, query_id: str, answer: AnswerBody, **asked: Unpack[AskedQuery]) -> None:
        """Log a query with an answer that was computed before, both at once."""
        ...

    def conclude(
        self,
        query_id: str,
        outcome: Outcome,
        *,
        code: str | None = None,
        answer: AnswerBody | None = None,
        epsilon: float | None = None,
        user: str | None = None,
        dataset: str | None = None,
        version: int | None = None,
        sql: str | None = None,
        mode: str | None = None,
    ) -> None:
        """Log how a query ended, before anything is sent."""
        ...

    def note(
        self,
        kind: str,
        *,
        user: str | None,
        dataset: str | None = None,
        body: Mapping[str, object] | None = None,
        query_id: str | None = None,
    ) -> None:
        """Log something else."""
        ...
