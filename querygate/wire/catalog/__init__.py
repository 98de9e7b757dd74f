"""A shadow of PostgreSQL's catalog: the schemas of what somebody may know of, and not one row of data."""

from querygate.wire.catalog.catalog_engine import ShadowCatalogs

__all__ = ["ShadowCatalogs"]
