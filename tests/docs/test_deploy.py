"""The files of deploy/ are well formed and keep what they promise. Building and starting them needs engines that a
test run does not have; deploy/README.md has the commands."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import tomllib

from tests.docs.pages import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
CONTAINER = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


# -- container -----------------------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    """(instruction, arguments) of the Containerfile, continued lines joined."""
    text = re.sub(r"^#.*\n", "", CONTAINER, flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in text.splitlines() if line.strip()]


def test_the_container_runs_the_gate_as_nobody_special() -> None:
    last = dict(instructions())
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", last["USER"])
    assert json.loads(last["ENTRYPOINT"]) + json.loads(last["CMD"]) == ["querygate", "serve", "--store-only"]
    assert "ADD" not in last
    assert "VOLUME" not in last


def test_the_container_s_health_check_is_python_that_compiles() -> None:
    command = json.loads(dict(instructions())["HEALTHCHECK"].split("CMD", 1)[1])
    assert command[:2] == ["python", "-c"]
    assert compile(command[2], "healthcheck", "exec")
    assert "/healthz" in command[2]


def test_all_that_the_container_copies_is_there_and_let_through() -> None:
    copied = [
        part for name, rest in instructions() if name == "COPY" and "--from" not in rest for part in rest.split()[:-1]
    ]
    ignore = (DEPLOY / "Containerfile.dockerignore").read_text(encoding="utf-8").split("\n")
    assert copied
    for part in copied:
        assert (ROOT / part).exists()
        assert f"!{part}" in ignore
    assert "*" in ignore


def test_the_build_needs_nothing_else() -> None:
    project = PROJECT["project"]
    copied = " ".join(rest for name, rest in instructions() if name == "COPY")
    for needed in (
        project["readme"],
        *project["license-files"],
        *PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"],
    ):
        assert needed.split("/")[0] in copied


# -- compose -------------------------------------------------------------------------------------------------


def keys_of(text: str) -> dict[str, str]:
    """Dotted keys of the plain YAML that compose.yaml is written in: mappings by indentation, no flow style.

    >>> keys_of("a:\\n  b: 1\\n  c:\\n    - x\\n")
    {'a': '', 'a.b': '1', 'a.c': '- x'}
    """
    found: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        bare = re.sub(r"(^|\s)#.*$", "", line)
        if not bare.strip():
            continue
        depth = len(bare) - len(bare.lstrip())
        while path and path[-1][0] >= depth:
            path.pop()
        key = re.fullmatch(r"\s*([\w.-]+):(?:\s+(.*))?", bare)
        if key:
            path.append((depth, key[1]))
            found[".".join(name for _, name in path)] = (key[2] or "").strip()
        else:
            where = ".".join(name for _, name in path)
            found[where] = (found[where] + " " + bare.strip()).strip()
    return found


def test_compose_is_hardened() -> None:
    found = keys_of(COMPOSE)
    gate = {key.removeprefix("x-hardened."): value for key, value in found.items() if key.startswith("x-hardened.")}
    gate |= {key.removeprefix("services.gate."): value for key, value in found.items()}
    assert "\t" not in COMPOSE
    assert gate["read_only"] == "true"
    assert gate["cap_drop"] == "- ALL"
    assert gate["security_opt"] == "- no-new-privileges:true"
    assert gate["ports"] == '- "127.0.0.1:8080:8080"'
    assert gate["user"] == f'"{dict(instructions())["USER"]}"'
    assert gate["tmpfs"].startswith("- /tmp:")
    for limit in ("mem_limit", "cpus", "pids_limit"):
        assert gate[limit]
    assert f"querygate:{PROJECT['project']['version']}" == gate["image"]
    assert "target: /site/store\n        read_only: true" in COMPOSE


# -- systemd -------------------------------------------------------------------------------------------------


def test_the_unit_is_hardened() -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DEPLOY / "querygate.service", encoding="utf-8")
    service = parser["Service"]
    site = re.search(r"QUERYGATE_SITE=(\S+)", (DEPLOY / "querygate.service").read_text(encoding="utf-8"))
    assert site
    assert service["ReadWritePaths"] == site[1]
    assert service["InaccessiblePaths"] == f"-{site[1]}/vault"
    assert service["ProtectSystem"] == "strict"
    assert service["NoNewPrivileges"] == service["MemoryDenyWriteExecute"] == service["PrivateDevices"] == "yes"
    assert service["CapabilityBoundingSet"] == ""
    assert service["MemoryMax"]
    assert "--no-worker" in shlex.split(service["ExecStart"])
    assert parser["Install"]["WantedBy"] == "multi-user.target"


# -- proxies -------------------------------------------------------------------------------------------------


def test_proxies_have_balanced_brackets_and_speak_to_the_gate() -> None:
    for name in ("nginx.conf", "Caddyfile"):
        text = re.sub(r"#.*", "", (DEPLOY / name).read_text(encoding="utf-8"))
        assert text.count("{") == text.count("}") > 0
        assert "127.0.0.1:8080" in text
        assert "/metrics" in text


def test_the_proxies_let_through_what_the_gate_reads() -> None:
    from querygate.site.settings import SETTINGS

    size = next(setting.default for setting in SETTINGS if setting.name == "max_body_kb")
    assert f"client_max_body_size {size}k;" in (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    assert f"max_size {size}KiB" in (DEPLOY / "Caddyfile").read_text(encoding="utf-8")


# -- what is packaged ----------------------------------------------------------------------------------------


def test_no_folder_of_the_product_is_ignored() -> None:
    """The build leaves out what .gitignore names, at any depth unless the pattern begins with a slash."""
    ignored = {
        line.rstrip("/")
        for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith(("#", "/", "!"))
    }
    folders = {path.name for top in ("querygate", "adapters") for path in (ROOT / top).rglob("*") if path.is_dir()}
    assert not (ignored & folders) - {"__pycache__"}
