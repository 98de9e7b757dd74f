"""Whether the site really made an archive: its key has signed what the database row says.

Somebody who can write control.db could list archives that never existed, and then remove the entries "in" them. The key
and the signatures are separate files, and signatures stay when an archive is discarded.
"""

from __future__ import annotations

from collections.abc import Iterable

from querygate.control.log.archives import Archives, Segment
from querygate.control.log.entry_chain import ChainBroken
from querygate.control.log.signature import (
    PRIVATE,
    PUBLIC,
    NotSigned,
    PublicKey,
    SignedStatement,
    SiteKey,
    load_key,
    load_public_key,
)
from querygate.core.errors import ConfigError


class NotSealed(ChainBroken):
    """The chain may be unbroken, but the site's key has not signed one of the archives."""

    remedy = (
        "Restore log.key, log.pub and the files logs/*.sig from a backup. If there is none: make sure that control.db "
        "is the right one (compare it with a backup, or with a head kept elsewhere), then sign the archives again "
        "with `querygate log seal`. If in doubt, restore a backup: `querygate restore`."
    )


def sign_archive(archives: Archives, segment: Segment, key: SiteKey) -> None:
    archives.write(archives.signature(segment).name, [key.sign(_statement(segment))], packed=False)


def check_sealed(archives: Archives, segments: Iterable[Segment]) -> None:
    """Raise ChainBroken at the first archive whose row the site's key has not signed."""
    key: PublicKey | None = None
    for segment in segments:
        key = key or _key(archives, segment)
        if not is_sealed(archives, segment, key):
            raise NotSealed(segment.first, f"its archive {segment.name} does not have this site's signature")


def is_sealed(archives: Archives, segment: Segment, key: PublicKey) -> bool:
    try:
        return key.read(archives.signature(segment).read_bytes()) == _statement(segment)
    except (OSError, NotSigned):
        return False


def _key(archives: Archives, segment: Segment) -> PublicKey:
    folder = archives.folder.parent
    try:
        if (folder / PRIVATE).exists():
            return load_key(folder).public
        return load_public_key(folder / PUBLIC)
    except ConfigError as error:
        raise NotSealed(
            segment.first, f"the signature of its archive {segment.name} cannot be checked. {error.detail}"
        ) from None


def _statement(segment: Segment) -> SignedStatement:
    return SignedStatement(segment.first, segment.last, segment.prev, segment.head, segment.sealed)
