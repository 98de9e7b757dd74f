"""The risk report: measures raw records, Safe Harbor as the yardstick, and what is released, all in the same way.

For a review board as a page, and for programs as JSON beside it; see docs/how-to/assess-risk.md.

sides         raw records, and the same under Safe Harbor
extract_side  a table that was released, as a side
version_side  a version that is served, as a side
risk_report   the figures of all three, as one JSON object
risk_files    the object as files: JSON, a page, pictures
"""
