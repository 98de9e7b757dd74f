"""Restores a site from a backup, without forgetting what was spent since.

1  the backup is verified: every file, the chain of its log, its ledger against the log
2  entries that it lacks are added from later logs: the site's current one, exports, archives
3  if some may still be missing, budget is written off; somebody decides how much, and it is logged
4  only now the folders are exchanged; the old one is kept beside the new one
"""

from __future__ import annotations

import gzip
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from querygate.control import ChainBroken, Log, VerifiedChain, stamp
from querygate.control.budgets.ledger_evidence import note_opening
from querygate.control.log.entry_chain import Chain
from querygate.control.log.entry_links import links_of_lines
from querygate.control.log.head_mark import MARK, HeadMark, read_mark, set_mark
from querygate.control.log.missing_entries import CaughtUp, catch_up
from querygate.control.schema import MIGRATIONS
from querygate.core.errors import ConfigError
from querygate.custody.use_cases.budget_write_off import WrittenOff, write_off
from querygate.gate.dataset_list import served_catalogs
from querygate.methods.dp import ComposedAccounting
from querygate.site.backup import Backup, opened_backup
from querygate.site.budget_evidence import compare_ledger, mark_file, open_ledger
from querygate.site.folder_lock import alone
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, now, open_gate

ALL = "all"


@dataclass(frozen=True, slots=True)
class RestoreWish:
    """Later logs in their order, and how much budget to write off: None if nobody said, "all", or epsilon."""

    logs: Sequence[Path] = ()
    write_off: str | float | None = None
    check_only: bool = False


