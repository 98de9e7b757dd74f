"""The command that looks the site over: doctor."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from querygate.cli.shared.command import Command
from querygate.cli.shared.output import print_json, print_records, print_table
from querygate.cli.shared.shared_options import format_option, site_option
from querygate.core.errors import QueryGateError
from querygate.site.health import (
    Health,
    clock_health,
    control_health,
    digest_health,
    disk_health,
    encryption_health,
    entrusted_health,
    files_health,
    grant_health,
    key_health,
    ledger_health,
    log_health,
    mark_health,
    permission_health,
    sign_on_health,
    store_health,
)
from querygate.site.layout import Site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.site.settings import SETTINGS

PACKAGES = ("querygate", "duckdb", "sqlglot", "numpy", "pyarrow", "flask", "waitress")


@click.command(cls=Command, example="querygate doctor --site site")
@format_option
@site_option
def doctor(form: str, site: Path) -> None:
    """Show settings, versions and checks, and what to do about any problem. The exit code is 1 if a check fails."""
    try:
        opened, checks = open_site(site), [Health("site", True, str(site))]
    except QueryGateError as error:
        opened, checks = None, [Health("site", False, error.detail, error.remedy)]
    if opened is not None:
        checks += examine(opened)
    settings = make_settings(opened) if opened else []
    print_findings(checks, settings, make_versions(), form)
    click.get_current_context().exit(0 if all(check.ok for check in checks) else 1)


def examine(site: Site) -> Iterator[Health]:
    """Every check, the ones that others rest on first."""
    control = control_health(site)
    yield control
    yield from permission_health(site)
    if not control.ok:
        return
    yield key_health(site)
    yield from sign_on_health(site)
    yield encryption_health(site)
    yield from disk_health(site)
    opened = open_gate(site)
    unbroken = log_health(opened)
    yield unbroken
    if unbroken.ok:
        yield clock_health(opened)
        yield ledger_health(opened)
        yield mark_health(opened)
        yield from second_account_health(opened)
    yield grant_health(opened)
    yield from entrusted_health(opened)
    yield from store_health(opened)
    yield from files_health(site)
    yield from digest_health(opened)


def second_account_health(opened: OpenSite) -> Iterator[Health]:
    """Does diffprivlib's accountant, where it is installed, add up to what the ledger says?"""
    from querygate.custody.use_cases.diffprivlib_ledger import second_account_of

    second = second_account_of(opened)
    if second is not None:
        remedy = (
            "" if second.agrees else "Compare `querygate budget show` with the log, and see `querygate budget rebuild`."
        )
        yield Health("second account of budgets", second.agrees, f"{second.by}: {second.explained()}", remedy)


def make_settings(site: Site) -> list[dict[str, Any]]:
    """Each setting with its value and where it came from."""
    settings = site.settings
    return [{"setting": s.name, "value": settings.shown(s.name), "from": settings.origin[s.name]} for s in SETTINGS]


def make_versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def print_findings(checks: list[Health], settings: list[dict[str, Any]], versions: dict[str, str], form: str) -> None:
    ok = all(check.ok for check in checks)
    if form == "json":
        print_json({"ok": ok, "checks": list(map(asdict, checks)), "settings": settings, "versions": versions})
        return
    if form != "table":
        print_records(list(map(asdict, checks)), form, columns=("name", "ok", "detail", "remedy"))
        return
    if settings:
        print_table(("setting", "value", "from"), [[str(cell) for cell in row.values()] for row in settings])
        click.echo()
    print_table(("package", "version"), list(versions.items()))
    click.echo()
    for check in checks:
        click.echo(f"{click.style('ok  ', fg='green') if check.ok else click.style('FAIL', fg='red')}  ", nl=False)
        click.echo(f"{check.name}: {check.detail}" + (f"\n      {check.remedy}" if check.remedy else ""))
    click.echo("\nAll checks passed." if ok else "\nSome checks failed.")
