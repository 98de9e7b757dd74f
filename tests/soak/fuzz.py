"""SQL that nobody would write, for ten minutes: nothing but an answer or a coded refusal may come of it.

Statements of the corpus are cut, spliced, repeated and changed byte by byte, and trees are grafted onto each other and
written out in other dialects. What is accepted is carried out too. No exception escapes, nothing takes longer than its
limit, and memory stays where it was. The environment variable SOAK_LIMIT_S is the time, in seconds, and SOAK_SEED a
number that makes it other statements.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp

from querygate.core.errors import Refusal
from querygate.sql import understand
from tests.report import row
from tests.sql.study import AXIS_ROWS, CATALOG, NATIVE, samples
from tests.unit.sql.plan_reference import carry_out, exact_block

LIMIT_S = 600.0
SLOWEST_S = 10.0
GROWTH_MB = 300.0
WARM = 2_000
DIALECTS = ("duckdb", "postgres", "mysql", "tsql", "spark", "sqlite", "bigquery", "snowflake")
ALPHABET = "abcxyz019 ()[]{}'\"`,.;:*+-/%<>=!|&^~@#$\\?_\n\t\x00\u00e9\u200b"


@dataclass
class Found:
    """What one process saw."""

    tried: int = 0
    answered: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    escaped: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)
    growth_mb: float = 0.0


def run() -> list[dict[str, Any]]:
    limit, first = float(os.environ.get("SOAK_LIMIT_S", LIMIT_S)), int(os.environ.get("SOAK_SEED", "0"))
    cores = os.cpu_count() or 1
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        parts = pool.starmap(fuzz, [(seed, limit) for seed in range(first, first + cores)])
    tried = sum(part.tried for part in parts)
    for text in [text for part in parts for text in (*part.escaped, *part.slow)][:20]:
        print(text)
    refused = sum((part.refused for part in parts), Counter())
    print(f"answered {sum(part.answered for part in parts):,}, refused {dict(refused.most_common())}")
    escaped, slow = (sum(len(getattr(part, name)) for part in parts) for name in ("escaped", "slow"))
    growth = max(part.growth_mb for part in parts)
    return [
        row("fuzz: statements", tried, "", f"in {limit:.0f} s on {cores} cores"),
        row("fuzz: escaped exceptions", escaped, "of", f"{tried:,}", target=0, met=not escaped),
        row(f"fuzz: over {SLOWEST_S:.0f} s", slow, "of", f"{tried:,}", target=0, met=not slow),
        row("fuzz: growth of memory", growth, "MB", f"after {WARM:,} statements", target=GROWTH_MB,
            met=growth <= GROWTH_MB),
    ]  # fmt: skip


def fuzz(seed: int, limit: float) -> Found:
    """Try statements until the time is over."""
    rng, found, began = random.Random(seed), Found(), time.monotonic()
    texts = [sample.sql for folder in ("accepted", "refused", "rewritten") for sample in samples(folder)]
    block, warm_mb = exact_block(AXIS_ROWS, CATALOG), 0.0
    while time.monotonic() - began < limit:
        sql = rng.choice(WAYS)(rng, texts)
        started = time.monotonic()
        try:
            carry_out(understand(sql, CATALOG, NATIVE), block)
            found.answered += 1
        except Refusal as refusal:
            found.refused[refusal.code] += 1
        except Exception as wrong:
            found.escaped.append(f"{wrong!r}\n  {sql!r}")
        found.tried += 1
        if time.monotonic() - started > SLOWEST_S:
            found.slow.append(f"{time.monotonic() - started:.1f} s\n  {sql!r}")
        if found.tried == WARM:
            warm_mb = _memory_mb()
    found.growth_mb = _memory_mb() - warm_mb if warm_mb else 0.0
    return found


def _memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# -- ways to spoil a statement -------------------------------------------------------------------------------------


def _bytes(rng: random.Random, texts: list[str]) -> str:
    """A few characters inserted, dropped, changed or swapped."""
    text = list(rng.choice(texts))
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(4):
            case 0:
                text.insert(at, rng.choice(ALPHABET))
            case 1:
                del text[at : at + rng.randint(1, 8)]
            case 2:
                text[at : at + 1] = rng.choice(ALPHABET)
            case _:
                text[at:at] = text[rng.randrange(len(text) + 1) :][: rng.randint(1, 30)]
    return "".join(text)


def _splice(rng: random.Random, texts: list[str]) -> str:
    one, two = rng.choice(texts), rng.choice(texts)
    return one[: rng.randrange(len(one) + 1)] + two[rng.randrange(len(two) + 1) :]


def _repeat(rng: random.Random, texts: list[str]) -> str:
    """A piece many times over: long lists, deep brackets."""
    text = rng.choice(texts)
    at, size = rng.randrange(len(text) + 1), rng.randint(1, 12)
    return text[:at] + text[at : at + size] * rng.choice([3, 30, 300]) + text[at + size :]


def _graft(rng: random.Random, texts: list[str]) -> str:
    """A part of one tree in place of a part of another, written in some dialect."""
    trees = [_tree(rng.choice(texts)) for _ in range(2)]
    if trees[0] is None or trees[1] is None:
        return _splice(rng, texts)
    places = [node for node in trees[0].walk() if node.parent is not None]
    if places:
        rng.choice(places).replace(rng.choice(list(trees[1].walk())).copy())
    try:
        return trees[0].sql(dialect=rng.choice(DIALECTS))
    except Exception:
        return _bytes(rng, texts)


def _tree(text: str) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(text, dialect="duckdb")
    except Exception:
        return None


WAYS: tuple[Callable[[random.Random, list[str]], str], ...] = (_bytes, _bytes, _splice, _repeat, _graft, _graft)
