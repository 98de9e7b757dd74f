"""People over HTTP: users, keys, grants."""
