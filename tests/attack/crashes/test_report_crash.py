"""A publisher is killed while it makes the report: the new version serves, and the report is there whole or not at all.

A child of a process that has imported everything and opened nothing copies the site before each thing it does to the
folder of reports. What is there then is what a kill leaves (`test_publish_crash` compares the two): what was written
stays, and locks go with their holder.
"""

from __future__ import annotations

import json
from pathlib import Path

from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.publish_with_report import publish_with_report
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import open_gate
from tests.forks import forks
from tests.policies import AGE, ILLNESS, make_policy
from tests.unit.custody.publish.publications import ends, staged_files, write_parquet

POLICY = make_policy("t", {"age": AGE, "ward": ILLNESS}, k=2, anonymise={"method": "mondrian"})
PEOPLE = {"age": [20, 21, 22, 40, 41, 42, 60, 61], "ward": list("aabbabab")}

ACT = """
import os, subprocess, sys
from pathlib import Path
from querygate.custody.use_cases.publish_with_report import publish_with_report
from querygate.custody.policy import parse_policy
from querygate.site.open_gate import open_gate
from querygate.site.layout import open_site

EVENTS = {"open", "os.mkdir", "os.rename"}

def act(folder, policy, source):
    seen = 0
    def hook(event, args):
        nonlocal seen
        paths = [os.fsdecode(a) for a in args if isinstance(a, (str, bytes, os.PathLike))]
        if event in EVENTS and any(path.startswith(f"{folder}/vault/t/reports") for path in paths):
            seen += 1
            subprocess.run(["cp", "-a", folder, f"{folder}-{seen}"], check=True)
    sys.addaudithook(hook)
    policy = parse_policy(Path(policy).read_text())
    publish_with_report(open_gate(open_site(Path(folder))), policy, source, user="tester", kind="json")
"""


def test_cut_off_at_every_step_of_keeping_the_report(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY)
    source = write_parquet(tmp_path / "people.parquet", PEOPLE)
    folder = tmp_path / "site"
    init_site(folder)
    with forks(ACT) as publishers:
        assert publishers.run(folder, tmp_path / "policy.toml", source) == 0
    steps, kept = len(list(tmp_path.glob("site-*"))), []
    for step, left in enumerate([*(tmp_path / f"site-{step}" for step in range(1, steps + 1)), folder], 1):
        opened = open_gate(open_site(left))
        assert ends(opened, "COUNT(*)") == (8, 8)
        report = left / "vault" / "t" / "reports" / "v00001" / "report.json"
        kept.append(report.is_file())
        assert not kept[-1] or json.loads(report.read_text())["version"] == 1
        if step == 3 or left == folder:  # the next one sweeps what was left
            done = publish_with_report(opened, parse_policy(POLICY), str(source), user="tester", kind="json")
            assert done.problem is None
            assert staged_files(opened) == []

    assert steps > 4
    assert kept == sorted(kept)  # not there ... then whole
    assert kept[-1]
