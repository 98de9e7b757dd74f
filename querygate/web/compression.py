"""What is the same for everybody travels compressed: scripts, styles, the documentation, the description of the API.

Nothing secret is in it, so that its length tells nothing.
"""

from __future__ import annotations

import gzip
from functools import lru_cache

from flask import Response, request

_PUBLIC = ("static", "openapi")
_MEDIA = ("text/html", "text/css", "text/javascript", "application/javascript", "application/json", "image/svg+xml")


def compress_public(response: Response) -> Response:
    endpoint = request.endpoint or ""
    is_public = endpoint in _PUBLIC or endpoint.startswith("docs:")
    if is_public and response.status_code == 200 and response.mimetype in _MEDIA and request.accept_encodings["gzip"]:
        response.direct_passthrough = False
        response.set_data(_compressed(response.get_data()))
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Vary"] = "Accept-Encoding"
    return response


@lru_cache(maxsize=128)
def _compressed(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)
