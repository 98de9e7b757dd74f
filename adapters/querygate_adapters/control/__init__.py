"""The control plane on a database server, for sites that more than one machine serves."""
