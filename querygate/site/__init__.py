"""A site: one folder with settings, control database, store and vault.

`open_gate` joins what answering needs and nothing else; `open_jobs` joins it to the exchange of jobs for a worker. What
needs the vault is in `custody`, which a process that
serves researchers never imports.
"""
