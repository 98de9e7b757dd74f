"""Explanations of random statements about random tables: causes add up, and suggestions are as wide as they say."""

from __future__ import annotations

import math
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from querygate.core.errors import Fault, Refusal
from querygate.core.types import QueryOptions, Request
from querygate.gate.answer import answer, ask
from querygate.gate.widths import mean_widths
from tests.property.grammar import Writer, fields_of
from tests.property.random_cases import RESEARCHER, Case, make_case, random_query
from tests.property.view_cases import view_case
from tests.report import row

TABLES, STATEMENTS = 120, 40
FIRST_SEED = 8_000_000


def run() -> list[dict[str, Any]]:
    tally: Counter[str] = Counter()
    for seed in range(FIRST_SEED, FIRST_SEED + TABLES):
        with tempfile.TemporaryDirectory() as folder:
            case = (view_case if seed % 2 else make_case)(seed, Path(folder))
            if case is not None:
                _explain_many(case, random.Random(seed), tally)
    wrong = tally["fault"] + tally["causes"] + tally["width"]
    return [
        row("explain: statements explained", tally["explained"], "", f"{tally['wide']:,} wide"),
        row("explain: wrong", wrong, "of", f"{tally['explained']:,}", target=0, met=not wrong),
        row("explain: first suggestion five times narrower", tally["sharp"], "of", f"{tally['wide']:,} wide"),
    ]


def _explain_many(case: Case, rng: random.Random, tally: Counter[str]) -> None:
    writer = Writer(rng, fields_of(case))
    for turn in range(STATEMENTS):
        sql = random_query(rng, case) if turn % 3 else writer.question().sql
        request = Request(RESEARCHER, case.policy.dataset, sql, QueryOptions(explain=True))
        try:
            told = ask(request, case.opened.gate)["explanation"]
        except Refusal:
            continue
        except Fault:
            print(f"fault: {sql}")
            tally["fault"] += 1
            continue
        tally["explained"] += 1
        tally["wide"] += any(column["causes"] for column in told["columns"])
        for column in told["columns"]:
            parts = [float(cause["width"]) for cause in column["causes"]]
            if not math.isclose(sum(parts), float(column["width"]), rel_tol=1e-3):
                print(f"causes: {sql}: {column}")
                tally["causes"] += 1
        suggestions = told["suggestions"]
        tally["sharp"] += bool(suggestions) and (suggestions[0]["narrower"] or math.inf) >= 5
        for suggestion in suggestions:
            found = mean_widths(answer(Request(RESEARCHER, case.policy.dataset, suggestion["sql"]), case.opened.gate))
            widths = map(float, suggestion["widths"].values())
            if not all(math.isclose(*pair, rel_tol=1e-4) for pair in zip(found, widths, strict=True)):
                print(f"width: {sql}: {suggestion['sql']}")
                tally["width"] += 1
