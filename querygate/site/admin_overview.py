"""What an admin looks at: checks that are quick, settings and where each came from, jobs, workers, sizes, messages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from querygate.control.log.head_mark import read_mark
from querygate.core.errors import QueryGateError
from querygate.site.budget_evidence import mark_file
from querygate.site.health import (
    Health,
    control_health,
    grant_health,
    key_health,
    mark_health,
    store_health,
)
from querygate.site.log_anchors import sent_file
from querygate.site.open_gate import OpenSite
from querygate.site.settings import SETTINGS, SettingValue

_WAITING = """SELECT 'alerts' AS what, channel, count(*) AS number, max(tries) AS tries FROM outbox GROUP BY channel
  UNION ALL
  SELECT 'extract requests', channel, count(*), max(tries) FROM export_outbox GROUP BY channel"""
_LAST = """SELECT time, user FROM log WHERE kind = ? AND kind NOT IN ('query.intent', 'query.outcome')
           ORDER BY seq DESC LIMIT 1"""


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """A setting as it may be seen."""

    name: str
    value: SettingValue
    origin: str
    help: str


@dataclass(frozen=True, slots=True)
class Size:
    """How much a part of the site takes on disk."""

    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class WaitingMessages:
    """Messages that have not arrived at a channel yet, and how often the one tried most was tried."""

    what: str
    channel: str
    number: int
    tries: int


@dataclass(frozen=True, slots=True)
class Receiver:
    """A webhook or a mail command that the settings name."""

    what: str
    channel: str
    address: SettingValue
    state: str


def quick_checks(opened: OpenSite) -> Iterator[Health]:
    """Those of `querygate doctor` that a page can wait for; none opens the vault or follows the log."""
    yield control_health(opened.site)
    yield from store_health(opened)
    yield grant_health(opened)
    yield key_health(opened.site)
    try:
        yield mark_health(opened)
    except QueryGateError as error:
        yield Health("mark", False, error.detail, error.remedy)


def shown_settings(opened: OpenSite) -> list[ShownSetting]:
    """Every setting, without what may be a secret: of a command, which program it is."""
    origin = opened.site.settings.origin
    return [ShownSetting(one.name, _shown(opened, one.name), origin[one.name], one.help) for one in SETTINGS]


def _shown(opened: OpenSite, name: str) -> SettingValue:
    value = opened.site.settings.shown(name)
    is_command = name.endswith("_command") and isinstance(value, str) and value.strip()
    return f"{str(value).split()[0]} …" if is_command else value


def sizes(opened: OpenSite) -> list[Size]:
    """What the serving side takes. The vault is the custodian's, and nobody looks into it from here."""
    site = opened.site
    control = [site.control, site.control.with_name("control.db-wal")]
    found = [Size("control database", sum(path.stat().st_size for path in control if path.exists()))]
    for name, folder in (("store", site.store), ("log archives", site.folder / "logs"), ("extracts", site.extracts)):
        found.append(Size(name, _size(folder)))
    return [*found, Size("free on this disk", shutil.disk_usage(site.folder).free)]


def waiting_messages(opened: OpenSite) -> list[WaitingMessages]:
    return [WaitingMessages(**dict(row)) for row in opened.log.database.rows(_WAITING)]


def receivers(opened: OpenSite) -> list[Receiver]:
    """Whom the settings have told of what, and whether all has arrived. Where alerts go, `audit watch` is told."""
    settings, found = opened.site.settings, []
    late = {
        (one.what, one.channel): f"{one.number} waiting, tried {one.tries} times" for one in waiting_messages(opened)
    }
    marks = _marks_behind(opened)
    for what, prefix in (("extract requests", "extract"), ("marks of the log", "anchor")):
        for channel in ("webhook", "mail"):
            name = f"{prefix}_webhook" if channel == "webhook" else f"{prefix}_mail_command"
            if settings[name]:
                state = marks if prefix == "anchor" else late.get((what, channel), "")
                found.append(Receiver(what, channel, _shown(opened, name), state or "everything has arrived"))
    return found


def _marks_behind(opened: OpenSite) -> str:
    mark, sent = read_mark(mark_file(opened.site)), read_mark(sent_file(opened.site))
    behind = (mark.entries if mark else 0) - (sent.entries if sent else 0)
    return f"{behind:,} entries behind" if behind > 0 else ""


def last_of(opened: OpenSite, kind: str) -> tuple[str, str | None] | None:
    """When something was last done, and by whom; None where the log, without its archives, does not say."""
    rows = opened.log.database.rows(_LAST, (kind,))
    return (rows[0]["time"], rows[0]["user"]) if rows else None


def last_mark(opened: OpenSite) -> str | None:
    """Until which entry the log was marked, and when."""
    mark = read_mark(mark_file(opened.site))
    return f"entry {mark.entries:,}, {mark.time}" if mark else None


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0
