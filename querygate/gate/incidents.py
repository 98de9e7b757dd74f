"""An unexpected error becomes a Fault: the user gets an incident number, the custodian's log the kind and place.

The error's own text stays behind. Engine messages can quote cell values.
"""

from __future__ import annotations

import logging
import secrets

from querygate.core.errors import Fault, QueryGateError
from querygate.core.files.full_disk import full_disk, is_full_disk

logger = logging.getLogger("querygate")


def make_problem(error: Exception) -> QueryGateError:
    """What may be shown of any error: itself where it has a code, a full disk as what it is, and else a Fault."""
    if isinstance(error, QueryGateError):
        return error
    return make_failure(error)


def make_failure(error: BaseException, incident: str | None = None) -> QueryGateError:
    """The same for an error that was not meant for whoever asks: a full disk is called that, and all else a Fault."""
    if is_full_disk(error):
        logger.error("the disk is full: nothing can be logged, so nothing is answered")
        return full_disk()
    return make_fault(error, incident)


def make_fault(error: BaseException, incident: str | None = None) -> Fault:
    """Report the error under an incident number (a query's id where it has one) and return what may be shown.

    >>> logger.disabled = True
    >>> make_fault(ValueError("Smith, 51, HIV+")).detail.startswith("The gate failed on this request (incident i_")
    True
    >>> logger.disabled = False
    """
    incident = incident or f"i_{secrets.token_hex(8)}"
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place is not None else "unknown"
    logger.error("incident %s: %s at %s", incident, type(error).__name__, where)
    return Fault(incident)
