"""A withdrawal is killed at any moment: the dataset is served as before or withdrawn, and asking again finishes it.

Children of one process that has imported everything and opened nothing kill themselves at the n-th file of the site
that they open.
"""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from querygate.core.errors import NotPermitted
from querygate.custody.use_cases.withdraw_dataset import withdraw_dataset
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from tests.forks import forks
from tests.policies import AGE, ILLNESS, make_policy
from tests.unit.custody.publish.publications import ends, new_site, put

POLICY = make_policy("t", {"age": AGE, "ward": ILLNESS}, k=2)
PEOPLE = {"age": [20, 21, 22, 40, 41, 42], "ward": list("aabbab")}

ACT = """
import os, signal, sys
from pathlib import Path
from querygate.custody.use_cases.withdraw_dataset import withdraw_dataset
from querygate.site.open_gate import open_gate
from querygate.site.layout import open_site

def act(folder, step):
    seen = 0
    def hook(event, args):
        nonlocal seen
        paths = [os.fsdecode(a) for a in args if isinstance(a, (str, bytes, os.PathLike))]
        if event in ("open", "sqlite3.connect/handle") and any(path.startswith(folder) for path in paths):
            seen += 1
            if seen == int(step):
                os.kill(os.getpid(), signal.SIGKILL)
    opened = open_gate(open_site(Path(folder)))
    sys.addaudithook(hook)
    withdraw_dataset(opened, "t", user="tester")
"""


def test_killed_at_every_step(tmp_path: Path) -> None:
    template = new_site(tmp_path / "template")
    put(template, POLICY, PEOPLE)
    template.log.database.close()
    step, ended, served = 0, -1, []
    with forks(ACT) as children:
        while ended:
            step += 1
            folder = Path(shutil.copytree(template.site.folder, tmp_path / f"site{step}"))
            ended = children.run(folder, step)
            assert ended in (0, -signal.SIGKILL)
            opened = open_gate(open_site(folder))
            opened.log.verify()
            served.append("t" in opened.store.datasets())
            if served[-1]:
                assert ends(opened, "COUNT(*)") == (6, 6)
                withdraw_dataset(opened, "t", user="tester")
            with pytest.raises(NotPermitted) as refused:
                ends(opened, "COUNT(*)")
            assert refused.value.code == "QG312"
            events = [event["kind"] for event in opened.log.events()]
            assert "dataset.withdraw" in events  # whatever was done is on record

    assert step > 2
    assert served == sorted(served, reverse=True)  # served ... then withdrawn
    assert not served[-1]
