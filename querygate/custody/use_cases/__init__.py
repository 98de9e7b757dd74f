"""Composition roots of the custodian's jobs: one file per job, each joining a site, its vault and the code above."""
