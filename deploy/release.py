"""A release in one command: `make release`. It builds, checks and seals; it publishes nothing.

    dist/querygate-X.Y.Z-py3-none-any.whl, dist/querygate-X.Y.Z.tar.gz
    dist/querygate_client-X.Y.Z-py3-none-any.whl   the Python client alone
    dist/querygate-X.Y.Z.cdx.json      what is in it and in what it needs (CycloneDX)
    dist/requirements.lock             the libraries it was tested with, each with its hashes
    dist/SHA256SUMS                    of all of these
    dist/CHANGES.md                    what changed, from CHANGELOG.md

The tag vX.Y.Z is made, and signed where git has a key to sign with (user.signingkey); --no-tag leaves it out.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"


def run(*words: str) -> str:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def section(changelog: str, version: str) -> str:
    """What the changelog says of a version; it must have a date, and say something."""
    found = re.search(rf"^## \[{re.escape(version)}\] - (\S+)\n(.*?)(?=^## \[|\Z)", changelog, re.M | re.S)
    if found is None:
        sys.exit(f"CHANGELOG.md has no section [{version}].")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", found[1]):
        sys.exit(f"CHANGELOG.md: give [{version}] its date in the place of {found[1]!r}.")
    if not re.search(r"^- ", found[2], re.M):
        sys.exit(f"CHANGELOG.md: [{version}] says nothing.")
    return found[2].strip() + "\n"


def build() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    run(sys.executable, "-m", "build", "--wheel", "--outdir", str(DIST), str(ROOT / "clients" / "python"))


def list_parts(version: str) -> None:
    """The bill of materials, from the lock: exactly what is installed beside the product."""
    shutil.copy(ROOT / "deploy" / "requirements.lock", DIST / "requirements.lock")
    out = DIST / f"querygate-{version}.cdx.json"
    run(
        *(sys.executable, "-m", "cyclonedx_py", "requirements", "--pyproject", "pyproject.toml"),
        *("--output-reproducible", "--of", "JSON", "-o", str(out), "deploy/requirements.lock"),
    )


def seal() -> None:
    files = sorted(path for path in DIST.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (DIST / "SHA256SUMS").write_text("".join(lines), encoding="ascii")


def tag(version: str) -> str:
    signing = subprocess.run(["git", "config", "user.signingkey"], cwd=ROOT, capture_output=True, text=True)
    kind = "-s" if signing.stdout.strip() else "-a"
    run("git", "tag", kind, f"v{version}", "-m", f"QueryGate {version}")
    return "signed" if kind == "-s" else "not signed: git has no user.signingkey"


def main() -> None:
    options = argparse.ArgumentParser(description="Build a release into dist/.")
    options.add_argument("--no-tag", action="store_true", help="leave git as it is, and allow changes in the tree")
    chosen = options.parse_args()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    changes = section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    if not chosen.no_tag and run("git", "status", "--porcelain"):
        sys.exit("Commit or remove what is changed first: a release is made of what is committed.")
    build()
    list_parts(version)
    (DIST / "CHANGES.md").write_text(changes, encoding="utf-8")
    seal()
    state = "no tag" if chosen.no_tag else f"tag v{version}, {tag(version)}"
    print(f"dist/ has QueryGate {version} ({state}).")


if __name__ == "__main__":
    main()
