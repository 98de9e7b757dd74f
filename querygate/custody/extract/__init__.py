"""Extracts: records that are released, on approval, in a form whose guarantee holds wherever they go.

extract_scope         which records and columns, under which policy
k_anonymous           classes of k records that look alike; sensitive values unchanged
condensed_records     synthetic records that keep the recipient's models
release_extract       records at the public cells of the policy, looked up in its population
same_disease_extract  records in parts of the population that have about the same share in the file
recipe_trials         which method and parameters are best for the recipient's models
reviewer_figures      risk and utility, for those who decide
extract_files         what the recipient gets, and extract_report the report on it

`custody.use_cases.extract_builder` runs all of this.
"""