@dataclass(frozen=True, slots=True)
class LaterLog:
    """What is known of the log after the backup. `is_of_site`: it comes with the site's own mark. `is_of_another`: the
    backup is of another site."""

    lines: tuple[bytes, ...] = ()
    mark: HeadMark | None = None
    is_of_site: bool = False
    is_of_another: bool = False
    has_budgets: bool = False


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done, or in a drill would have been."""

    entries: int
    head: str
    added: int = 0
    spends: int = 0
    undone: dict[str, int] = field(default_factory=dict)
    written_off: tuple[WrittenOff, ...] = ()
    kept: Path | None = None


def restore_site(source: Path, target: Path, wish: RestoreWish, *, user: str) -> Restored:
    """Replace a site with a backup, or restore it where there is no site yet."""
    staged = target.with_name(f".{target.name}.restoring")
    shutil.rmtree(staged, ignore_errors=True)  # left by an interrupted run
    present = target.is_dir() and any(target.iterdir())
    try:
        with opened_backup(source) as (folder, backup):
            _check_schema(backup)
            if not (folder / "control.db").exists():
                raise _on_server()
            shutil.copytree(folder, staged)
        # In a drill the site goes on serving.
        with alone(target) if present and not wish.check_only else nullcontext():
            done = _prepare(staged, target if present else None, backup, wish, user=user)
            return done if wish.check_only else _exchange(staged, target, backup, done)
    except OSError as error:
        raise ConfigError(
            "QG804",
            f"The folder of the site cannot be exchanged ({error.strerror}).",
            "Restore into a new folder on a disk that you may write to, with --site, and serve from there.",
        ) from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def amend_site(target: Path, wish: RestoreWish, *, user: str) -> Restored:
    """The same for a control database that was restored by other means: steps 2 and 3."""
    with alone(target):
        opened = open_gate(open_site(target))
        try:
            mark = read_mark(mark_file(opened.site))
            return _amend(opened, LaterLog((), mark, mark is not None), wish, None, user=user)
        finally:
            opened.log.database.close()


def _prepare(staged: Path, present: Path | None, backup: Backup, wish: RestoreWish, *, user: str) -> Restored:
    opened = open_gate(open_site(staged))
    try:
        _verify(opened)
        later = _present_log(present, backup, opened.log) if present else LaterLog()
        if later.is_of_another:
            raise _other_site()
        return _amend(opened, later, wish, backup, user=user)
    finally:
        opened.log.database.close()


def _amend(opened: OpenSite, later: LaterLog, wish: RestoreWish, backup: Backup | None, *, user: str) -> Restored:
    here = not opened.site.settings["budgets"]
    done = [_caught_up(opened, lines, ledger=here) for lines in (later.lines, *map(_lines_of, wish.logs))]
    head, mark = opened.log.head(), later.mark
    # Spends are marked one by one, so a log that has come as far as its mark has all of them.
    reached = mark is None or mark.entries <= head.entries
    is_complete = reached and (later.is_of_site or any(one.has_met for one in done))
    if here and not is_complete and wish.write_off is None and (later.has_budgets or _has_budgets(opened)):
        raise _undecided(head.entries, mark)
    ledger = open_ledger(opened, ComposedAccounting(), marked=False)  # the mark is set below, to where this ends
    if here:
        note_opening(opened.log, ledger)
    amount = None if wish.write_off == ALL else float(wish.write_off or 0)
    written = [] if amount == 0 else write_off(opened, ledger, amount)
    added, spends, undone = sum(one.entries for one in done), sum(one.spends for one in done), Counter[str]()
    for one in done:
        undone.update(one.undone)
    body = {
        "backup": None if backup is None else {"made": backup.made, "entries": backup.entries, "head": backup.head},
        "added": added,
        "spends": spends,
        "marked": None if mark is None else asdict(mark),
        "written_off": [asdict(one) for one in written],
    }
    opened.log.note("site.restore", user=user, body=body)
    set_mark(opened.log, mark_file(opened.site), back=True)
    end = opened.log.head()
    return Restored(end.entries, end.head, added, spends, dict(undone), tuple(written))


def _caught_up(opened: OpenSite, lines: Iterable[bytes], *, ledger: bool) -> CaughtUp:
    try:
        return catch_up(opened.log, lines, ledger=ledger)
    except ChainBroken as broken:
        raise ConfigError(
            "QG807",
            f"The later log does not continue the one that is restored. {broken}",
            "Give logs of this site that begin where the backup ends, in their order; or leave them out and write "
            "budget off.",
        ) from None


def _present_log(folder: Path, backup: Backup, log: Log) -> LaterLog:
    """What the current site knows: its later entries, as far as they can be read, and its mark. The folder may hold
    another site, a copy that went its own way, or a broken one, which is why it is replaced. `log` is that of the
    backup."""
    mark = read_mark(folder / MARK)
    try:
        opened = open_gate(open_site(folder))
        try:
            has_budgets = _has_budgets(opened)
            if has_budgets and not _agree(opened.log, log, 1):
                return LaterLog((), mark, has_budgets=True, is_of_another=True)
            if not _agree(opened.log, log, min(backup.entries, opened.log.head().entries)):
                return LaterLog((), mark, has_budgets=has_budgets)
            with suppress(ChainBroken):
                opened.log.verify()
                return LaterLog(tuple(opened.log.lines_after(backup.entries)), mark, True)
            return LaterLog(tuple(_sound(opened, backup)), mark, mark is not None)
        finally:
            opened.log.database.close()
    except (ConfigError, ChainBroken, sqlite3.Error):
        return LaterLog((), mark, mark is not None)


def _agree(one: Log, other: Log, entry: int) -> bool:
    """Whether two logs are the same up to an entry, as far as they still have it."""
    hashes = {log.hash_at(entry) for log in (one, other)} - {None}
    return not entry or len(hashes) < 2


def _sound(opened: OpenSite, backup: Backup) -> Iterator[bytes]:
    """Entries after those of the backup, up to the first broken one."""
    chain = Chain(start=VerifiedChain(backup.entries, backup.head))
    with suppress(ChainBroken, sqlite3.Error):
        for event in opened.log.lines_after(backup.entries):
            chain.follow(links_of_lines([event]))
            yield event


def _lines_of(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
            yield from (line.rstrip(b"\r\n") for line in lines)
    except (EOFError, OSError):
        raise ConfigError("QG804", f"{path.name} cannot be read as a log.", "Give an export or an archive.") from None


def _verify(opened: OpenSite) -> None:
    try:
        opened.log.verify()
    except ChainBroken as broken:
        raise ConfigError("QG804", f"The backup is not sound. {broken}", "Use another backup.") from None
    if not opened.site.settings["budgets"]:
        wrong = compare_ledger(opened).wrong
        if wrong:
            raise ConfigError("QG804", f"The backup is not sound: {wrong[0]}.", "Use another backup.")


def _check_schema(backup: Backup) -> None:
    if backup.schema > len(MIGRATIONS):
        raise ConfigError(
            "QG804",
            f"The backup was made by a newer version of QueryGate ({backup.querygate}).",
            "Restore it with that version.",
        )


def _on_server() -> ConfigError:
    return ConfigError(
        "QG804",
        "The control database of this backup was on a PostgreSQL server, and is not in it.",
        "Restore the server from its own backup, and the folder by hand; then run `querygate restore --log FILE` or "
        "`querygate restore --write-off all` with neither a backup nor --check.",
    )


def _other_site() -> ConfigError:
    return ConfigError(
        "QG807",
        "The backup is of another site, and this one has privacy budgets. It would forget what was spent.",
        "Restore the backup into a new folder, with --site.",
    )


def _has_budgets(opened: OpenSite) -> bool:
    """Could anything have been spent?"""
    return bool(open_ledger(opened).spends()) or any(
        catalog.noise is not None for catalog in served_catalogs(opened.store, broken=lambda error: None)
    )


def _undecided(entries: int, mark: HeadMark | None) -> ConfigError:
    until = "" if mark is None else f", but the log had {mark.entries:,} at {mark.time}"
    return ConfigError(
        "QG807",
        f"The backup ends at entry {entries:,}{until}. What was spent from privacy budgets since is not known.",
        "Add --log FILE with an export or the archives of the later log; or write budget off: --write-off all, or the "
        "epsilon that may have been spent at most.",
    )


def _exchange(staged: Path, target: Path, backup: Backup, done: Restored) -> Restored:
    """Replace the old folder with the new one, and keep the old one. A vault that the backup does not have stays."""
    if not target.is_dir() or not any(target.iterdir()):
        target.parent.mkdir(parents=True, exist_ok=True)
        staged.rename(target)
        return done
    kept = target.with_name(f"{target.name}.before-{stamp(now())[:19].replace(':', '')}")
    target.rename(kept)
    staged.rename(target)
    if not backup.vault and (kept / "vault").is_dir():
        (target / "vault").rmdir()
        (kept / "vault").rename(target / "vault")
    return replace(done, kept=kept)
