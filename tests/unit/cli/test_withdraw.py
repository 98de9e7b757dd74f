"""withdraw, vault erase and --reinstate: out of service at once, on record, and back only on purpose."""

from __future__ import annotations

import json

import duckdb
import pytest

from querygate.core.errors import NotPermitted
from querygate.core.types import Principal, Request
from querygate.custody.use_cases.publish_version import open_version_writer
from querygate.gate.answer import answer
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from tests.api.small_site import write_inputs

COUNT = "SELECT COUNT(*) FROM clinic"


@pytest.fixture
def publish(run, clinic, tmp_path):
    policy, source = write_inputs(tmp_path)
    return lambda *more: run("publish", "--policy", policy, "--source", source, *more)


def kinds(site):
    return [(event["kind"], event["body"]) for event in open_gate(open_site(site)).log.events()]


def test_a_withdrawn_dataset_is_refused_by_a_gate_that_was_open_before(run, clinic):
    gate = open_gate(open_site(clinic)).gate
    request = Request(Principal("ann", "researcher"), "clinic", COUNT)
    assert answer(request, gate).groups
    assert run("withdraw", "clinic").exit_code == 0
    with pytest.raises(NotPermitted) as refused:
        answer(request, gate)
    assert refused.value.code == "QG312"
    assert gate.store.datasets() == ()
    assert run("query", COUNT, "--dataset", "clinic").exit_code == 1
    noted = [entry for entry in kinds(clinic) if entry[0].startswith("dataset.")]
    assert noted == [("dataset.withdraw", {"version": 1}), ("dataset.withdrawn", {"version": 1})]


def test_it_says_what_remains_and_how_to_erase_it(run, clinic):
    run("query", COUNT, "--dataset", "clinic")
    said = run("withdraw", "clinic").stdout
    assert "querygate retire clinic 1" in said
    assert "querygate vault erase clinic 1" in said
    assert "the log, with 1 answer:" in said
    assert run("withdraw", "clinic").exit_code == 2  # nothing is served any more
    assert run("withdraw", "nowhere").exit_code == 2
    [line] = json.loads(run("versions", "clinic", "--format", "json").stdout)
    assert (line["state"], line["served"]) == ("withdrawn", False)


def test_what_it_says_to_do_erases_everything(run, clinic):
    run("withdraw", "clinic")
    assert run("vault", "erase", "clinic", 1, "--yes").exit_code == 2  # not while it could be served again
    assert run("retire", "clinic", 1).exit_code == 0
    assert run("vault", "erase", "clinic", 1, "--yes").exit_code == 0
    left = [path.name for place in ("store", "vault") for path in (clinic / place / "clinic").rglob("v0*")]
    assert left == []
    assert kinds(clinic)[-2:] == [("vault.erase", {"versions": [1]}), ("vault.erased", {"versions": [1]})]
    assert run("rollback", "clinic", 1, "--reinstate").exit_code == 2
    assert [line["state"] for line in json.loads(run("versions", "clinic", "--format", "json").stdout)] == ["retired"]


def test_answers_are_audited_after_a_withdrawal_as_before(run, clinic):
    run("query", COUNT, "--dataset", "clinic")
    before = run("audit", "run", "--dataset", "clinic", "--format", "json")
    assert before.exit_code == 0
    run("withdraw", "clinic")
    after = run("audit", "run", "--dataset", "clinic", "--format", "json")
    assert (after.exit_code, after.stdout) == (before.exit_code, before.stdout)
    assert run("audit", "store", "clinic").exit_code == 0


def test_it_comes_back_only_on_purpose(run, clinic, publish):
    run("withdraw", "clinic")
    refused = publish()
    assert refused.exit_code == 2
    assert "--reinstate" in refused.stderr
    assert run("rollback", "clinic", 1).exit_code == 2
    assert run("datasets").stdout == "No dataset is published yet.\n"
    assert publish("--reinstate").exit_code == 0
    assert json.loads(run("datasets", "--format", "json").stdout)[0]["version"] == 2
    assert kinds(clinic)[-1][1]["reinstated"] is True
    run("withdraw", "clinic")
    assert run("rollback", "clinic", 1, "--reinstate").exit_code == 0
    assert kinds(clinic)[-1] == ("rollback", {"from": None, "to": 1, "reinstated": True})
    assert run("query", COUNT, "--dataset", "clinic").exit_code == 0


def test_a_publication_that_was_under_way_does_not_bring_it_back(run, clinic):
    writer = open_version_writer(open_gate(open_site(clinic)))
    with writer.publishing("clinic") as publication:
        assert run("withdraw", "clinic").exit_code == 0  # at once: it does not wait
        with pytest.raises(Exception, match="was withdrawn"):
            publication.switch()
    assert run("datasets").stdout == "No dataset is published yet.\n"


def test_raw_rows_of_retired_versions_are_erased_when_asked(run, clinic, publish):
    publish()
    run("retire", "clinic", 1)
    assert (clinic / "vault/clinic/v00001.duckdb").exists()
    asked = run("vault", "erase", "clinic", input="n\n")
    assert asked.exit_code == 1
    assert "no longer be audited" in asked.stderr
    assert (clinic / "vault/clinic/v00001.duckdb").exists()
    assert run("vault", "erase", "clinic", 2, "--yes").exit_code == 2  # served
    assert run("vault", "erase", "clinic", 7, "--yes").exit_code == 2  # unknown
    assert json.loads(run("vault", "erase", "clinic", "--yes", "--format", "json").stdout)["erased"] == [1]
    assert [path.name for path in (clinic / "vault/clinic").glob("v*")] == ["v00002.duckdb"]
    assert "no raw rows of retired versions" in run("vault", "erase", "clinic", "--yes").stderr
    assert json.loads(publish("--format", "json").stdout)["version"] == 3
    assert duckdb.connect(str(clinic / "vault/clinic/v00003.duckdb"), read_only=True)


@pytest.mark.parametrize("version", [1, 7])
def test_erasing_is_asked_about_only_where_it_is_possible(run, clinic, version):
    """1 is served, and 7 never was."""
    done = run("vault", "erase", "clinic", version, input="y\n")
    assert done.exit_code == 2
    assert done.stderr.startswith("QG804 ")
    assert "Erase the raw rows" not in done.stderr
    assert not any(kind.startswith("vault.") for kind, _ in kinds(clinic))


def test_a_rollback_names_the_version_before_where_there_was_one(run, clinic, publish):
    publish()
    assert run("rollback", "clinic", 1).stdout == "clinic: version 1 is served now (before: 2).\n"
    run("withdraw", "clinic")
    assert (
        run("rollback", "clinic", 2, "--reinstate").stdout == "clinic: version 2 is served now (before: withdrawn).\n"
    )
