"""A site: one folder with settings, control database, store and vault, and the two roots that join the parts.

`gate` joins what answering needs and nothing else; `custody` adds the vault. A process that serves researchers
imports the first only.
"""
