"""What custodians may publish from in the console: sources that the settings name, and files that they put down.

The gate only puts down. A file lies in a folder of its own, under a name that nobody chose, and no part of the serving
side opens it again; what there is, it knows from the log. Only a worker on the same machine reads it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from querygate.control import Log
from querygate.core.errors import ConfigError, NotPermitted
from querygate.site.layout import Site

UPLOADED, REMOVED = "source.upload", "source.remove"
ENDINGS = (".csv", ".tsv", ".parquet", ".csv.gz", ".tsv.gz")
LONGEST_NAME = 120

_UPLOAD = re.compile(r"u_[0-9A-Z]{26}(\.csv|\.tsv|\.parquet)(\.gz)?")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_KNOWN = """SELECT kind, time, user, body FROM log WHERE kind IN ('source.upload', 'source.remove')
            AND kind NOT IN ('query.intent', 'query.outcome') ORDER BY seq"""


@dataclass(frozen=True, slots=True)
class PublicationSource:
    """A source by the name under which jobs know it; `title` is what people call it."""

    name: str
    title: str
    uploaded: str | None = None
    by: str | None = None
    size_bytes: int | None = None


def ending_of(title: str) -> str:
    """The ending of a file that can be read; QG306 for any other.

    >>> ending_of("Patients 2026.CSV"), ending_of("a.csv.gz")
    ('.csv', '.csv.gz')
    """
    found = next((ending for ending in sorted(ENDINGS, key=len, reverse=True) if title.lower().endswith(ending)), "")
    if not found:
        accepted = ", ".join(ENDINGS)
        raise NotPermitted("QG306", "file: is not a table that can be read.", f"Choose a file that ends in {accepted}.")
    return found


def plain_title(name: str) -> str:
    """What a file was called, without the folders it lay in, and without what cannot be printed.

    >>> plain_title("../../etc/patients.csv"), plain_title("C:\\\\data\\\\x\\n.csv")
    ('patients.csv', 'x.csv')
    """
    last = PurePath(name.replace("\\", "/")).name
    return "".join(sign for sign in last if sign.isprintable())[-LONGEST_NAME:]


def is_upload(name: str) -> bool:
    """Whether it is the name of a file that was put down: it names no other folder.

    >>> is_upload("u_01KJKB3Q00Z5V7N0M1C2X3Y4W5.csv"), is_upload("u_01KJKB3Q00Z5V7N0M1C2X3Y4W5/../x.csv")
    (True, False)
    """
    return _UPLOAD.fullmatch(name) is not None


def configured_sources(text: str) -> dict[str, str]:
    """Sources by name, of the setting `publish_sources`.

    >>> configured_sources("clinic=/data/clinic.csv; register=postgresql://db/x#people")
    {'clinic': '/data/clinic.csv', 'register': 'postgresql://db/x#people'}
    """
    found = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, source = (piece.strip() for piece in part.partition("="))
        if not equals or not source or not _NAME.fullmatch(name):
            raise ConfigError(
                "QG805",
                "publish_sources: a part of it is not NAME=SOURCE.",
                "Write it as `clinic=/data/clinic.csv; register=postgresql://host/database#table`.",
            )
        found[name] = source
    return found


def dropped_file(site: Site, name: str) -> Path:
    """Where a file lies that was put down; QG306 for a name that is none of theirs."""
    if not is_upload(name):
        raise NotPermitted("QG306", "source: is not an uploaded file.", "Choose one from the list.")
    return site.dropped / name


class Drop:
    """A file being put down: written and never read."""

    def __init__(self, site: Site, name: str) -> None:
        self.name, self._path = name, dropped_file(site, name)
        site.dropped.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        self._stream = os.fdopen(os.open(self._path, flags, 0o600), "wb")
        self._hash, self.size_bytes = hashlib.sha256(), 0

    def write(self, data: bytes) -> int:
        self._hash.update(data)
        self.size_bytes += len(data)
        return self._stream.write(data)

    def keep(self) -> str:
        """On disk when this returns; its digest."""
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()
        return self._hash.hexdigest()

    def remove(self) -> None:
        self._stream.close()
        self._path.unlink(missing_ok=True)

    # What parsers of forms do with a file beside writing it.

    def seek(self, offset: int, whence: int = 0) -> int:
        return 0

    def close(self) -> None:
        self._stream.close()


def known_uploads(log: Log) -> list[PublicationSource]:
    """Files that were put down and not removed since, as the log has it."""
    found: dict[str, PublicationSource] = {}
    for row in log.database.rows(_KNOWN):
        body: Mapping[str, Any] = json.loads(row["body"])
        if row["kind"] == UPLOADED:
            found[body["id"]] = PublicationSource(
                body["id"], body["title"], row["time"], row["user"], int(body["bytes"])
            )
        else:
            found.pop(body["id"], None)
    return list(found.values())
