"""Draws docs/figures/ranges.png: guaranteed ranges on the demo survey beside the truth.

Run: python docs/figures/ranges.py
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import querygate.demo
from querygate.core.types import Principal, Request
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate

DATA = Path(querygate.demo.__file__).parent
GROUPS = [(18, 29), (30, 39), (40, 49), (50, 59), (60, 69), (70, 80), (18, 80), (35, 44), (43, 57)]


def main() -> None:
    with (DATA / "survey.csv").open(encoding="utf-8", newline="") as stream:
        people = [(int(row["age"]), int(row["systolic"])) for row in csv.DictReader(stream) if row["systolic"]]
    with tempfile.TemporaryDirectory() as folder:
        opened = open_gate(init_site(Path(folder) / "site"))
        publish_to(opened, load_policy(DATA / "survey.toml"), str(DATA / "survey.csv"), user="figure")
        figure, axes = plt.subplots(figsize=(7.2, 3.6), dpi=150)
        for place, (youngest, oldest) in enumerate(reversed(GROUPS)):
            sql = f"SELECT AVG(systolic) FROM survey WHERE age BETWEEN {youngest} AND {oldest}"  # noqa: S608
            group = answer(Request(Principal("figure", "custodian"), "survey", sql), opened.gate).groups[0]
            found, estimate = group.ranges[0], group.estimates[0].value
            values = [value for age, value in people if youngest <= age <= oldest]
            axes.plot(
                [found.low, found.high], [place, place], color="#2b6cb0", linewidth=9, solid_capstyle="butt", alpha=0.45
            )
            axes.plot(sum(values) / len(values), place, "o", color="#c53030", markersize=5)
            axes.plot(estimate, place, "|", color="#1a365d", markersize=14, markeredgewidth=1.6)
        axes.set_yticks(range(len(GROUPS)), [f"age {a} to {b}" for a, b in reversed(GROUPS)], fontsize=8)
        axes.set_xlabel("mean systolic blood pressure, mmHg", fontsize=9)
        title = "What the gate answers (bar, estimate: tick) and what only the custodian knows (dot)"
        axes.set_title(title, fontsize=10, loc="left")
        axes.axhline(1.5, color="#a0aec0", linewidth=0.8, linestyle=":")
        axes.text(154, 1.62, "cut by the policy's decades", fontsize=7, color="#4a5568", ha="right")
        axes.text(154, 1.18, "not cut by them: classes straddle", fontsize=7, color="#4a5568", ha="right")
        axes.set_xlim(105, 155)
        axes.tick_params(axis="x", labelsize=8)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        figure.tight_layout()
        figure.savefig(Path(__file__).with_suffix(".png"))


if __name__ == "__main__":
    main()
