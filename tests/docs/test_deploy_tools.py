"""The files of deploy/ as their own tools read them, where these are installed, and the image's entry point in a plain
folder. What is not installed here is skipped, and says so."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from querygate.site.settings import SETTINGS
from querygate.web.metrics import Metrics, SiteFigures
from tests.docs.pages import ROOT
from tests.empty_site import empty_site
from tests.work import HANG_S

DEPLOY = ROOT / "deploy"
PORT_SETTINGS = ("pg_port", "pg_host", "pg_certificate", "pg_certificate_key")


def tool(name: str) -> str:
    unpacked = ROOT / "build" / "tools" / "usr"
    found = shutil.which(name) or shutil.which(name, path=f"/usr/sbin:/sbin:{unpacked / 'bin'}:{unpacked / 'sbin'}")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def check(*words: str, **more: Any) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=HANG_S, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def documents(path: Path) -> list[dict[str, Any]]:
    yaml = pytest.importorskip("yaml")
    return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]


# -- proxies ---------------------------------------------------------------------------------------------------------


def test_nginx_accepts_its_file(tmp_path: Path) -> None:
    nginx, openssl = tool("nginx"), tool("openssl")
    pem, key = tmp_path / "fullchain.pem", tmp_path / "key.pem"
    check(
        *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
        *("-days", "1", "-subj", "/CN=gate.example.org", "-keyout", str(key), "-out", str(pem)),
    )
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8").replace("/etc/ssl/gate.example.org", str(tmp_path))
    (tmp_path / "gate.conf").write_text(text)
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}} http {{ access_log off; "
        + "".join(
            f"{kind}_temp_path {tmp_path}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        + f"include {tmp_path}/gate.conf; }}"
    )
    check(nginx, "-t", "-q", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"))


def test_caddy_accepts_its_file(tmp_path: Path) -> None:
    home = {**os.environ, "HOME": str(tmp_path), "NAME": "gate.example.org", "GATE": "gate:8080"}
    words = ("adapt", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile"), "--validate")
    said = check(tool("caddy"), *words, env=home)
    assert '"dial":"gate:8080"' in said


# -- systemd ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["querygate.service", "querygate-worker.service"])
def test_systemd_accepts_its_units(unit: str, tmp_path: Path) -> None:
    analyze = tool("systemd-analyze")
    there = tmp_path / "querygate"  # the program that the unit names has to exist
    there.write_text("#!/bin/sh\n")
    there.chmod(0o755)
    text = (DEPLOY / unit).read_text(encoding="utf-8").replace("/opt/querygate/bin/querygate", str(there))
    (tmp_path / unit).write_text(text)
    done = subprocess.run(
        [analyze, "verify", "--man=no", str(tmp_path / unit)], capture_output=True, text=True, timeout=HANG_S
    )
    told = [line for line in (done.stdout + done.stderr).splitlines() if unit in line]
    assert told == []


def test_the_worker_s_unit_has_no_network_and_the_gate_s_no_vault() -> None:
    gate, worker = ((DEPLOY / f"querygate{name}.service").read_text(encoding="utf-8") for name in ("", "-worker"))
    site = "/var/lib/querygate/site"
    assert f"InaccessiblePaths=-{site}/vault" in gate
    assert "PrivateNetwork=yes" in worker
    assert "IPAddressAllow" not in worker
    assert re.findall(r"^ExecStart=\S+ (\w+)", worker, re.M) == ["work"]
    for line in ("ProtectSystem=strict", "NoNewPrivileges=yes", "MemoryDenyWriteExecute=yes", "CapabilityBoundingSet="):
        assert line in gate
        assert line in worker


# -- containers and clusters -------------------------------------------------------------------------------------------


def test_compose_gives_the_vault_to_the_worker_alone() -> None:
    [compose] = documents(DEPLOY / "compose.yaml")
    services = compose["services"]
    targets = {name: [one["target"] for one in service.get("volumes", [])] for name, service in services.items()}
    assert [name for name in services if "/site/vault" in targets[name]] == ["worker"]
    assert services["worker"]["network_mode"] == "none"
    assert "ports" not in services["worker"]
    assert services["gate"]["ports"] == ["127.0.0.1:8080:8080"]
    [front] = compose["networks"]["front"]["ipam"]["config"]
    assert services["gate"]["environment"]["QUERYGATE_TRUSTED_PROXIES"] == front["subnet"]
    for name in ("gate", "worker"):
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        assert services[name]["user"] == "10001:10001"
    assert services["gate"]["image"] == services["worker"]["image"] == f"querygate:{version()}"


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("compose-spec", "deploy/compose.yaml"),
        ("compose-spec", "deploy/compose.wire.yaml"),
        ("github-workflows", ".github/workflows/check.yml"),
    ],
)
def test_published_schemas_accept_compose_and_workflow(schema: str, file: str) -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    check(sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(ROOT / file))


@pytest.mark.parametrize("name", ["querygate.yaml", "network.yaml", "optional/wire.yaml"])
def test_kubernetes_schemas_accept_the_manifests(name: str) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    for document in documents(DEPLOY / "kubernetes" / name):
        validate.validate(document, "1.29", strict=True)


def test_whoever_opens_the_port_for_postgresql_clients_has_tls_and_leaves_the_rest_closed() -> None:
    """Compose, Kubernetes and systemd set the same port and a certificate, on top of what they have without it."""
    [compose] = documents(DEPLOY / "compose.wire.yaml")
    [patch] = documents(DEPLOY / "kubernetes" / "optional" / "wire-patch.yaml")
    [container] = patch["spec"]["template"]["spec"]["containers"]
    dropped_in = dict(
        re.findall(r"^Environment=(QUERYGATE_\w+)=(.*)$", (DEPLOY / "querygate-wire.conf").read_text(), re.M)
    )
    settings = [compose["services"]["gate"]["environment"], {one["name"]: one["value"] for one in container["env"]}]
    for told in (*settings, dropped_in):
        assert set(told) == {f"QUERYGATE_{name}".upper() for name in PORT_SETTINGS}
        assert told["QUERYGATE_PG_PORT"] == "5433"
    assert set(PORT_SETTINGS) <= {setting.name for setting in SETTINGS}
    [gate] = [one for one in documents(DEPLOY / "kubernetes" / "querygate.yaml") if one["kind"] == "Deployment"][:1]
    assert container["name"] == gate["spec"]["template"]["spec"]["containers"][0]["name"]
    service, policy = documents(DEPLOY / "kubernetes" / "optional" / "wire.yaml")
    assert service["spec"]["externalTrafficPolicy"] == "Local"  # or everybody would seem to come from one address
    assert [one["port"] for one in policy["spec"]["ingress"][0]["ports"]] == [5433]


def test_only_the_worker_opens_connections_and_only_the_gate_takes_any() -> None:
    policies = {one["metadata"]["name"]: one["spec"] for one in documents(DEPLOY / "kubernetes" / "network.yaml")}
    assert policies["nothing"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert ("egress" in policies["gate"], "ingress" in policies["gate"]) == (False, True)
    assert ("egress" in policies["worker"], "ingress" in policies["worker"]) == (True, False)
    mounts = {
        one["metadata"]["name"]: {mount["mountPath"] for mount in container["volumeMounts"]}
        for one in documents(DEPLOY / "kubernetes" / "querygate.yaml")
        if one["kind"] == "Deployment"
        for container in one["spec"]["template"]["spec"]["containers"]
    }
    assert "/site/vault" in mounts["worker"]
    assert "/site/vault" not in mounts["gate"]


def version() -> str:
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def test_the_image_s_entry_point_runs_in_a_plain_folder(tmp_path: Path) -> None:
    """As in the container: its variables, a folder for /site, and nothing written anywhere else."""
    site = empty_site(tmp_path / "site").folder
    (site / "vault").rmdir()
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    entry = [json.loads(found) for found in re.findall(r"^(?:ENTRYPOINT|CMD) (\[.*\])$", text, re.M)]
    command = [sys.executable, "-m", *entry[0], *entry[1], "--host", "127.0.0.1", "--port", "0"]
    environment = {"PATH": os.environ["PATH"], "QUERYGATE_SITE": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'adapters'}", "PYTHONUNBUFFERED": "1"}
    before = {path for path in tmp_path.rglob("*") if site not in path.parents}
    with subprocess.Popen(command, cwd=site, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = next(re.search(r"http://\S+", line) for line in server.stdout if "QueryGate is at" in line)
            health = re.search(r"HEALTHCHECK.*?CMD (\[.*?\])\n", text, re.S)
            assert address is not None
            assert health is not None
            port = {**environment, "QUERYGATE_PORT": address[0].rpartition(":")[2]}
            check(sys.executable, *json.loads(health[1])[1:], env=port)
        finally:
            server.terminate()
            assert server.wait(HANG_S) == 0
    assert {path for path in tmp_path.rglob("*") if site not in path.parents} == before
    done = check(sys.executable, "-m", "querygate", "log", "rotate", "--keep", "1", env=environment, cwd=site)
    assert "No entry is old enough" in done  # the image can rotate: it has what signatures need


# -- watching ----------------------------------------------------------------------------------------------------------


def test_prometheus_accepts_the_alerts() -> None:
    check(tool("promtool"), "check", "rules", str(DEPLOY / "prometheus-rules.yaml"))


def test_dashboard_and_alerts_use_figures_that_there_are(tmp_path: Path) -> None:
    from querygate.site.open_gate import open_gate

    metrics = Metrics(None)
    metrics.stop()
    opened = open_gate(empty_site(tmp_path / "site"))
    known = {sample for metric in metrics._own.collect() for sample in (metric.name, f"{metric.name}_total")}
    known |= {metric.name for metric in SiteFigures(opened).collect()}
    known |= {"querygate_siem_lag_entries", "querygate_mark_age_seconds"}
    texts = [(DEPLOY / name).read_text(encoding="utf-8") for name in ("grafana.json", "prometheus-rules.yaml")]
    used = {name.removesuffix("_bucket") for text in texts for name in re.findall(r"\bquerygate_\w+", text)}
    assert used <= known
    assert len(json.loads(texts[0])["panels"]) >= 10


# -- releases ----------------------------------------------------------------------------------------------------------


def test_a_release_needs_a_dated_section_that_says_something() -> None:
    spec = importlib.util.spec_from_file_location("release", DEPLOY / "release.py")
    assert spec is not None
    assert spec.loader is not None
    release = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(release)
    good = "## [1.0.0] - 2026-03-01\n\n### Added\n\n- One.\n\n## [0.9.0] - 2026-01-01\n\n- Old.\n"
    assert release.section(good, "1.0.0") == "### Added\n\n- One.\n"
    for bad in ("", good.replace("2026-03-01", "unreleased"), good.replace("- One.\n", "")):
        with pytest.raises(SystemExit):
            release.section(bad, "1.0.0")


def test_the_lock_has_every_dependency_with_its_hashes_and_names_no_index() -> None:
    text = (DEPLOY / "requirements.lock").read_text(encoding="utf-8")
    entries = re.findall(r"^([a-z0-9._-]+)==\S+ \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.M)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["evidence"]]
    names = {re.split(r"[\[<>=~ ]", one)[0].lower().replace("_", "-") for one in needed}
    assert names <= {name for name, _ in entries}
    assert "://" not in text
    assert "--index" not in text


def test_the_public_checks_are_the_make_targets() -> None:
    [workflow] = documents(ROOT / ".github" / "workflows" / "check.yml")
    ran = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert all(line.removeprefix("make ") in targets for line in ran)
    [hooks] = documents(ROOT / ".pre-commit-config.yaml")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(BIN)", ".venv/bin")
    assert all(hook["entry"] in makefile for repo in hooks["repos"] for hook in repo["hooks"])
