"""A disk without room: nothing that cannot be put on record is answered, it is called what it is, and once there is
room again everything is answered, without starting anything anew."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from querygate.control.log.head_mark import MARK, read_mark
from querygate.core.budget_ledger import Ledger
from querygate.core.errors import ConfigError
from querygate.custody.use_cases.open_custody import with_vault
from querygate.custody.use_cases.open_noise import open_budgets
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.web import create_app
from querygate.web.metrics import MEMORY, shared_folder
from tests.api.small_site import SmallSite
from tests.small_disk import small_disk
from tests.unit.custody.noise.site_with_noise import noisy_site


def test_answers_stop_with_the_disk_and_come_back_with_it(small: SmallSite, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        opened = open_gate(open_site(Path(shutil.copytree(small.folder, disk.folder / "site"))))
        client = create_app(opened).test_client()
        asked = iter(range(1000))

        def tell() -> Counter[tuple[int, Any]]:
            """A new question, one that was answered, one that is refused, and pages; twice."""
            told: Counter[tuple[int, Any]] = Counter()
            for _ in range(2):
                for sql in (
                    f"SELECT COUNT(*) FROM clinic WHERE sbp > {100 + next(asked)}",
                    "SELECT COUNT(*) FROM clinic",
                    "SELECT age FROM clinic",
                ):
                    body = {"dataset": "clinic", "sql": sql}
                    answer = client.post("/api/v1/query", headers=small.headers("ann"), json=body)
                    told[answer.status_code, (answer.json or {}).get("code")] += 1
            return told

        well = {(200, None): 4, (422, "QG201"): 2}
        assert tell() == well
        disk.fill()
        assert tell() == {(503, "QG804"): 6}
        disk.free()
        assert tell() == well
        opened.log.verify()
        opened.log.database.close()


def test_a_full_disk_is_called_one_where_nothing_was_open(small: SmallSite, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        folder = Path(shutil.copytree(small.folder, disk.folder / "site"))
        open_gate(open_site(folder)).log.database.close()  # what lies beside a database goes with its last user
        disk.fill()
        with pytest.raises(ConfigError, match="The disk is full"):
            open_gate(open_site(folder))
        disk.free()
        open_gate(open_site(folder)).log.database.close()


def test_a_full_disk_costs_no_budget(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        site = noisy_site(disk.folder, each=1.0, total=10.0)

        def ledger() -> Ledger:
            return open_budgets(site.opened)

        def ask(age: int) -> str:
            try:
                site.ask(f"SELECT COUNT(*) FROM patients WHERE age > {age}")
            except Exception as error:
                return str(getattr(error, "code", type(error).__name__))
            return "answered"

        assert ask(1) == "answered"
        disk.fill()
        told = [ask(age) for age in range(2, 6)]
        disk.free()
        assert set(told) <= {"QG804", "OperationalError", "answered"}
        assert ask(50) == "answered"
        answered = 2 + told.count("answered")
        assert sum(one.releases for one in ledger().spent("patients") if one.scope.kind == "dataset") == answered
        with_vault(site.opened).log.verify()
        site.opened.log.database.close()


def test_a_mark_needs_no_room_of_its_own(tmp_path: Path) -> None:
    """The spend is on disk when its mark is set: it would be lost to whoever paid."""
    site = noisy_site(tmp_path, each=1.0, total=10.0)
    site.ask("SELECT COUNT(*) FROM patients WHERE age > 1")
    before = read_mark(site.opened.site.folder / MARK)
    (site.opened.site.folder / f".{MARK}.new").symlink_to("/dev/full")
    site.ask("SELECT COUNT(*) FROM patients WHERE age > 2")
    after = read_mark(site.opened.site.folder / MARK)
    assert before is not None
    assert after is not None
    assert after.entries > before.entries


def test_what_processes_map_lies_in_memory(small: SmallSite) -> None:
    folder = shared_folder(small.opened.site)
    folder.rmdir()
    assert not Path(MEMORY).is_dir() or folder.parent == Path(MEMORY)
