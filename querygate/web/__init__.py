"""The HTTP front door: an application over an open site, and the server that runs it.

Nothing in this package, nor anything it imports, can open a vault.
"""

from querygate.web.app import create_app
from querygate.web.connection_shares import ConnectionShares
from querygate.web.page_cache import fill_stock
from querygate.web.processes import run_processes
from querygate.web.server import address_of, listen, serve

__all__ = ["ConnectionShares", "address_of", "create_app", "fill_stock", "listen", "run_processes", "serve"]
