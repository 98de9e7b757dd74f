"""The custodian's worker: it pulls jobs from the exchange of a gate, works in the vault, and puts results back.
It never listens.

`worker.py` is the loop, `job_handlers.py` the table of what is done for each kind of job.
"""
