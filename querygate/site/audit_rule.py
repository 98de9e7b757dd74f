"""May this site keep what a policy says about differencing?"""

from __future__ import annotations

from querygate.core.errors import ConfigError
from querygate.site.settings import Settings


def check_differencing(on_differencing: str, settings: Settings) -> None:
    """ConfigError QG805 where it may not."""
    if on_differencing == "alert" or settings["inline_audit"]:
        return
    raise ConfigError(
        "QG805",
        f'audit.on_differencing = "{on_differencing}" needs a decision before each answer, but this site answers from '
        "the published store alone. Ranges never reveal anything below a class, however they are combined. The "
        "decision would need raw quasi-identifiers, and refusals would reveal more than the answers do.",
        'Set on_differencing = "alert" and run `querygate audit watch` as the custodian. Or accept what refusals '
        "reveal, and let the worker decide from quasi-identifiers in the vault: set inline_audit = true.",
    )
