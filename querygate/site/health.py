"""Is the site well? Each function looks at one thing and says what to do where it is not.

The server's readiness and `querygate doctor` ask the same questions. Nothing here opens a vault; of its folder only
the permissions and the names of files are looked at.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from querygate.control import ChainBroken, Database, load_key, stamp
from querygate.control.accounts import CUSTODIAN
from querygate.control.grants import UPGRADE
from querygate.control.ids import stamp_now
from querygate.control.log.archive_seals import NotSealed
from querygate.control.log.head_mark import read_mark
from querygate.control.log.latest_time import latest_time
from querygate.control.log.signature import PRIVATE, has_library
from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.files.encrypted_disk import disk_encryption
from querygate.core.files.file_digest import FileDigest
from querygate.core.rights import is_trusted
from querygate.site.budget_evidence import check_anchored, check_mark_there, compare_ledger, mark_file
from querygate.site.control_database import open_control
from querygate.site.encrypted_file import is_sealed
from querygate.site.encryption_key import SETTING, needs_key, open_seal
from querygate.site.layout import Site
from querygate.site.open_gate import OpenSite, noted_publication, now
from querygate.site.sign_on.sign_on_settings import load_sign_on
from querygate_adapters.store.duckdb_store import (
    current_version,
    damaged_pointer,
    has_damaged_pointer,
    version_file,
    versions_in,
)
from querygate_adapters.store.retired_versions import STAGED, readable_in, retired_in
from querygate_adapters.store.vault_pointer import folder_of, pointed_in, pointer_file

EARLIEST = datetime(2025, 1, 1, tzinfo=UTC)
"""No clock that is right shows a time before this program was written."""

WAYS = ("anchor_file", "anchor_webhook", "anchor_mail_command")
"""Settings that send marks of the log elsewhere."""

DRIFT = timedelta(minutes=1)

LEAST_FREE_BYTES = 16 << 20
"""Where less is free, the log and its journal may not grow any more."""


@dataclass(frozen=True, slots=True)
class Health:
    """One thing that was looked at. `remedy` is there where `ok` is not."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def store_health(opened: OpenSite) -> Iterator[Health]:
    """Does the version being served open, for every dataset?"""
    if not opened.site.settings["store"] and not opened.site.store.is_dir():
        yield Health("store", False, "The folder store/ does not exist.", "Restore it from a backup, or publish again.")
        return
    try:
        served = opened.store.datasets()
    except Exception:  # the engine's words may quote what it read
        remedy = "Check the setting `store`: the server, the database, the user and their permissions."
        yield Health("store", False, "The store cannot be read.", remedy)
        return
    if not served:
        yield Health("store", True, "No dataset is published yet.")
    for dataset in served:
        if not opened.site.settings["store"] and has_damaged_pointer(opened.site.store / dataset):
            error = damaged_pointer(dataset)
            yield Health(f"dataset {dataset}", False, error.detail, error.remedy)
            continue
        try:
            catalog = opened.store.current(dataset).catalog
        except Exception:  # the engine's words may quote what it read
            remedy = (
                f"Restore its file from a backup; or run `querygate versions {dataset}`, then roll back to another "
                "version or publish again."
            )
            yield Health(f"dataset {dataset}", False, "The served version cannot be opened.", remedy)
        else:
            detail = f"version {catalog.version}, {catalog.rows:,} rows, k = {catalog.k}"
            yield Health(f"dataset {dataset}", True, detail)


def sign_on_health(site: Site) -> Iterator[Health]:
    """Is the file of single sign-on accepted? The provider is not asked."""
    try:
        sign_on = load_sign_on(site)
    except ConfigError as error:
        yield Health("single sign-on", False, error.detail, error.remedy)
        return
    if sign_on is not None:
        detail = f"{sign_on.issuer}, {counted(len(sign_on.rules), 'group')} with a role or grants"
        yield Health("single sign-on", True, detail)


def files_health(site: Site) -> Iterator[Health]:
    """Has every version that was not retired its file in the store and its raw rows in the vault? Not asked of a site
    whose vault is on another machine.
    """
    if site.vault.is_dir() and any(site.vault.iterdir()):
        for dataset in sorted(
            {file.parent.name for place in (site.store, site.vault) for file in place.glob("*/v*.duckdb")}
        ):
            yield _files(dataset, site.store / dataset, site.vault / dataset)


