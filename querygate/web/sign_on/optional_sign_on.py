"""Whether this gate has single sign-on, for whoever asks. The library for it is loaded only where the settings name a
provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querygate.core.errors import ConfigError, NotPermitted
from querygate.site.open_gate import OpenSite
from querygate.site.sign_on.sign_on_settings import load_sign_on
from querygate.web.sign_in import SignIn

if TYPE_CHECKING:
    from querygate.web.sign_on.single_sign_on import SingleSignOn


class SignOnDoor:
    """Single sign-on, or its absence. Raises ConfigError QG805 for a file that is not accepted."""

    def __init__(self, opened: OpenSite, sign_in: SignIn) -> None:
        self._found: SingleSignOn | None = None
        sign_on = load_sign_on(opened.site)
        if sign_on is None:
            return
        try:
            from querygate.web.sign_on.single_sign_on import SingleSignOn
        except ImportError:
            raise ConfigError(
                "QG805",
                "The setting `single_sign_on` names a file, but the library for single sign-on is not installed.",
                "Install it with: pip install 'querygate[oidc]'.",
            ) from None
        self._found = SingleSignOn(opened, sign_on, sign_in)

    @property
    def name(self) -> str | None:
        """What the button says; None where there is no button."""
        return None if self._found is None else self._found.sign_on.name

    @property
    def there(self) -> SingleSignOn:
        """It, or QG322."""
        if self._found is None:
            raise NotPermitted("QG322", "This gate has no single sign-on.", "Use a key.")
        return self._found
