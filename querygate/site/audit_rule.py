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
        f'audit.on_differencing = "{on_differencing}" needs a decision before each answer, and this site answers from '
        "the published store alone. Ranges never tell of less than a class, whatever is combined; a decision would be "
        "made from raw quasi-identifiers, and refusals would tell more than the answers do.",
        'Set on_differencing = "alert" and run `querygate audit watch` as the custodian. Or accept what refusals tell, '
        "and let the serving process read quasi-identifiers in the vault: inline_audit = true in querygate.toml.",
    )