def digest_health(opened: OpenSite) -> Iterator[Health]:
    """Is every version that could be served, byte for byte, the file that was verified? The whole of each is read. On a
    machine that only serves nothing is on record, and what is told beside a file counts; where the vault is, each
    version is on record, unless its entry was discarded.
    """
    vault = opened.site.vault
    must_be_noted = vault.is_dir() and any(vault.iterdir()) and not opened.log.discarded_until()
    for folder in sorted(path for path in opened.site.store.glob("*") if path.is_dir()):
        dataset, name, checked = folder.name, f"digests of {folder.name}", 0
        readable = readable_in(folder)
        for version in readable:
            noted, file = noted_publication(opened.log, dataset, version), version_file(folder, version)
            digest = FileDigest.told_beside(file) if noted is None else FileDigest.noted(noted["body"])
            retire = f"never serve it again: `querygate retire {dataset} {version}`."
            if noted is None and must_be_noted:
                remedy = f"Find out who put store/{dataset}/{file.name} there. Publish again, or {retire}"
                yield Health(name, False, f"The log has no entry for the publication of version {version}.", remedy)
                break
            if digest is not None and not digest.is_of(file):
                remedy = (
                    f"Find out who could write to store/{dataset}/{file.name} and restore it from a backup, or {retire}"
                )
                yield Health(name, False, f"The file of version {version} is not the one that was verified.", remedy)
                break
            checked += digest is not None
        else:
            unknown = counted(len(readable) - checked, "version") + " without a digest, from before they were kept"
            known = f"{counted(checked, 'version')} unchanged"
            told = [*([known] if checked else []), *([unknown] if checked < len(readable) else [])]
            yield Health(name, True, "; ".join(told) or "no version")


def _files(dataset: str, store: Path, vault: Path) -> Health:
    name, retired = f"files of {dataset}", retired_in(store)
    there, rows = ({*versions_in(folder), *pointed_in(folder)} - retired.keys() for folder in (store, vault))
    for version in sorted(rows ^ there):
        file = version_file(vault, version).name
        if (vault / f"{STAGED}{file}").exists():
            continue  # somebody is publishing, or was stopped: the next publication clears up
        retire = f"`querygate retire {dataset} {version}`"
        if version in rows:
            detail = f"The store has lost version {version}."
            remedy = f"Restore store/{dataset}/{file} from a backup, or never serve it again: {retire}."
        elif version == current_version(store):
            detail = f"The vault has lost the raw rows of version {version}, which is being served."
            remedy = (
                f"Restore vault/{dataset}/{file} from a backup. Without it there are no noisy answers and no new "
                f"versions. To start again: `querygate withdraw {dataset}`, {retire}, then publish with --reinstate."
            )
        else:
            detail = f"The vault has lost the raw rows of version {version}."
            remedy = f"Restore vault/{dataset}/{file} from a backup, or {retire}: until then publishing is refused."
        return Health(name, False, detail, remedy)
    for version in pointed_in(vault):
        folder = folder_of(pointer_file(vault, version))
        if not folder.is_dir():
            detail = f"The raw rows of version {version} are in {folder}, which cannot be reached."
            return Health(name, False, detail, "Mount the folder, or restore it from a backup.")
    return Health(name, True, "complete")


def control_health(site: Site) -> Health:
    """Can the control database be read and written?"""
    if site.settings["control"]:
        return _server_health(site)
    remedy = "Check that control.db exists, that its disk has space, and who may write to it."
    if not site.control.exists():
        return Health("control", False, "control.db does not exist.", remedy)
    try:
        database = Database(site.control)
        try:
            with database.writing():  # takes the write lock, changes nothing
                pass
        finally:
            database.close()
        if not is_writable(site):
            raise PermissionError
    except (ConfigError, sqlite3.Error, OSError):
        return Health("control", False, "control.db is not writable.", remedy)
    if shutil.disk_usage(site.control.parent).free < LEAST_FREE_BYTES:
        return Health("control", False, "The disk of control.db is nearly full, so nothing can be logged.", remedy)
    return Health("control", True, "control.db is readable and writable")


