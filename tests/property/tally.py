"""Questions put to the gate and to DuckDB, and what came of them, construct by construct."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import sqlglot

from querygate.core.errors import Fault, Refusal
from querygate.core.types import Request
from querygate.gate.answer import answer
from querygate.sql.aggregates import is_aggregate, read_aggregate
from querygate.sql.parse import DIALECT
from tests.property.grammar import Question, Writer, fields_of
from tests.property.random_cases import RESEARCHER, Case, make_case
from tests.property.truth import define, differences


@dataclass
class Tally:
    """What came of some questions. `skipped` are those that DuckDB itself fails on: an overflow, a failed cast.
    `figures` are the ranges that were given, each with an estimate or a reason why there is none."""

    asked: int = 0
    answered: int = 0
    figures: int = 0
    skipped: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    written: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """Accepted questions among those that DuckDB has an answer to."""
        return (self.answered + self.skipped) / max(1, self.asked)

    def add(self, other: Tally) -> None:
        self.asked += other.asked
        self.answered += other.answered
        self.figures += other.figures
        self.skipped += other.skipped
        self.refused += other.refused
        self.wrong += other.wrong
        self.written += other.written
        self.accepted += other.accepted

    def try_(self, question: Question, case: Case) -> None:
        """Ask the gate, then DuckDB on the raw rows, and compare. A refusal has a code; anything else is wrong."""
        self.asked += 1
        found = constructs(question.sql)
        self.written.update(found)
        try:
            given = answer(Request(RESEARCHER, "t", question.sql), case.opened.gate)
        except Refusal as refusal:
            self.refused[refusal.code] += 1
            return
        except Fault as fault:
            self.wrong.append(f"{fault.detail}\n  {question.sql}")
            return
        self.accepted.update(found)
        try:
            rows = case.truth.execute(question.truth).fetchall()
        except duckdb.Error:
            self.skipped += 1
            return
        self.answered += 1
        self.figures += sum(len(group.estimates) for group in given.groups)
        self.wrong += [f"{text}\n  {question.sql}" for text in differences(given, rows, question.sql)]


def try_table(seed: int, folder: Path, wanted: int) -> Tally:
    """Questions about one random table until so many are answered, or twice as many refused."""
    tally = Tally()
    case = make_case(seed, folder)
    if case is None:
        return tally
    define(case.truth)
    writer = Writer(random.Random(seed), fields_of(case))
    while tally.answered < wanted and tally.asked < 3 * wanted:
        tally.try_(writer.question(), case)
    case.truth.close()
    tally.wrong = [f"table {seed}: {text}" for text in tally.wrong]
    return tally


def constructs(sql: str) -> set[str]:
    """The kinds of nodes and the aggregates of a statement; empty where it cannot be read."""
    try:
        tree = sqlglot.parse_one(sql, dialect=DIALECT)
    except sqlglot.ParseError:
        return set()
    found = {type(node).__name__ for node in tree.walk()}
    asked = (read_aggregate(node) for node in tree.walk() if is_aggregate(node))
    return found | {aggregate.name for aggregate in asked if aggregate is not None}
