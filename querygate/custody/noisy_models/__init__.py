"""Approved noisy models: fitted where the raw rows are, paid for from the privacy budget.

public_design     columns of the policy as numbers within public bounds, one row of each person
library_models    the families, fitted by diffprivlib within those bounds
guarded_library   diffprivlib, whose warnings of a privacy leak are refusals here
noisy_model       a request from its price to the released files
synthetic_table   a synthetic table from exact noise on marginals, without the library
diffprivlib_account    the ledger, as diffprivlib's accountant adds it up

The only package that imports diffprivlib.
"""
