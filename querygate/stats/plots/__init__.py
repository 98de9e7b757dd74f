"""Pictures of ranges and distributions. Imported only when somebody draws."""
