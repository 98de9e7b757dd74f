"""A request whose file goes straight to where it is to lie: the application holds no table, in memory or in files."""

from __future__ import annotations

from typing import IO, Any, cast

from flask import Request, g

from querygate.web.problems import malformed


class UploadRequest(Request):
    """As any other, but where a page has said that it takes a file: there parts of a form that are files are put down
    as they come, and nobody reads them here."""

    def _get_file_stream(
        self,
        total_content_length: int | None,
        content_type: str | None,
        filename: str | None = None,
        content_length: int | None = None,
    ) -> IO[bytes]:
        begin = g.get("begin_upload")
        if begin is not None and filename and g.get("drop") is not None:
            raise malformed("file: there are several.", "Upload one table at a time.")
        if begin is None or not filename:
            return super()._get_file_stream(total_content_length, content_type, filename, content_length)
        g.drop = begin(filename)
        return cast(IO[bytes], g.drop)


def remove_drop(error: BaseException | None = None) -> None:
    """What was begun and not kept is gone with the request."""
    drop: Any = g.pop("drop", None)
    if drop is not None:
        drop.remove()
