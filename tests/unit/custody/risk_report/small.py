"""Six people, the ten of a register that they are among, and a release of them: small enough for figures by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from querygate.core.json_body import from_json, to_json
from querygate.custody.risk_report.risk_body import RiskReport
from querygate.custody.use_cases.risk_assessment import RiskOptions, assess_source
from querygate_adapters.sources.open_source import open_source
from tests.policies import AGE, IDENTIFIER, ILLNESS, SEX, ZIP, make_policy, sensitive

POLICY = make_policy(
    "ward",
    {
        "name": IDENTIFIER,
        "age": AGE,
        "sex": SEX,
        "zip": ZIP,
        "illness": ILLNESS,
        "dose": sensitive("number", (0, 100), guard=0),
    },
    k=3,
)

# Classes of the raw records: 1 and 2, 3, 4, 5 and 6. Under Safe Harbor 4 joins 5 and 6: over 89 and in area 372.
SOURCE = """name,age,sex,zip,illness,dose
Quintilla,30,F,37203,flu,10
Ann,30,F,37203,flu,11
Bob,30,M,37212,scurvy,50
Carl,91,M,37212,flu,51
Dan,95,M,37215,scurvy,52
Ed,95,M,37215,flu,53
"""
REGISTER = """age,sex,zip,people
30,F,37203,3
30,M,37212,2
91,M,37212,1
95,M,37215,4
96,M,37203,5
"""
RELEASE = """age_low,age_high,sex,zip,illness,dose
30,30,F | M,*,flu,10
30,30,F | M,*,flu,11
30,30,F | M,*,scurvy,50
91,95,M,37212 | 37215,flu,51
91,95,M,37212 | 37215,scurvy,52
91,95,M,37212 | 37215,flu,53
"""


def write(folder: Path) -> dict[str, Path]:
    """The files of the study by name."""
    texts = {"policy.toml": POLICY, "source.csv": SOURCE, "register.csv": REGISTER, "release.csv": RELEASE}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {name.partition(".")[0]: folder / name for name in texts}


def assess(folder: Path, *, register: bool = True, release: bool = True, **more: Any) -> dict[str, Any]:
    files = write(folder)
    asked: dict[str, Any] = {"population": str(files["register"]), "count": "people"} if register else {}
    asked |= {"released": files["release"]} if release else {}
    report = assess_source(POLICY.parsed(), open_source(str(files["source"])), RiskOptions(**asked, **more))
    body = to_json(report)
    assert from_json(RiskReport, json.loads(json.dumps(body))) == report
    return body
