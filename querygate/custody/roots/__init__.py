"""Where the custodian's jobs are put together: one file per job, each joining a site, its vault and the code above."""
