"""The builder of a site's extracts, loaded when it is first needed: it can open a vault, and much comes with it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from querygate.core.approval import ExtractBuilder
from querygate.core.extract_spec import ExtractSpec
from querygate.site.open_gate import OpenSite

if TYPE_CHECKING:
    from querygate.core.progress import Progress


class Building:
    """What stands for the builder until somebody wants it."""

    def __init__(self, site: OpenSite, progress: Progress | None = None) -> None:
        self._site, self._progress = site, progress

    def preview(self, wish: ExtractSpec, *, requester: str) -> Mapping[str, Any]:
        return self._builder.preview(wish, requester=requester)

    def risk_page(self, assessment: Mapping[str, Any]) -> bytes:
        return self._builder.risk_page(assessment)

    def build(self, wish: ExtractSpec, folder: Path, *, request_id: str, requester: str) -> Mapping[str, Any]:
        return self._builder.build(wish, folder, request_id=request_id, requester=requester)

    @cached_property
    def _builder(self) -> ExtractBuilder:
        from querygate.core.progress import no_progress
        from querygate.custody.roots.extract_builder import SiteBuilder

        return SiteBuilder(self._site, self._progress or no_progress)
