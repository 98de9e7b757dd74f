"""Extracts: records that leave, on approval, in a form that keeps its promise wherever they go.

extract_scope         which records and columns, under which policy
k_anonymous           classes of k records that look alike; sensitive values as they are
condensed_records     synthetic records that keep the recipient's models
release_extract       records at the public cells of the policy, looked up in its population
same_disease_extract  records in parts of the population that have about the same share in the file
recipe_trials         which method and which parameters do best at what the recipient will do
reviewer_figures      risk and utility, for those who decide
extract_files         what the recipient gets, and extract_report what is said of it

All of it, from top to bottom, is in `custody.roots.extract_builder`.
"""
