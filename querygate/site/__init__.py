"""A site: one folder with settings, control database, store and vault.

`open_gate` joins what answering needs and nothing else. What needs the vault is joined by `custody.jobs.open_custody`,
which a process that only serves researchers never imports.
"""
