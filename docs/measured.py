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

    def said(self, name: str, what: str) -> float:
        """The number before these words in the note of a row, such as 7 of `7 s of processors, 10 cells`."""
        found = re.search(rf"([\d.,]+) ?{re.escape(what)}", self._rows[name]["against"])
        if found is None:
            raise KeyError(what)
        return float(found[1].replace(",", ""))


Line = Callable[[Rows], list[str]]


@dataclass(frozen=True)
class Table:
    """A table of a page: its heading, and how each line is made of rows. One that `may_be_short` has the lines that
    were measured, if any was.
    """

    page: str
    name: str
    heading: tuple[str, ...]
    lines: tuple[Line, ...]
    may_be_short: bool = False

    def text(self, rows: Rows) -> str:
        rule = "|---" * len(self.heading) + "|"
        return "\n".join([written(self.heading), rule, *map(written, self._lines(rows))]) + "\n"

    def _lines(self, rows: Rows) -> list[list[str]]:
        found = []
        for line in self.lines:
            try:
                found.append(line(rows))
            except KeyError:
                if not self.may_be_short:
                    raise
        if not found:
            raise KeyError(self.name)
        return found

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


def headline(shown: str, form: str, published: str, *names: str) -> Line:
    """A figure of the literature: how ours are written, and the published one beside them."""
    return lambda rows: [shown, form.format(*map(rows.value, names)), published]


LEARNED = "made-up notes and 750 labelled sentences"
WAYS = ("rules", "tagger", "both")
CLASSES = ("mondrian", "bottom-up", "top-down", "r-tree", "top-down-greedy", "gather")
COUNTY = "patients of a county"
TOLD = "Adult, salary predicted by a logistic"
PEOPLE = "1,000 people"
HEADLINES = (
    headline(
        "surest belief in the hospital of Martin et al., 0, 1 and 2 pieces known",
        "{:.0f}, {:.1f} and {:.0f} %",
        "the same",
        *(f"hospital of Martin et al.: surest belief, {pieces} pieces" for pieces in range(3)),
    ),
    headline(
        "surest belief on Adult, (0.7,1)-safety required; classes with and without",
        "{:.1f} %; {:,.0f} and {:,.0f}",
        "a bound of 70 %",
        "Adult, (0.7,1)-safety: surest belief, 1 pieces",
        *(f"Adult, {guard}: classes" for guard in ("(0.7,1)-safety", "k alone")),
    ),
    headline(
        "policies not dominated, bisecting and directed",
        "{:.1f} and {:.1f} of 100",
        "95 and 83",
        *(f"{COUNTY}, {way}: not dominated, mean of 5" for way in ("bisecting", "directed")),
    ),
    headline(
        "policies measured, bisecting and directed",
        "{:,.0f} and {:,.0f}",
        "670 and 5,140 (Adult)",
        *(f"{COUNTY}, {way}: policies measured" for way in ("bisecting", "directed")),
    ),
    headline(
        "diseases of 18 that stay countable, CBA, UGACLIP and ACLIP (SynPUF)",
        "{:.0f}, {:.0f} and {:.0f}",
        "14, 11 and 0",
        *(f"SynPUF 1: diseases kept, {method}" for method in ("CBA", "UGACLIP", "ACLIP")),
    ),
    headline(
        "loss for rho-uncertainty, suppression and TDControl (SynPUF)",
        "{:.1f} and {:.1f} %",
        "TDControl loses less",
        *(f"SynPUF 1: loss for rho-uncertainty, {method}" for method in ("suppression", "TDControl")),
    ),
    headline(
        "entries left by local and by global suppression, k = 5, m = 2 (SynPUF)",
        "{:.1f} and {:.1f} %",
        "local keeps more",
        *(f"SynPUF 1: entries as they were, {way} suppression" for way in ("local", "global")),
    ),
    headline(
        "ten rules hidden below 10 %: the surest that is told; entries left, with and without it (SynPUF)",
        "{:.0f} %; {:.1f} and {:.1f} %",
        "below the threshold; little else changes",
        "SynPUF 1: surest of ten hidden rules",
        *(f"SynPUF 1: entries as they were, {way}" for way in ("ten rules hidden", "local suppression")),
    ),
    headline(
        "NCP on Adult, 3,000 records, k = 10: Mondrian, bottom-up, top-down, R-tree, greedy top-down, gather",
        "{:.1f}, {:.1f}, {:.1f}, {:.1f}, {:.1f} and {:.1f} %",
        "clusterings lose less than their Mondrian",
        *(f"Adult, NCP of {method}" for method in CLASSES),
    ),
    headline(
        "radius of gather over a lower bound of the best (Adult, 1,000 records, k = 10)",
        "{:.1f}",
        "at most 2",
        "Adult, radius of gather over a lower bound of the best",
    ),
    headline(
        "names removed by rules, by a learned tagger, by both (presidio, templates not seen)",
        "{:.1f}, {:.1f} and {:.1f} %",
        "about 97 % (HIDE, its own reports)",
        *(f"name removed by {way}, {LEARNED}" for way in WAYS),
    ),
    headline(
        "places, the same", "{:.1f}, {:.1f} and {:.1f} %", "", *(f"place removed by {way}, {LEARNED}" for way in WAYS)
    ),
    headline(
        "salary predicted by logistic regression (Adult, k = 100): Mondrian, made for it, raw",
        "{:.1f}, {:.1f} and {:.1f} %",
        "hardly worse than raw, Mondrian worse (curves)",
        *(f"{TOLD}, {records}" for records in ("mondrian, k = 100", "mondrian-target, k = 100", "raw records")),
    ),
    headline(
        "growth of the time to condense with attributes, from 160 to 320: exponent",
        "{:.1f}",
        "at most 2",
        "condensed: exponent in attributes",
    ),
    headline("amplification allowed for 5 to 50 %", "{:.0f}", "19", "gamma allowed for 5 % to 50 %"),
    headline(
        "of 1,000 equally frequent values kept, 10 to 50 %: small domains and randomised response",
        "{:.0f} and {:.1f} %",
        "far more",
        *(f"of 1,000 values alike kept, {way}, 10 to 50 %" for way in ("small domains", "responses")),
    ),
    headline(
        "Cox model outside the interval, R-microhybrid and MDAV (rotterdam, K = 20)",
        "{:.0f} and {:.0f} %",
        "drawn records keep more",
        *(f"rotterdam, Cox, K = 20, {way}: outside the interval" for way in ("r-microhybrid", "mdav")),
    ),
    headline(
        "people found in the frequencies of 20,000 SNPs, a pool of 1,000 (simulated): Homer, likelihood ratio",
        "{:.1f} and {:.1f} %",
        "found with 10,000 to 50,000 SNPs (HapMap)",
        *(f"{PEOPLE}, all 20,000 SNPs (20,000): {test}" for test in ("homer", "likelihood ratio")),
    ),
    headline(
        "the same, at the 131 SNPs that the guard lets pass",
        "{:.1f} and {:.1f} %",
        "at most the bound, here 10 %",
        *(f"{PEOPLE}, guarded SNPs (131): {test}" for test in ("homer", "likelihood ratio")),
    ),
    headline(
        "average risk of a limited data set over Safe Harbor's (a made-up state)",
        "{:.0f} times",
        "154 times (patients of a state)",
        "Liu 2015: R of a limited data set over Safe Harbor's",
    ),
)


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


