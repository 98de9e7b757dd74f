from tests import granted_site

__all__ = ["granted_site"]
