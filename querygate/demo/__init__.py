"""The demo study: real blood pressures, the differencing attack step by step, and a gate to try it on.

`survey` holds 5,735 adults of NHANES 2015-16 (National Center for Health Statistics, public domain; columns renamed and
codes spelled out). `clinic` holds eleven constructed patients.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from querygate.control import Actor, Grantee
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_with_report import find_report, publish_with_report, read_report
from querygate.demo.walkthrough import attack, printable, survey
from querygate.site.layout import Site, init_site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.site.settings import FILE

__all__ = ["new_site", "run"]

HERE = Path(__file__).parent
DATASETS = ("clinic", "survey")
PEOPLE = {"ada": "researcher", "carl": "custodian"}


def run(folder: Path, serve: bool) -> None:
    """Make the demo site if it is not there, walk through the example, print logins, and serve if wanted."""
    opened = open_gate(open_site(folder) if (folder / FILE).exists() else new_site(folder))
    for dataset in DATASETS:
        if dataset not in opened.store.datasets():
            print(f"Publishing {dataset} ...", flush=True)
            policy, source = load_policy(HERE / f"{dataset}.toml"), str(HERE / f"{dataset}.csv")
            publish_with_report(opened, policy, source, user="demo", kind="json")
    keys = _logins(opened)
    print(attack(opened.gate, HERE / "clinic.csv"))
    print(survey(opened.gate, HERE / "survey.csv"))
    print(printable(read_report(find_report(opened, "survey", None))))
    print("Keys (shown once; each run creates new ones):")
    for name, key in keys.items():
        print(f"  {PEOPLE[name]:<11} {name:<5} {key}")
    if not serve:
        print(f"\nTo serve it: querygate --site {folder} serve")
        return
    host, port = opened.site.settings["host"], opened.site.settings["port"]
    address = f"http://{host}:{port}/"
    print(f"\nOpen {address} and paste the researcher's key: a tour starts there. For the custodian's part,")
    print(
        "open the same address in a private window and paste the custodian's key. Ctrl-C stops the server.", flush=True
    )
    # A fresh process: what serves researchers has never held the vault in memory. Audits are for a worker beside it.
    os.execv(sys.executable, [sys.executable, "-m", "querygate", "--site", str(folder), "serve"])  # noqa: S606


def new_site(folder: Path) -> Site:
    """With the tour, and with uploads: this is a site for trying things."""
    init_site(folder)
    with (folder / FILE).open("a", encoding="utf-8") as stream:
        stream.write("\ntour = true\nupload_mb = 20\n")
    return open_site(folder)


def _grant(opened: OpenSite, name: str) -> None:
    """Nobody may ask anything until they are granted it."""
    for dataset in DATASETS:
        opened.grants.add(Grantee("user", name), dataset, by=Actor("demo"))


def _logins(opened: OpenSite) -> dict[str, str]:
    """A fresh key for each demo user; earlier ones are revoked."""
    known = {user.name for user in opened.accounts.list_users()}
    keys = {}
    for name, role in PEOPLE.items():
        if name not in known:
            opened.accounts.add_user(name, role)
            _grant(opened, name)
        for key in opened.accounts.keys.all():
            if key.user == name and key.revoked is None:
                opened.accounts.keys.revoke(key.id)
        keys[name] = opened.accounts.keys.new(name).secret
        opened.log.note("key.new", user="demo", body={"for": name})
    return keys
