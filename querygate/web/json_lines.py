"""The server's own output as lines of JSON, for whoever collects logs of many machines. It quotes no statement."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from querygate.control.ids import stamp
from querygate.core.request_ids import request_id


class JsonLines(logging.Formatter):
    """One record, one line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": stamp(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": request_id.get(),
            **getattr(record, "told", {}),
        }
        if record.exc_info:  # its own text may quote what was read
            line["error"] = getattr(record.exc_info[0], "__name__", "")
        return json.dumps(line, ensure_ascii=True)


def configure_output(*, as_json: bool) -> None:
    """How this process tells what happens: lines of text, or lines of JSON with one for each request."""
    handler = logging.StreamHandler(sys.stderr)
    text = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonLines() if as_json else text)
    logging.basicConfig(handlers=[handler])
    logging.getLogger("querygate.access").setLevel(logging.INFO if as_json else logging.WARNING)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # that a request waited a moment is no news
