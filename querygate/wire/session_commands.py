"""Statements about the session itself, which read no data: transactions, settings, prepared statements.

They are answered as PostgreSQL would, so that drivers find what they expect; none of them changes what is answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from querygate.core.errors import NotPermitted, UnsupportedSQL
from querygate.sql.postgres.text_parts import first_words
from querygate.wire.session_settings import SessionSettings
from querygate.wire.types import TEXT, Field, Value

_WORD = re.compile(r"\s*([A-Za-z]+)")
_SET = re.compile(
    r"SET\s+(?:SESSION\s+|LOCAL\s+)?(?P<name>[\w.]+|\"[^\"]+\")\s*(?:=|\bTO\b)\s*(?P<value>.+)",
    re.IGNORECASE | re.DOTALL,
)
_TIME_ZONE = re.compile(r"SET\s+(?:SESSION\s+|LOCAL\s+)?TIME\s+ZONE\s+(.+)", re.IGNORECASE | re.DOTALL)
_HARMLESS_SET = re.compile(
    r"SET\s+(SESSION\s+CHARACTERISTICS|TRANSACTION|CONSTRAINTS|(SESSION\s+)?ROLE)\b", re.IGNORECASE
)
_NAMES = re.compile(r"SET\s+NAMES\s+(.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command gives: its tag, and perhaps a table of texts. `status` is that of the transaction afterwards,
    None: as before. `closes` names a prepared statement that is gone; "" all of them."""

    tag: str
    fields: tuple[Field, ...] | None = None
    rows: tuple[tuple[Value, ...], ...] = ()
    status: bytes | None = None
    closes: str | None = None


def first_word(text: str) -> str:
    """
    >>> first_word("/* tool */ -- note\\n begin;")
    'BEGIN'
    """
    found = _WORD.match(first_words(text))
    return found[1].upper() if found else ""


def is_command(text: str) -> bool:
    return first_word(text) in _COMMANDS


def fields_of_command(text: str) -> tuple[Field, ...] | None:
    """The columns that a command gives."""
    if first_word(text) != "SHOW":
        return None
    name = _shown(text)
    return tuple(Field(part, TEXT) for part in (("name", "setting", "description") if name == "all" else (name,)))


def run_command(text: str, settings: SessionSettings, status: bytes) -> CommandResult:
    """Raises QG306 for a setting that cannot be."""
    return _COMMANDS[first_word(text)](first_words(text).rstrip("; \n"), settings, status)


def ends_transaction(text: str) -> bool:
    """The commands that are still heard in a transaction that has failed."""
    return first_word(text) in ("COMMIT", "END", "ROLLBACK", "ABORT")


# -- the commands -----------------------------------------------------------------------------------------------------


def _begin(text: str, settings: SessionSettings, status: bytes) -> CommandResult:
    return CommandResult("START TRANSACTION" if first_word(text) == "START" else "BEGIN", status=b"T")


def _commit(text: str, settings: SessionSettings, status: bytes) -> CommandResult:
    return CommandResult("ROLLBACK" if status == b"E" else "COMMIT", status=b"I")


def _roll_back(text: str, settings: SessionSettings, status: bytes) -> CommandResult:
    is_part = re.match(r"ROLLBACK\s+(WORK\s+|TRANSACTION\s+)?TO\b", text, re.IGNORECASE)
    return CommandResult("ROLLBACK", status=b"T" if is_part else b"I")


def _set(text: str, settings: SessionSettings, status: bytes) -> CommandResult:
    zone, names, found = _TIME_ZONE.fullmatch(text), _NAMES.fullmatch(text), _SET.fullmatch(text)
    if zone:
        settings.set("TimeZone", _unquoted(zone[1]))
    elif names:
        settings.set("client_encoding", _unquoted(names[1]))
    elif found:
        name, value = found["name"].strip('"'), _unquoted(found["value"])
        if value.upper() == "DEFAULT":
            settings.reset(name)
        else:
            settings.set(name, value)
    elif not _HARMLESS_SET.match(text):
        raise NotPermitted("QG306", "This form of SET is not supported.", "Write SET name = 'value'.")
    return CommandResult("SET")


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1].replace("''", "'") if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _shown(text: str) -> str:
    name = first_words(text).rstrip("; \n")[4:].strip().strip('"').lower()
    return {"transaction isolation level": "transaction_isolation", "time zone": "TimeZone"}.get(name, name)


def _show(text: str, settings: SessionSettings, status: bytes) -> CommandResult:
    name, fields = _shown(text), fields_of_command(text)
    if name == "all":
        return CommandResult("SHOW", fields, tuple((key, value, "") for key, value in sorted(settings.all().items())))
    return CommandResult("SHOW", fields, ((settings.show(name),),))


def _reset(text: str, settings: SessionSettings, status: bytes) -> CommandResult:
    name = text[5:].strip().strip('"')
    if name.upper() == "ALL":
        settings.reset_all()
    else:
        settings.reset(name)
    return CommandResult("RESET")


def _discard(text: str, settings: SessionSettings, status: bytes) -> CommandResult:
    settings.reset_all()
    return CommandResult("DISCARD ALL", closes="")


def _deallocate(text: str, settings: SessionSettings, status: bytes) -> CommandResult:
    name = re.sub(r"DEALLOCATE\s+(PREPARE\s+)?", "", text, flags=re.IGNORECASE).strip().strip('"')
    return CommandResult("DEALLOCATE", closes="" if name.upper() == "ALL" else name)


def _refuse(text: str, settings: SessionSettings, status: bytes) -> CommandResult:
    """What drivers do in the protocol, and people could do in SQL."""
    raise UnsupportedSQL(
        "QG206",
        "Cursors and prepared statements made in SQL are not supported.",
        "Send the statement itself, with its values; drivers may prepare it and fetch its rows in parts.",
    )


def _as_tag(text: str, settings: SessionSettings, status: bytes) -> CommandResult:
    return CommandResult(first_word(text))


Command = Callable[[str, SessionSettings, bytes], CommandResult]

_COMMANDS: dict[str, Command] = {
    **dict.fromkeys(("BEGIN", "START"), _begin),
    **dict.fromkeys(("COMMIT", "END"), _commit),
    **dict.fromkeys(("ROLLBACK", "ABORT"), _roll_back),
    **dict.fromkeys(("SAVEPOINT", "RELEASE", "LISTEN", "UNLISTEN"), _as_tag),
    **dict.fromkeys(("DECLARE", "FETCH", "MOVE", "CLOSE", "PREPARE", "EXECUTE"), _refuse),
    "SET": _set,
    "SHOW": _show,
    "RESET": _reset,
    "DISCARD": _discard,
    "DEALLOCATE": _deallocate,
}
