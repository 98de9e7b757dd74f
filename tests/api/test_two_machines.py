"""Two machines: two folders, and where it is permitted two networks with a cable between them. The gate's has no vault,
and nothing listens beside the custodian's."""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from querygate.control import ChainBroken, SqliteBudgets
from querygate.custody.use_cases.sync_versions import sync_versions
from querygate.custody.worker.log_copy import LogCopy
from querygate.site.layout import open_site
from querygate.site.log_pages import read_log_page
from querygate.site.open_gate import OpenSite, now, open_gate
from tests.empty_site import empty_site
from tests.served_site import PEOPLE, Door, ServedSite, make_served_site, serving, working
from tests.two_networks import INSIDE, OUTSIDE, Networks, encrypted_door, inside, two_networks
from tests.work import HANG_S

COUNT = "SELECT COUNT(*) AS n FROM patients WHERE age > 50"


@dataclass(frozen=True)
class TwoMachines:
    custodian: OpenSite
    gate: ServedSite
    key_file: Path


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> TwoMachines:
    folder = tmp_path_factory.mktemp("machines")
    custodian = make_served_site(folder / "inside", total=1.0, settings="inline_audit = true").opened
    gate = empty_site(folder / "outside" / "gate")
    shutil.rmtree(gate.vault)
    with (gate.folder / "querygate.toml").open("a") as stream:
        stream.write("\nnoise_tick_ms = 20\njob_lease_s = 3\ninline_audit = true\n")
    sync_versions(custodian, gate.store, user="carl")
    opened = open_gate(open_site(gate.folder))
    for name, role in PEOPLE.items():
        opened.accounts.add_user(name, role)
    opened.accounts.add_user("vault", "custodian")
    key_file = folder / "inside" / "worker.key"
    worker_key = opened.accounts.keys.new("vault", scopes=["worker"]).secret
    key_file.write_text(worker_key + "\n")
    keys = {name: opened.accounts.keys.new(name).secret for name in PEOPLE}
    served = ServedSite(opened, {**keys, "vault": worker_key})
    return TwoMachines(custodian, served, key_file)


@pytest.fixture(scope="module")
def networks() -> Iterator[Networks | None]:
    """A network for each of the two, where that is permitted."""
    with two_networks() as found:
        yield found


@pytest.fixture(scope="module")
def door(machines: TwoMachines, networks: Networks | None) -> Iterator[Door]:
    """Whoever asks is in the gate's network. Without networks of their own, both are on this machine."""
    with ExitStack() as stack:
        stack.enter_context(inside(networks.gate if networks else None))
        door = stack.enter_context(serving(machines.gate, "--no-worker"))
        address, settings = door.address, dict[str, str]()
        if networks is not None:
            port = int(door.address.rsplit(":", 1)[1].strip("/"))
            address, believed = stack.enter_context(encrypted_door(machines.key_file.parent, port))
            settings = {"SSL_CERT_FILE": str(believed)}
        words = ("--gate", address, "--key-file", str(machines.key_file), "--extracts")
        with inside(networks.vault if networks else None):
            worker = stack.enter_context(working(machines.custodian.site.folder, *words, **settings))
        yield door
        assert listening(worker.pid) == []


def spent(opened: OpenSite) -> float:
    ledger = SqliteBudgets(opened.log.database, now)
    return sum(one.epsilon for one in ledger.spent("patients") if one.scope.kind == "dataset")


def listening(pid: int) -> list[str]:
    """Sockets of a process on which it waits for connections, by what the kernel says."""
    own = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = path.readlink().name
        except OSError:
            continue
        if target.startswith("socket:"):
            own.add(target[8:-1])
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in own:
                found.append(words[1])
    return found


def asked(door: Door, name: str, sql: str, **options: Any) -> Any:
    """A question whose verdict may have to wait for a worker that is only starting."""
    until_s = time.monotonic() + HANG_S
    while time.monotonic() < until_s:
        status, body = door.call(name, "POST", "/api/v1/query", {"dataset": "patients", "sql": sql, "options": options})
        if status == 202 or body.get("code") != "QG314":
            return door.result(name, status, body)
    raise AssertionError(body)


def test_noisy_answers_are_paid_from_the_ledger_beside_the_vault(machines: TwoMachines, door: Door) -> None:
    before = spent(machines.custodian)
    answer = asked(door, "ann", COUNT, mode="laplace")
    assert answer["budget"]["spent"] == 0.1, answer
    assert spent(machines.custodian) == pytest.approx(before + 0.1)
    assert spent(machines.gate.opened) == 0
    assert machines.gate.opened.log.answer(answer["query_id"]) == ("ann", answer)
    refused = [
        asked(door, "bob", f"SELECT COUNT(*) FROM patients WHERE age > {age}", mode="laplace") for age in range(20, 32)
    ]
    assert refused[-1]["code"] == "QG401"
    assert spent(machines.custodian) <= 1.0
    left = door.call("ann", "GET", "/api/v1/budget?dataset=patients")
    assert (left[0], left[1]["limits"]["dataset"]) == (200, 1.0)


def test_ranges_wait_for_the_verdict_of_the_inline_audit(machines: TwoMachines, door: Door) -> None:
    assert "rows" in asked(door, "ann", "SELECT COUNT(*) FROM patients")