# -- scale -----------------------------------------------------------------------------------------------------------


def rows_line(number: int) -> Line:
    name, plan = f"scale: {number:,} rows x 5 quasi-identifiers", f"scale plan: {number:,} rows"
    return lambda rows: [
        f"{number:,}",
        f"{rows.said(name, 's of processors'):.0f}",
        f"{rows.value(f'{name}: memory'):,.0f}",
        *(
            f"{figure:,.0f}"
            for what in ("classes", "cells")
            for figure in (rows.said(name, what), rows.value(f"{plan}, {what}"))
        ),
    ]


def plan_line(number: int) -> Line:
    plan = f"scale plan: {number:,} rows"
    return lambda rows: [f"{number:,}", *(f"{rows.value(f'{plan}, {what}'):,.0f}" for what in ("classes", "cells"))]


def view_line(number: int) -> Line:
    name = f"views: survey, {number:,} rows"
    return lambda rows: [
        f"{number:,}",
        f"{rows.said(name, 's of processors'):.0f}",
        f"{rows.value(f'{name}: memory'):,.0f}",
        f"{rows.said(name, 'frame cells'):,.0f}",
    ]


def people_line(people: int, gates: int) -> Line:
    name = f"scale plan: {people:,} researchers, {gates} gates"
    return lambda rows: [
        f"{people:,}",
        str(gates),
        f"{rows.value(f'{name}, answered'):.0f}",
        *(f"{rows.said(f'{name}, answered', share):.0f} %" for share in ("% of gates", "% of the log")),
        *(f"{rows.value(f'{name}, {share}'):.0f}" for share in ("p50", "p99")),
    ]


def log_line(rows: Rows) -> list[str]:
    name = "log: verify, in the database"
    entries, used_s = rows.said(name, "entries"), rows.said(name, "s of processors")
    return [f"{entries:,.0f}", f"{used_s:.1f}", f"{1e6 * used_s / entries:.0f}"]


SCALE = "explanation/scale.md"

TABLES = (
    Table(
        SCALE,
        "scale, rows",
        ("rows", "processor seconds", "peak memory, MB", "classes", "computed", "cells", "computed"),
        tuple(map(rows_line, (1_000_000, 10_000_000, 100_000_000))),
        may_be_short=True,
    ),
    Table(
        SCALE,
        "scale, plan",
        ("rows", "classes, computed", "cells, computed"),
        tuple(map(plan_line, (100_000_000, 1_000_000_000))),
    ),
    Table(
        SCALE,
        "scale, views",
        ("rows", "processor seconds", "peak memory, MB", "frame cells"),
        tuple(map(view_line, (5_500, 50_000, 500_000))),
        may_be_short=True,
    ),
    Table(
        SCALE,
        "scale, log",
        ("entries of the log", "processor seconds to check the chain", "of a million entries"),
        (log_line,),
    ),
    Table(
        SCALE,
        "scale, researchers",
        ("researchers", "gates", "questions a second", "gates busy", "log busy", "median, ms", "99 of 100 within, ms"),
        tuple(people_line(people, gates) for people in (1_000, 10_000) for gates in (1, 2, 4)),
    ),
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
    Table("explanation/literature.md", "literature", ("figure", "here", "published"), HEADLINES),
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
