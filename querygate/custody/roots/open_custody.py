"""What a site gains where its raw rows are, for the custodian's own commands: noisy answers."""

from __future__ import annotations

from dataclasses import replace

from querygate.custody.roots.open_noise import open_noise
from querygate.site.open_gate import OpenSite


def with_vault(opened: OpenSite) -> OpenSite:
    """The site with noisy answers at its gate, for datasets whose policy allows them."""
    return replace(opened, gate=replace(opened.gate, noise=open_noise(opened)))