def test_previews_builds_reports_and_audits(machines: TwoMachines, door: Door) -> None:
    assert "rows" in asked(door, "ann", "SELECT COUNT(*) FROM patients WHERE age > 41")
    wish = {"dataset": "patients", "purpose": "to see", "columns": ["age", "sex"]}
    ident = door.call("ann", "POST", "/api/v1/exports", wish)[1]["id"]
    path = f"/api/v1/exports/{ident}"
    door.call("ann", "POST", f"{path}/submit", {})
    door.call("carl", "POST", f"{path}/take", {})
    status, shown = door.call("carl", "GET", f"{path}?preview=true")
    preview = door.outcome("carl", shown["job"])["result"] if status == 202 else shown["preview"]
    assert (preview["k"] >= 5, preview["learnt"]["answered"] >= 1) == (True, True)
    door.call("carl", "POST", f"{path}/approve", {})
    job = door.call("carl", "POST", f"{path}/build", {})[1]["job"]
    assert door.outcome("carl", job)["state"] == "done"
    built = door.call("carl", "GET", path)[1]
    assert (built["state"], built["summary"]["k"] >= 5) == ("built", True)
    inside = machines.custodian.site.vault / "_extracts" / ident / built["manifest"]
    assert (inside / "manifest.json").exists()
    assert not machines.gate.opened.site.vault.exists()
    status, page = door.call("dora", "GET", f"{path}/report.html")
    if status == 202:
        page = door.outcome("dora", page["job"])["result"]["page"]
    assert "<html" in page
    status, refused = door.call("dora", "POST", f"{path}/release", {})
    assert door.result("dora", status, refused)["code"] == "QG309"
    assert door.call("ann", "GET", path)[1]["state"] == "built"
    status, found = door.call("carl", "POST", "/api/v1/audit/run", {"dataset": "patients"})
    if status == 202:
        door.outcome("carl", found["job"])
        found = door.call("carl", "GET", "/api/v1/audit/findings?dataset=patients")[1]
    assert (found["by"], found["queries"] >= 1) == ("carl", True)


def test_the_vaults_machine_takes_no_connection(door: Door, networks: Networks | None) -> None:
    """The gate's network sees the vault's machine, and finds nothing to speak to there."""
    if networks is None:
        pytest.skip("Network namespaces are not permitted here, or iproute2 is not installed.")
    assert networks.listening(networks.vault) == []
    assert any(OUTSIDE in line for line in networks.listening(networks.gate))
    assert door.call("ann", "GET", "/readyz")[0] == 200
    with inside(networks.gate):
        for port in (22, 80, 443, 5432, 8080, *range(40_000, 40_020)):
            with pytest.raises(ConnectionRefusedError), socket.create_connection((INSIDE, port), timeout=HANG_S):
                pass


def test_only_a_key_for_workers_opens_the_desk_and_only_whoever_holds_a_job_ends_it(
    machines: TwoMachines, door: Door
) -> None:
    for method, path, body in (
        ("POST", "/api/v1/work/lease", {"worker": "w", "kinds": []}),
        ("POST", "/api/v1/work/jobs/j_1/finish", {"worker": "w", "result": {}}),
        ("GET", "/api/v1/work/log", None),
    ):
        assert door.call("ann", method, path, body)[0] == 403
    assert door.call("vault", "POST", "/api/v1/query", {"dataset": "patients", "sql": COUNT})[0] == 403
    lost = door.call("vault", "POST", "/api/v1/work/jobs/j_1/finish", {"worker": "w", "result": {}})
    assert lost == (200, {"taken": False})
    huge = {"worker": "w", "kinds": ["x" * 300_000]}
    assert door.call("vault", "POST", "/api/v1/work/lease", huge)[1]["code"] in ("QG306", "QG308")
    assert door.call("carl", "POST", "/api/v1/work/lease", {"worker": "w", "kinds": ["nonsense"]})[1]["code"] == "QG306"


def test_a_gate_that_rewrites_its_log_is_found_out(machines: TwoMachines, tmp_path: Path) -> None:
    log = machines.gate.opened.log
    log.note("key.new", user="carl", body={"for": "Zoë \u2603"})

    def honest(after: int) -> dict[str, Any]:
        return {"entries": read_log_page(log, after), "people": []}

    copy = LogCopy(tmp_path, honest)
    copy.catch_up()
    assert copy._database.rows("SELECT max(seq) FROM log")[0][0] >= 1
    log.note("key.new", user="carl", body={"for": "bob"})

    def rewriting(after: int) -> dict[str, Any]:
        page = honest(after)
        return {**page, "entries": [{**entry, "user": "eve"} for entry in page["entries"]]}

    with pytest.raises(ChainBroken):
        LogCopy(tmp_path, rewriting).catch_up()


def test_the_worker_speaks_to_https_or_to_this_machine_alone() -> None:
    from querygate.core.errors import ConfigError
    from querygate.custody.worker.remote_exchange import RemoteExchange

    for address in ("http://gate.example.org", "ftp://127.0.0.1", "gate.example.org"):
        with pytest.raises(ConfigError):
            RemoteExchange(address, "key")
    assert socket.getdefaulttimeout() is None
