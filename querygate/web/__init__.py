"""The HTTP front door: an application over an open site, and the server that runs it.

Nothing in this package, nor anything it imports, can open a vault.
"""

from querygate.web.app import create_app
from querygate.web.server import serve

__all__ = ["create_app", "serve"]
