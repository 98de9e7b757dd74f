"""A publisher is killed while it makes the report: the new version serves, and the report is there whole or not at all.

Children of one process that has imported everything and opened nothing kill themselves at the n-th thing they do to the
folder of reports.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from querygate.custody.policy import parse_policy
from querygate.custody.roots.publish_with_report import publish_with_report
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import open_gate
from tests.unit.custody.publish.publications import AGE, ends, staged_files, write_parquet

POLICY = 'dataset = "t"\nk = 2\n' + AGE + '[columns.ward]\nrole = "sensitive"\ntype = "category"\n'
PEOPLE = {"age": [20, 21, 22, 40, 41, 42, 60, 61], "ward": list("aabbabab")}

PUBLISHERS = """
import os, signal, sys
from pathlib import Path
import querygate.custody.roots.publish_with_report as reporting
from querygate.custody.policy import parse_policy
from querygate.site.open_gate import open_gate
from querygate.site.layout import open_site

EVENTS = {"open", "os.mkdir", "os.rename"}

def publish(folder, step):
    seen = 0
    def hook(event, args):
        nonlocal seen
        paths = [os.fsdecode(a) for a in args if isinstance(a, (str, bytes, os.PathLike))]
        if event in EVENTS and any(path.startswith(f"{folder}/vault/t/reports") for path in paths):
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)
    policy = parse_policy(Path(sys.argv[1]).read_text())
    reporting.publish_with_report(open_gate(open_site(Path(folder))), policy, sys.argv[2], user="tester", kind="json")

for line in sys.stdin:
    folder, step = line.split()
    child = os.fork()
    if not child:
        try:
            publish(folder, int(step))
        except BaseException:
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_killed_at_every_step_of_keeping_the_report(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY)
    source = write_parquet(tmp_path / "people.parquet", PEOPLE)
    command = [sys.executable, "-c", PUBLISHERS, str(tmp_path / "policy.toml"), str(source)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    step, ended, kept = 0, -1, []
    while ended:
        step += 1
        folder = tmp_path / f"site{step}"
        init_site(folder)
        process.stdin.write(f"{folder} {step}\n")
        process.stdin.flush()
        ended = int(process.stdout.readline())
        assert ended in (0, -signal.SIGKILL)
        opened = open_gate(open_site(folder))
        assert ends(opened, "COUNT(*)") == (8, 8)
        report = folder / "vault" / "t" / "reports" / "v00001" / "report.json"
        kept.append(report.is_file())
        assert not kept[-1] or json.loads(report.read_text())["version"] == 1
        if step % 3 == 0 or not ended:  # the next one sweeps what was left
            done = publish_with_report(opened, parse_policy(POLICY), str(source), user="tester", kind="json")
            assert done.problem is None
            assert staged_files(opened) == []
    process.communicate(timeout=60)

    assert step > 5
    assert kept == sorted(kept)  # not there ... then whole
    assert kept[-1]
