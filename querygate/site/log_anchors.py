"""Telling others how far the log has come, so that nobody can cut it off or set it back unseen.

Each mark goes to a file in the site's folder and, where the settings name them, to a file elsewhere (a line each), a
webhook and a command that sends mail. Where the site has a key, what is told is signed.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from querygate.control.log.entry_chain import GENESIS
from querygate.control.log.head_mark import HeadMark, check_marked, note_marked, read_mark, set_mark
from querygate.control.log.signature import PRIVATE, SignedStatement, has_library, load_key
from querygate.control.notifications.mail import text_to
from querygate.control.notifications.webhooks import NotSent, post_to
from querygate.core.json_body import JsonValue
from querygate.site.budget_evidence import check_mark_there, mark_file
from querygate.site.encryption_key import webhook_secret
from querygate.site.layout import Site
from querygate.site.open_gate import OpenSite


def anchor(opened: OpenSite, *, anew: bool = False) -> tuple[HeadMark | None, list[str]]:
    """Mark where the log ends, everywhere it is to be marked; returns the mark (None where nothing was new) and what
    did not get through. ConfigError QG807 where the log is behind a mark, or the mark is gone, unless `anew`."""
    site = opened.site
    if not anew:
        check_mark_there(opened)
    check_marked(opened.log, mark_file(site))
    if (new := set_mark(opened.log, mark_file(site))) is not None:
        note_marked(opened.log, new)
    mark, sent = read_mark(mark_file(site)), read_mark(sent_file(site))
    if mark is None or (sent is not None and sent.entries >= mark.entries):
        return None, []
    failures = []
    ways = _ways(site)
    message = _message(site, mark) if ways else {}
    for way, send in ways.items():
        try:
            send(message)
        except NotSent as problem:
            failures.append(f"{way}: {problem}")
    if ways and not failures:
        _write(sent_file(site), mark.line(), "w")
    return mark, failures


def _ways(site: Site) -> dict[str, Callable[[dict[str, JsonValue]], None]]:
    settings, ways = site.settings, dict[str, Callable[[dict[str, JsonValue]], None]]()
    if settings["anchor_file"]:
        ways["anchor_file"] = lambda message: _add_line(Path(settings["anchor_file"]), message)
    if settings["anchor_webhook"]:
        post = post_to(settings["anchor_webhook"], webhook_secret(settings))
        ways["anchor_webhook"] = lambda message: post(message)
    if settings["anchor_mail_command"]:
        mail = text_to(shlex.split(settings["anchor_mail_command"]))
        ways["anchor_mail_command"] = lambda message: mail(_letter(message))
    return ways


def _message(site: Site, mark: HeadMark) -> dict[str, JsonValue]:
    message: dict[str, JsonValue] = {"id": f"anchor-{mark.entries}", **asdict(mark)}
    if has_library() and (site.folder / PRIVATE).exists():
        statement = SignedStatement(1, mark.entries, GENESIS, mark.head, mark.time)
        message["signed"] = load_key(site.folder).sign(statement).decode().strip()
    return message


def _letter(message: dict[str, JsonValue]) -> str:
    known = f"{message['entries']}:{message['head']}"
    return (
        f"Subject: QueryGate: the log at {message['time']}\n\n"
        f"The log has {message['entries']} entries. Keep this line; it proves later that nothing was cut off:\n\n"
        f"querygate log verify --known {known}\n\n{json.dumps(message)}\n"
    )


def _add_line(path: Path, message: dict[str, JsonValue]) -> None:
    try:
        _write(path, json.dumps(message) + "\n", "a")
    except OSError as error:
        raise NotSent(f"the file cannot be written ({type(error).__name__})") from None


def _write(path: Path, text: str, mode: str) -> None:
    with open(path, mode, encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def sent_file(site: Site) -> Path:
    """The last mark that arrived everywhere."""
    return site.folder / "head.sent"
