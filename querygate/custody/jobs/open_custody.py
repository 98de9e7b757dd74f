"""What a site gains where its raw rows are: noisy answers, and extracts that can be built."""

from __future__ import annotations

from dataclasses import replace

from querygate.core.extracts.approval import ExtractBuilder
from querygate.custody.jobs.open_noise import open_noise
from querygate.custody.jobs.request_notifications import InBackground
from querygate.site.extracts import CHANNELS, Extracts
from querygate.site.open_gate import OpenSite


def with_vault(opened: OpenSite) -> OpenSite:
    """The site with noisy answers at its gate, for datasets whose policy allows them."""
    return replace(opened, gate=replace(opened.gate, noise=open_noise(opened)))


def open_extracts(opened: OpenSite) -> Extracts:
    """Extracts over HTTP, with somebody who can build them, and notifications where the settings name a channel."""

    def open_builder() -> ExtractBuilder:
        from querygate.custody.jobs.extract_builder import SiteExtractBuilder  # much comes with it

        return SiteExtractBuilder(opened)

    if not any(opened.site.settings[setting] for setting in CHANNELS.values()):
        return Extracts(opened, open_builder, via="http")
    return Extracts(opened, open_builder, via="http", notify=InBackground(opened))