def _server_health(site: Site) -> Health:
    """The same where it is on a server."""
    try:
        database = open_control(site)
        try:
            with database.writing():
                pass
        finally:
            database.close()
    except ConfigError as error:
        return Health("control", False, error.detail, error.remedy)
    return Health("control", True, "the control database is on a server, readable and writable")


def is_writable(site: Site) -> bool:
    """Whether this account may write the control database and what lies beside it. SQLite lets a transaction begin in a
    file that it may only read."""
    if site.settings["control"]:
        return True
    files = [path for path in site.folder.glob(f"{site.control.name}*") if path.is_file()]
    return all(os.access(path, os.R_OK | os.W_OK) for path in (*files, site.folder))


def log_health(opened: OpenSite) -> Health:
    """Is the chain of the log unbroken?"""
    try:
        verified = opened.log.verify()
    except ChainBroken as broken:
        remedy = "Keep the file as evidence, compare it with a backup, and find out who could write to it."
        remedy += f" {broken.remedy}" if isinstance(broken, NotSealed) else ""
        return Health("log", False, str(broken), remedy)
    return Health("log", True, f"{verified.entries:,} entries, unbroken")


def ledger_health(opened: OpenSite) -> Health:
    """Is the ledger of privacy budgets what the log says was spent?"""
    remedy = (
        "Keep a copy of control.db as evidence. `querygate log verify` lists all differences. The log is right: "
        "`querygate budget rebuild` rebuilds the ledger from it. Until then there are no noisy answers."
    )
    try:
        found = compare_ledger(opened)
    except Exception:  # a server's words may quote what it read
        return Health("ledger", False, "The ledger of privacy budgets cannot be read.", "Check the setting `budgets`.")
    if found.wrong:
        more = f", and {len(found.wrong) - 1:,} more" if len(found.wrong) > 1 else ""
        return Health("ledger", False, f"{found.wrong[0]}{more}", remedy)
    older = f"; {found.without_entry:,} of others or from before there were any" if found.without_entry else ""
    return Health("ledger", True, f"{counted(found.agreed, 'spend')} as the log says{older}")


def mark_health(opened: OpenSite) -> Health:
    """Has the log come at least as far as it was marked?"""
    try:
        check_anchored(opened)
        check_mark_there(opened)
    except ConfigError as error:
        return Health("mark", False, error.detail, error.remedy)
    mark = read_mark(mark_file(opened.site))
    told = f"entry {mark.entries:,}, at {mark.time}" if mark else "none yet"
    if not any(opened.site.settings[way] for way in WAYS):
        told += (
            "; on this machine only: anyone who can write to the folder could restore an old control.db with its "
            f"mark, and nothing here would show it (see the settings {', '.join(WAYS)})"
        )
    return Health("mark", True, told)


def grant_health(opened: OpenSite) -> Health:
    """Who may ask? Nothing is wrong with any answer; what an upgrade has left is named until somebody looks at it."""
    given = opened.grants.list_grants()
    left = [grant for grant in given if grant.by == UPGRADE]
    detail = f"{counted(len(given), 'active grant')}"
    if left:
        detail += (
            f", {len(left)} of them for every dataset, left by an upgrade: replace them with grants for what people "
            "need (`querygate grant list`)"
        )
    return Health("grants", True, detail)


def entrusted_health(opened: OpenSite) -> Iterator[Health]:
    """Was every key of a reviewer, custodian or auditor made by somebody who may? Admins could, before it took two
    people; what they made then still opens, and is named until it is replaced."""
    users = {user.name.lower(): user for user in opened.accounts.list_users()}
    made_by = {
        event["body"]["by" if event["kind"] == "key.rotate" else "id"]: event["user"] or ""
        for event in opened.log.events_in("key")
        if event["kind"] in ("key.new", "key.rotate")
    }
    for key in opened.accounts.keys.all():
        owner, maker = users[key.user.lower()], users.get(made_by.get(key.id, "").lower())
        has_ended = key.revoked or owner.removed or (key.expires or "~") <= stamp_now(now)
        if has_ended or not is_trusted(owner.role) or maker is None or maker.role == CUSTODIAN or maker == owner:
            continue
        detail = (
            f"The {owner.role} {owner.name} has a key that the {maker.role} {maker.name} made on {key.created[:10]}."
        )
        remedy = (
            f"Ask {owner.name} whether it is theirs. A custodian, or somebody on the server, can replace it with "
            f"`querygate key rotate {key.id} --overlap 0` or end it with `querygate key revoke {key.id}`."
        )
        yield Health(f"key {key.id}", False, detail, remedy)


