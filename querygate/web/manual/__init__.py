"""The documentation, inside the gate: the pages of docs/ under /docs, with a search. The same pages for the web."""

from querygate.web.manual.manual_pages import MANUAL, install_manual

__all__ = ["MANUAL", "install_manual"]
