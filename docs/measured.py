"""Write measured tables of the pages from the rows of a benchmark: `make bench ONLY=codes`, then run this.

A table stands between `<!-- measured: NAME -->` and `<!-- /measured -->`. It is rewritten if build/bench.json has all
rows it needs; otherwise it stays as it is.

Run: python docs/measured.py [build/bench.json]
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
BENCH = DOCS.parent / "build" / "bench.json"
END = "<!-- /measured -->"

Row = dict[str, Any]


class Rows:
    """Rows of a benchmark by name. KeyError where one was not measured."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = {row["name"]: row for row in rows}

    def value(self, name: str) -> float:
        return float(self._rows[name]["value"])

    def noted(self, name: str) -> float:
        """The number in the note of a row, such as 1435 of `1435 codes`."""
        return float(re.findall(r"[\d.]+(?:e[+-]?\d+)?", self._rows[name]["against"])[-1])


Line = Callable[[Rows], list[str]]


@dataclass(frozen=True)
class Table:
    """A table of a page: its heading, and how each line is made of rows."""

    page: str
    name: str
    heading: tuple[str, ...]
    lines: tuple[Line, ...]

    def text(self, rows: Rows) -> str:
        rule = "|---" * len(self.heading) + "|"
        return "\n".join([written(self.heading), rule, *(written(line(rows)) for line in self.lines)]) + "\n"

    def write(self, rows: Rows) -> bool:
        """Whether the rows were there; the page then has the table."""
        try:
            table = self.text(rows)
        except KeyError:
            return False
        page = DOCS / self.page
        before, begin, rest = page.read_text(encoding="utf-8").partition(f"<!-- measured: {self.name} -->\n")
        if not begin:
            raise SystemExit(f"{self.page} has no mark <!-- measured: {self.name} -->")
        page.write_text(f"{before}{begin}\n{table}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
        return True


def written(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


# -- how figures are written -----------------------------------------------------------------------------------------


def seconds(value: float) -> str:
    return f"{value:.1f}" if value >= 0.095 else f"{value:.2f}"


def short(value: float) -> str:
    """Two digits: 7.5, 12, 2,806."""
    return f"{value:.1f}".removesuffix(".0") if value < 9.95 else f"{value:,.0f}"


def logarithm(value: float) -> str:
    return f"{value:.1f}" if abs(value) < 99.5 else f"{value:.0f}"


# -- code lists ------------------------------------------------------------------------------------------------------

MEASURES = ("seconds", "UL", "AvgRE %", "suppressed % (codes)", "generalised %", "codes in an item", "kept")
POLICIES = [
    (k, groups, method)
    for k in (5, 25)
    for groups, method in [
        *((groups, method) for groups in ("categories", "diseases", "diseases first") for method in ("ugaclip", "cba")),
        ("-", "aclip"),
        ("-", "least-frequent"),
    ]
]
TOGETHER = {"aclip": "any", "least-frequent": "none"}
METHODS = {
    "cba, all pairs, diseases": "k^m by CBA, diseases",
    "cba, all pairs, diseases first": "k^m by CBA, diseases first",
    "apriori": "k^m by Apriori",
    "apriori, halves": "k^m by Apriori, halves",
    "classes": "k^m in classes, halves",
    "partition": "whole lists by partitioning",
    "coherence": "coherence",
    "rbat": "rules, RBAT",
    "rho": "rho-uncertainty",
}


def code_measures(rows: Rows, name: str) -> list[str]:
    return [
        f"{rows.value(f'{name}: time'):.1f}",
        logarithm(rows.value(f"{name}: UL")),
        f"{rows.value(f'{name}: AvgRE'):.0f}",
        f"{rows.value(f'{name}: suppressed'):.0f} ({rows.noted(f'{name}: suppressed'):,.0f})",
        f"{rows.value(f'{name}: generalised'):.0f}",
        short(rows.noted(f"{name}: generalised")),
        f"{rows.value(f'{name}: diseases kept'):.0f}",
    ]


def policy_line(sample: int, promise: str, k: int, groups: str, method: str) -> Line:
    name = f"SynPUF {sample}, {promise}, k={k}, {groups}, {method}"

    def line(rows: Rows) -> list[str]:
        shown = method.upper() if method != "least-frequent" else "least frequent"
        cells = [str(k), TOGETHER.get(method, groups), shown, *code_measures(rows, name)]
        return [*cells, f"{rows.value(f'{name}: still found'):.0f}"] if promise == "literal" else cells

    return line


def policy_table(name: str, sample: int, promise: str) -> Table:
    heading = ("k", "together", "method", *MEASURES, *(("open %",) if promise == "literal" else ()))
    lines = tuple(policy_line(sample, promise, *policy) for policy in POLICIES)
    return Table("explanation/measured-codes.md", name, heading, lines)


def method_line(k: int, method: str) -> Line:
    name = f"SynPUF 1, {method}, k={k}"
    return lambda rows: [METHODS[method], "none" if method == "rho" else str(k), *code_measures(rows, name)]


def itemset_line(m: int, data: str, records: int) -> Line:
    name = f"5^{m} on {data}, {records:,} records"
    return lambda rows: [
        str(m),
        data,
        f"{records:,}",
        seconds(rows.value(f"{name}: time")),
        f"{rows.value(f'{name}: peak memory'):.0f}",
        f"{rows.value(f'{name}: loss'):.1f}",
        f"{rows.noted(f'{name}: loss'):,.0f}",
    ]


# -- others ----------------------------------------------------------------------------------------------------------


def sequence_line(name: str, shown: str) -> Line:
    steps = ("pairs by chance", "DNALA", "refined", "optimal matching")
    return lambda rows: [
        shown,
        *(f"{rows.value(f'{name}: {what}'):,.0f}" for what in steps),
        f"{rows.value(f'{name}: letters intact'):.1f} %",
    ]


def search_line(name: str, shown: str, published: str) -> Line:
    best = f"release: {name}: not dominated of 100"
    return lambda rows: [
        shown,
        f"{rows.value(f'release: {name}: policies measured'):,.0f}",
        f"{rows.value(best):.1f} ({rows.noted(best):.0f})",
        published,
    ]


def honest_line(view: str) -> Line:
    return lambda rows: [view, f"{rows.value(f'honest: refused, view of {view}'):.2f} %"]


def explain_line(which: str, shown: str) -> Line:
    first, *others = ("five times narrower", "of these, the same statistic", "of these, exact")
    return lambda rows: [
        shown,
        f"{rows.noted(f'explain: {which}: {first}'):.0f}",
        *(f"{rows.value(f'explain: {which}: {what}'):.0f}" for what in (first, *others)),
    ]


STUDIES = {"demo study (NHANES 2015-16)": (5, 10, 20), "NHANES 2009-10": (5, 10, 20), "flchain": (10,), "Adult": (10,)}
"""With the k that the page shows."""
PAPER = "counts, prevalences, means"


def usable_line(study: str, way: str, told: str) -> Line:
    parts = (f"{PAPER} of one view, aligned", f"{PAPER} of one view, free", PAPER)
    return lambda rows: [study, told, *(f"{100 * rows.value(f'{study}, {way}: {part}'):.0f}" for part in parts)]


def usable_lines(study: str, ks: Sequence[int]) -> list[Line]:
    by_k = [
        usable_line(study, f"k={k}, {way}", f"{told}, k = {k}")
        for k in ks
        for way, told in (("classes", "classes"), ("views", "certified views"), ("limit", "views, no certificate"))
    ]
    others = [f"Laplace, epsilon {epsilon} a statement" for epsilon in ("0.1", "1")] + ["counts rounded to 10"]
    return [*by_k, *(usable_line(study, way, way) for way in others)]


TABLES = (
    Table(
        "explanation/views.md",
        "views",
        ("study", "told by", "one view, aligned %", "one view, free %", "all %"),
        tuple(line for study, ks in STUDIES.items() for line in usable_lines(study, ks)),
    ),
    Table(
        "how-to/why-is-my-range-wide.md",
        "explain",
        ("wide answers", "number", "five times narrower", "of these, the same statistic", "of these, exact"),
        (
            explain_line("chosen", "chosen by hand"),
            explain_line("drawn, counts, prevalences, means", "drawn: counts, prevalences, means"),
            explain_line("drawn, all other statistics", "drawn: medians, deviations, correlations, odds ratios"),
        ),
    ),
    policy_table("codes, whole sets, sample 1", 1, "literal"),
    policy_table("codes, whole sets, sample 2", 2, "literal"),
    policy_table("codes, what is left, sample 1", 1, "residue"),
    Table(
        "explanation/measured-codes.md",
        "codes, other methods",
        ("method", "k", *MEASURES),
        tuple(method_line(k, method) for k in (5, 25) for method in METHODS if (k, method) != (25, "rho")),
    ),
    Table(
        "explanation/measured-codes.md",
        "itemsets",
        ("m", "data", "records", "CPU seconds", "peak memory, MB", "loss %", "items"),
        tuple(
            itemset_line(m, data, records)
            for m in (2, 3)
            for data, records in (
                ("groceries", 9_835),
                *(("kosarak", size) for size in (25_000, 100_000, 300_000, 1_000_000)),
            )
        ),
    ),
    Table(
        "explanation/sequences.md",
        "sequences",
        ("file", "random (mean of 1,000)", "DNALA", "refined", "the limit", "letters intact"),
        (
            sequence_line("Woodmouse", "woodmouse, 15 x 965"),
            sequence_line("Opuntia", "opuntia, 7 x 906"),
            sequence_line("Family of 200", "a family of 200 x 1,000, simulated"),
        ),
    ),
    Table(
        "explanation/release-policies.md",
        "release",
        ("search", "policies measured", "not dominated of 100 (least)", "published"),
        (
            search_line("bisecting", "bisecting, kept apart", "-"),
            search_line("bisecting, published", "bisecting, without that", "670; 95"),
            search_line("directed", "directed", "5,140; 83"),
            search_line("bisecting, complete", "bisecting, kept apart and complete", "-"),
        ),
    ),
    Table(
        "how-to/watch-live.md",
        "honest",
        ("if this view refused", "refused"),
        tuple(map(honest_line, ("each user", "each project", "each organisation", "everybody"))),
    ),
)


def main(bench: Path) -> None:
    rows = Rows(json.loads(bench.read_text(encoding="utf-8")))
    for table in TABLES:
        print(f"{table.page}, {table.name}: {'written' if table.write(rows) else 'not measured, left as it was'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else BENCH)