def key_health(site: Site) -> Health:
    """Which key signs the log?"""
    if not has_library():
        return Health("log key", True, "none: signatures need the extra `evidence`")
    if not (site.folder / PRIVATE).exists():
        return Health("log key", True, "none yet: create one with `querygate log key`")
    try:
        return Health("log key", True, load_key(site.folder).public.fingerprint)
    except ConfigError as error:
        return Health("log key", False, error.detail, error.remedy)


def encryption_health(site: Site) -> Health:
    """Are released extracts encrypted, and is the key the right one?"""
    name, found = "encryption", sorted(site.extracts.glob("[!.]*.zip"))
    sealed = 0
    for path in found:
        with path.open("rb") as stream:
            sealed += is_sealed(stream)
    if not site.settings[SETTING]:
        if sealed:
            error = needs_key()
            return Health(name, False, error.detail, error.remedy)
        return Health(name, True, "off: released extracts are only as safe as their disk")
    try:
        open_seal(site)
    except ConfigError as error:
        return Health(name, False, error.detail, error.remedy)
    if sealed < len(found):
        left = counted(len(found) - sealed, "released extract is", "released extracts are")
        return Health(name, False, f"{left} not encrypted.", "Run `querygate encryption apply`.")
    return Health(name, True, f"{counted(sealed, 'released extract')} encrypted; vault and log are not")


def disk_health(site: Site) -> Iterator[Health]:
    """Do the control database and the vault lie on encrypted disks, as far as the machine tells?"""
    required = site.settings["require_encrypted_disk"]
    for name, folder in (("control.db", site.folder), ("vault", site.vault)):
        if not folder.is_dir():
            continue
        if (found := disk_encryption(folder)) is not None:
            yield Health(f"disk of {name}", True, f"encrypted ({found})")
            continue
        detail = "not known to be encrypted"
        remedy = (
            "Move the folder to an encrypted disk, for example LUKS. If the storage encrypts it, which no program here "
            "can see, set require_encrypted_disk = false."
        )
        yield Health(f"disk of {name}", not required, detail, remedy if required else "")


def permission_health(site: Site) -> Iterator[Health]:
    """Are vault, store, uploads, extracts, control database, archives and key, and all that is in them, closed to
    everyone but their owner?"""
    folders = (site.vault, site.store, site.dropped, site.extracts)
    for path in (*folders, site.control, site.folder / "logs", site.folder / PRIVATE):
        if path.exists():
            yield _permissions(path)


def _permissions(path: Path) -> Health:
    name = f"permissions of {path.name}"
    inside = [one for one in path.rglob("*") if _is_open(one)]
    if _is_open(path):
        mode = path.stat().st_mode & 0o777
        return Health(name, False, f"Other users have access (mode {mode:03o}).", f"chmod -R go= {path}")
    if inside:
        found = counted(len(inside), "file or folder is", "files or folders are")
        return Health(name, False, f"{found} open to other users.", f"chmod -R go= {path}")
    return Health(name, True, "private")


def _is_open(path: Path) -> bool:
    try:
        return not path.is_symlink() and bool(path.stat().st_mode & 0o077)
    except FileNotFoundError:  # somebody is publishing
        return False


def clock_health(opened: OpenSite) -> Health:
    """Is the clock later than this program, and than anything on record?"""
    latest = max(EARLIEST, datetime.fromisoformat(latest_time(opened.log.database, now)))
    if now() + DRIFT >= latest:
        return Health("clock", True, "not behind the log")
    return Health(
        "clock",
        False,
        f"The clock is behind the log, which has reached {stamp(latest)}. Keys and grants that had expired by then "
        "stay expired.",
        "Set the machine's time, for example with NTP. If the times in the log were wrong, run `querygate log "
        "accept-clock`.",
    )
